//! RED and the single threshold.

use crate::asking::{AqmCall, ask};
use crate::traffic::{LINE_RATE_BPS, overload, switch_and_arrivals};
use dropcast_data::SwitchSpec;
use dropcast_switch::Packet;
use dropcast_switch::aqm::ecn_threshold::EcnThreshold;
use dropcast_switch::aqm::red::{Red, RedParameters};
use dropcast_switch::aqm::{Action, Signal};
use proptest::prelude::*;

fn spec() -> SwitchSpec {
    SwitchSpec::uniform(2, LINE_RATE_BPS, 1_000_000, 20_000)
}

fn red(parameters: &RedParameters, seed: u64) -> Red {
    parameters.aqm(&spec(), seed).expect("valid parameters")
}

proptest! {
    /// PRED, section 2.1: linear between the thresholds.
    #[test]
    fn probability_is_linear_between_thresholds(
        min_bytes in 0_u32..50_000,
        range in 0_u32..50_000,
        max_probability in 0.0_f64..1.0,
        length in 0_u32..150_000,
    ) {
        let max_bytes = min_bytes + range;
        let red = red(&RedParameters { min_bytes, max_bytes, max_probability, ..RedParameters::default() }, 1);
        let expected = if length <= min_bytes {
            0.0
        } else if length > max_bytes {
            1.0
        } else {
            max_probability * f64::from(length - min_bytes) / f64::from(max_bytes - min_bytes)
        };
        let found = red.probability(length) as f64 / 2_f64.powi(32);
        prop_assert!((found - expected).abs() < 1e-9, "{found}, expected {expected}");
    }

    /// The single threshold is RED with minK = maxK.
    #[test]
    fn a_single_threshold_is_a_narrow_red((spec, arrivals) in switch_and_arrivals(), k in 0_u32..8_000) {
        let ecn = EcnThreshold { threshold_bytes: k, signal: Signal::MarkOrDrop };
        let narrow = RedParameters { min_bytes: k, max_bytes: k, signal: Signal::MarkOrDrop, ..RedParameters::default() };
        let aqm = narrow.aqm(&spec, 1).expect("valid parameters");
        let calls = ask(&spec, &arrivals, aqm);
        for call in &calls {
            let &AqmCall::Arrived { packet, length, action, .. } = call else { continue };
            let expected = match (length > k, packet.is_ecn_capable()) {
                (false, _) => Action::Pass,
                (true, true) => Action::Mark,
                (true, false) => Action::Drop,
            };
            prop_assert_eq!(action, expected);
        }
        prop_assert_eq!(ask(&spec, &arrivals, ecn), calls);
    }

    /// The average against real numbers: whether its threshold is exceeded, unless it is close.
    #[test]
    fn averages_as_real_numbers_do((spec, arrivals) in switch_and_arrivals(), shift in 0_u8..6, k in 100_u32..4_000) {
        let narrow = RedParameters {
            min_bytes: k, max_bytes: k, signal: Signal::Drop, average_shift: Some(shift), ..RedParameters::default()
        };
        let aqm = narrow.aqm(&spec, 1).expect("valid parameters");
        let weight = 0.5_f64.powi(i32::from(shift));
        let mut averages = vec![0.0; spec.queues()];
        let mut idle_from = vec![None; spec.queues()];
        for call in ask(&spec, &arrivals, aqm) {
            match call {
                AqmCall::Departed { queue, length, time, .. } => {
                    idle_from[queue] = (length == 0).then_some(time);
                }
                AqmCall::Arrived { packet, length, time, action } => {
                    let average = &mut averages[packet.queue];
                    if let Some(from) = idle_from[packet.queue].filter(|_| length == 0) {
                        let port = packet.queue / usize::from(spec.queues_per_port);
                        let missed = (time - from) / spec.wire_time_ns(port, packet.size_bytes);
                        *average *= (1.0 - weight).powf(missed as f64);
                    }
                    idle_from[packet.queue] = (length == 0).then_some(time);
                    *average += weight * (f64::from(length) - *average);
                    if (*average - f64::from(k)).abs() > 2.0 {
                        prop_assert_eq!(action == Action::Drop, *average > f64::from(k));
                    }
                }
            }
        }
    }
}

/// Half-way between the thresholds half of maxP is marked; the same seed marks the same packets.
#[test]
fn marks_at_random_by_seed() {
    let parameters = RedParameters {
        min_bytes: 0,
        max_bytes: 200_000,
        max_probability: 0.5,
        ..RedParameters::default()
    };
    // A queue that stays at 100,000 bytes.
    let mut arrivals = overload(&[0], 100, 100);
    arrivals.extend((1..20_000).map(|n| (1_000 * n, Packet::new(n, 0, 1_000))));
    for (_, packet) in &mut arrivals {
        packet.flags = Packet::ECN_CAPABLE;
    }
    let marked = |seed| -> Vec<bool> {
        let calls = ask(&spec(), &arrivals, red(&parameters, seed));
        let steady = calls.into_iter().skip(200).filter_map(|call| match call {
            AqmCall::Arrived { length, action, .. } => {
                assert!(length.abs_diff(99_000) <= 1_000, "{length}");
                Some(action == Action::Mark)
            }
            AqmCall::Departed { .. } => None,
        });
        steady.collect()
    };
    assert_eq!(marked(1), marked(1));
    assert_ne!(marked(1), marked(2));
    let part = marked(1).iter().filter(|&&marked| marked).count() as f64 / marked(1).len() as f64;
    // Four standard deviations of 20,000 packets.
    assert!((part - 0.2475).abs() < 0.0125, "{part}");
}

#[test]
fn signals_are_what_they_say() {
    let plain = Packet::new(0, 0, 1_000);
    let capable = Packet { flags: Packet::ECN_CAPABLE, ..plain };
    let actions = |signal: Signal| [signal.action(&plain), signal.action(&capable)];
    assert_eq!(actions(Signal::Mark), [Action::Pass, Action::Mark]);
    assert_eq!(actions(Signal::MarkOrDrop), [Action::Drop, Action::Mark]);
    assert_eq!(actions(Signal::Drop), [Action::Drop, Action::Drop]);
}
