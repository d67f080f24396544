//! Harmonic (TCS 2004): the k-th longest queue stays within its part.

use crate::log::{Moment, Watched, try_random};
use crate::traffic::{run, switch_and_arrivals};
use dropcast_switch::Harmonic;

/// Sorts the queues with the packet added, and looks at each.
fn accepts(moment: &Moment<'_>) -> bool {
    let mut lengths = moment.lengths_after(moment.log.len());
    let harmonic: f64 = (1..=lengths.len()).map(|k| 1.0 / k as f64).sum();
    lengths[moment.packet.queue] += moment.packet.size_bytes;
    lengths.sort_unstable();
    let longest_first = lengths.iter().rev().zip(1..);
    let part = f64::from(moment.buffer.capacity_bytes()) / harmonic;
    moment.buffer.fits(moment.packet.size_bytes)
        && longest_first.clone().all(|(&bytes, k)| f64::from(bytes) * f64::from(k) <= part)
}

#[test]
fn keeps_each_queue_within_its_part() {
    try_random(300, switch_and_arrivals(), |(spec, arrivals)| {
        run(&spec, &arrivals, Watched::new(Harmonic::default(), accepts)).policy().counts
    });
}
