//! EDT (INFOCOM 2015): Dynamic Thresholds that let micro-bursts pass.

use crate::log::{Event, Moment, Watched, try_random};
use crate::traffic::{LINE_RATE_BPS, accepted, overload, run, switch_and_arrivals};
use dropcast_data::SwitchSpec;
use dropcast_features::BufferView;
use dropcast_switch::policies::edt::{Edt, EdtParameters};
use dropcast_switch::{Alphas, DynamicThresholds, Packet};

struct Limits {
    burst_bytes: i64,
    burst_ns: u64,
    uncontrolled_ns: u64,
    calm_bytes: i64,
}

/// Whether a queue is uncontrolled after the first `events` of the log, at `now`.
fn is_uncontrolled(limits: &Limits, moment: &Moment<'_>, queue: usize) -> bool {
    let mut since: Option<u64> = None;
    let (mut growth, mut growing_since, mut leaving) = (0, 0, 0);
    let mut length = 0;
    let has_expired =
        |since: Option<u64>, now| since.is_some_and(|since| now - since >= limits.uncontrolled_ns);
    for event in moment.log {
        match *event {
            Event::Arrived { packet, accepted, time } if packet.queue == queue => {
                if has_expired(since, time) {
                    (since, growth) = (None, 0);
                }
                if !accepted {
                    growth = 0;
                    continue;
                }
                leaving = 0;
                length += packet.size_bytes;
                if since.is_some() {
                    continue;
                }
                if growth == 0 || time - growing_since > limits.burst_ns {
                    (growth, growing_since) = (0, time);
                }
                growth += i64::from(packet.size_bytes);
                if growth >= limits.burst_bytes {
                    since = Some(time);
                }
            }
            Event::Departed { queue: from, size_bytes, time } if from == queue => {
                if has_expired(since, time) {
                    (since, growth) = (None, 0);
                }
                length -= size_bytes;
                growth = (growth - i64::from(size_bytes)).max(0);
                leaving += i64::from(size_bytes);
                if leaving >= limits.calm_bytes || length == 0 {
                    (since, growth, leaving) = (None, 0, 0);
                }
            }
            _ => {}
        }
    }
    since.is_some() && !(queue == moment.packet.queue && has_expired(since, moment.now))
}

fn accepts(limits: &Limits, alpha: f64, moment: &Moment<'_>) -> bool {
    let buffer_bytes = f64::from(moment.buffer.capacity_bytes());
    let uncontrolled: Vec<usize> = (0..moment.buffer.queues())
        .filter(|&queue| is_uncontrolled(limits, moment, queue))
        .collect();
    let threshold = if uncontrolled.contains(&moment.packet.queue) {
        buffer_bytes / uncontrolled.len() as f64
    } else {
        alpha * (buffer_bytes - f64::from(moment.buffer.occupancy_bytes()))
    };
    moment.is_below(threshold)
}

#[test]
fn decides_as_its_states_say() {
    let alpha = 0.4;
    for (burst_bytes, burst_ns, uncontrolled_ns, calm_bytes) in
        [(3_000, 1_000, 5_000, 2_500), (1_000, 500, 1_500, 6_000)]
    {
        let parameters = EdtParameters {
            alpha: Alphas::try_from(alpha).expect("positive"),
            burst_bytes: Some(burst_bytes),
            burst_ns: Some(burst_ns),
            uncontrolled_ns: Some(uncontrolled_ns),
            calm_bytes: Some(calm_bytes),
        };
        let limits = Limits {
            burst_bytes: i64::from(burst_bytes),
            burst_ns,
            uncontrolled_ns,
            calm_bytes: i64::from(calm_bytes),
        };
        try_random(100, switch_and_arrivals(), |(spec, arrivals)| {
            let policy = parameters.policy(&spec).expect("valid parameters");
            let watched =
                Watched::new(policy, |moment: &Moment<'_>| accepts(&limits, alpha, moment));
            run(&spec, &arrivals, watched).policy().counts
        });
    }
}

/// A switch of 4 ports with a buffer of 400 packets.
fn spec() -> SwitchSpec {
    SwitchSpec::uniform(4, LINE_RATE_BPS, 400_000, 20_000)
}

fn edt() -> Edt {
    EdtParameters::default().policy(&spec()).expect("valid parameters")
}

/// A burst that fits into the buffer but not below DT's threshold, which keeps half of the buffer free.
#[test]
fn absorbs_bursts_that_dynamic_thresholds_do_not() {
    let burst = overload(&[0], 5, 480);
    let drops = |accepted: Vec<bool>| accepted.iter().filter(|&&accepted| !accepted).count();
    assert!(drops(accepted(&spec(), &burst, DynamicThresholds::new(1.0))) > 100);
    assert_eq!(drops(accepted(&spec(), &burst, edt())), 0);
}

/// Ports that burst at the same time share the buffer equally.
#[test]
fn bursting_ports_share_the_buffer() {
    let switch = run(&spec(), &overload(&[0, 1], 9, 400), edt());
    assert!(switch.policy().is_uncontrolled(0) && switch.policy().is_uncontrolled(1));
    assert_eq!(switch.buffer().lengths()[..2], [200_000; 2]);
}

/// A longer burst is controlled again: the queue falls to its Dynamic Threshold.
#[test]
fn long_overload_is_controlled_again() {
    let switch = run(&spec(), &overload(&[0], 3, 6_000), edt());
    assert!(!switch.policy().is_uncontrolled(0));
    let held = switch.buffer().lengths()[0];
    assert!(held.abs_diff(200_000) <= 2_000, "{held}");
}

/// A burst is over when its queue drains.
#[test]
fn a_drained_queue_is_controlled() {
    let mut arrivals = overload(&[0], 9, 300);
    let switch = run(&spec(), &arrivals, edt());
    assert!(switch.policy().is_uncontrolled(0));
    let now = arrivals.last().expect("packets").0;
    arrivals.push((now + 100_000, Packet::new(300, 1, 1_000)));
    assert!(!run(&spec(), &arrivals, edt()).policy().is_uncontrolled(0));
}
