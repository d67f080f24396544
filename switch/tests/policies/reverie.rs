//! Reverie's filter.

use crate::log::{Event, Moment, Watched, try_random};
use crate::traffic::{LINE_RATE_BPS, accepted, overload, run, switch_and_arrivals};
use dropcast_data::SwitchSpec;
use dropcast_features::BufferView;
use dropcast_switch::policies::reverie::ReverieParameters;
use dropcast_switch::{Alphas, DynamicThresholds, Packet};

fn parameters() -> ReverieParameters {
    ReverieParameters {
        alpha: Alphas::try_from(0.3).expect("positive"),
        first_rtt_alpha: 0.6,
        gamma: 0.8,
        congested_bytes: 1_500,
    }
}

/// The filtered length of a queue, from the log.
fn filtered(own: &ReverieParameters, moment: &Moment<'_>, of: usize) -> f64 {
    let (mut length, mut filtered) = (0_u32, 0.0);
    for event in moment.log {
        match *event {
            Event::Arrived { packet, accepted: true, .. } if packet.queue == of => {
                length += packet.size_bytes;
            }
            Event::Departed { queue, size_bytes, .. } if queue == of => {
                length -= size_bytes;
                let now = own.gamma * filtered + (1.0 - own.gamma) * f64::from(length);
                filtered = f64::min(now, f64::from(length));
            }
            _ => {}
        }
    }
    filtered
}

/// The rule from the log alone.
fn accepts(own: &ReverieParameters, spec: &SwitchSpec, moment: &Moment<'_>) -> bool {
    let per_port = usize::from(spec.queues_per_port);
    let of_class = |queue: &usize| queue % per_port == moment.packet.queue % per_port;
    let congested: f64 = (0..spec.queues())
        .filter(of_class)
        .map(|queue| (filtered(own, moment, queue) / f64::from(own.congested_bytes)).min(1.0))
        .sum();
    let alpha = if moment.packet.is_first_rtt() { own.first_rtt_alpha } else { own.alpha.at(0) };
    let free = moment.buffer.capacity_bytes() - moment.buffer.occupancy_bytes();
    let with_packet =
        filtered(own, moment, moment.packet.queue) + f64::from(moment.packet.size_bytes);
    with_packet <= alpha / congested.max(1.0) * f64::from(free)
        && moment.buffer.fits(moment.packet.size_bytes)
}

#[test]
fn decides_by_filtered_lengths() {
    let own = parameters();
    try_random(100, switch_and_arrivals(), |(spec, arrivals)| {
        let policy = own.policy(spec.queues()).expect("valid parameters");
        let watched = Watched::new(policy, |moment: &Moment<'_>| accepts(&own, &spec, moment));
        run(&spec, &arrivals, watched).policy().counts
    });
}

/// A burst at an empty switch passes where Dynamic Thresholds with the same alpha do not let it; a queue that stays long is held
/// down.
#[test]
fn bursts_pass_and_long_queues_do_not() {
    let spec = SwitchSpec::uniform(4, LINE_RATE_BPS, 400_000, 20_000);
    let burst: Vec<(u64, Packet)> = (0..360).map(|id| (id, Packet::new(id, 0, 1_000))).collect();
    let reverie = || ReverieParameters::default().policy(spec.queues()).expect("valid parameters");
    let passed = |accepted: Vec<bool>| accepted.iter().filter(|&&is| is).count();
    assert_eq!(passed(accepted(&spec, &burst, reverie())), 360);
    let by_dt = passed(accepted(&spec, &burst, DynamicThresholds::new(1.0)));
    assert!((195..=205).contains(&by_dt), "{by_dt}");

    let long = overload(&[0], 4, 20_000);
    let switch = run(&spec, &long, reverie());
    let length = switch.buffer().lengths()[0];
    assert!((150_000..=250_000).contains(&length), "{length}");
}

#[test]
fn parameters_out_of_range_are_refused() {
    for (parameters, says) in [
        (ReverieParameters { first_rtt_alpha: 0.0, ..parameters() }, "first_rtt_alpha"),
        (ReverieParameters { gamma: 1.5, ..parameters() }, "gamma"),
        (ReverieParameters { congested_bytes: 0, ..parameters() }, "congested_bytes"),
    ] {
        let error = parameters.policy(2).expect_err(says);
        assert!(error.to_string().contains(says), "{error}");
    }
}
