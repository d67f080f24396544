//! Labels of the optimum in place of virtual LQD's.

use dropcast_data::{CollectSettings, LabelledBatch, Outcome, Pause, PauseSchedule, SwitchSpecs};
use dropcast_switch::{Buffer, Fit, LineRate, Observer, OfflineOptimum, Packet, Removal, Switch};
use std::collections::BTreeMap;

/// A row, and the arrival in it.
#[derive(Clone, Copy)]
struct Known {
    /// Its place among all rows.
    row: u64,
    time_ns: u64,
    queue: usize,
    size_bytes: u32,
}

/// Changes the labels of traced rows, all rows of their switches in order, to what the optimum ([`OfflineOptimum`])
/// drops; features stay those of virtual LQD. Ports send at line rate, but for `pauses`. A dropped packet counts as never
/// accepted: a switch that knew could refuse it on arrival. Switches without a description keep their labels.
pub fn label_by_optimum(
    batches: &mut [LabelledBatch],
    specs: &SwitchSpecs,
    settings: &CollectSettings,
    pauses: &[Pause],
) {
    let mut switches: BTreeMap<u16, Vec<Known>> = BTreeMap::new();
    let mut row = 0;
    for batch in &*batches {
        let Some(arrivals) = &batch.arrivals else { continue };
        for at in 0..batch.len() {
            let switch_id = arrivals.switch_id[at];
            if let Some(spec) = specs.get(switch_id) {
                switches.entry(switch_id).or_default().push(Known {
                    row,
                    time_ns: arrivals.time_ns[at],
                    queue: spec.queue_index(arrivals.port[at], arrivals.queue[at]),
                    size_bytes: arrivals.size_bytes[at],
                });
            }
            row += 1;
        }
    }
    let mut drops = Drops(vec![false; row as usize]);
    let mut known = vec![false; row as usize];
    for (switch_id, arrivals) in switches {
        let Some(spec) = specs.get(switch_id) else { continue };
        let future = arrivals.iter().map(|known| (known.time_ns, known.queue, known.size_bytes));
        let service = LineRate::new(spec).pausing(PauseSchedule::new(pauses, switch_id, spec));
        let mut switch =
            Switch::new(spec, Fit::of(settings), OfflineOptimum::line_rate(spec, future), service);
        for arrival in &arrivals {
            switch.advance(arrival.time_ns, &mut drops);
            let packet = Packet::new(arrival.row, arrival.queue, arrival.size_bytes);
            let is_accepted = switch.admit(&packet, arrival.time_ns, &mut drops);
            drops.0[arrival.row as usize] |= !is_accepted;
            known[arrival.row as usize] = true;
        }
    }
    let mut labels = drops.0.into_iter().zip(known);
    for batch in batches {
        if batch.arrivals.is_none() {
            continue;
        }
        for at in 0..batch.len() {
            let Some((drop, true)) = labels.next() else { continue };
            batch.drop[at] = drop;
            if let Some(outcomes) = &mut batch.outcome {
                outcomes[at] = if drop { Outcome::Rejected } else { Outcome::Departed };
            }
        }
    }
}

/// By row: whether the packet was pushed out, or refused.
struct Drops(Vec<bool>);

impl Observer for Drops {
    fn removed(&mut self, removal: &Removal, _: &Buffer) {
        if removal.outcome.is_drop() {
            self.0[removal.packet.id as usize] = true;
        }
    }
}
