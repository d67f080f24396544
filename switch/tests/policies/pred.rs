//! PRED (NSDI 2025): how many flows, which slope.

use crate::asking::{AqmCall, ask};
use crate::traffic::{LINE_RATE_BPS, overload, switch_and_arrivals};
use dropcast_data::SwitchSpec;
use dropcast_switch::Packet;
use dropcast_switch::aqm::pred::{Adjuster, FlowCounter, PredParameters, Setting};
use dropcast_switch::aqm::{Action, Signal};
use proptest::prelude::*;
use std::collections::BTreeSet;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Section 4.1: the flows of the last interval or of this one, whichever is larger; exact if
    /// their hashes differ in the bitmap.
    #[test]
    fn counts_flows(
        interval in 1_u64..50,
        packets in prop::collection::vec((0_u64..20, 0_u64..300), 1..200),
    ) {
        let mut counter = FlowCounter::new(interval);
        let mut now = 0;
        let mut seen = Vec::new();
        for (gap, hash) in packets {
            now += gap;
            seen.push((now / interval, hash));
            counter.arrives(hash, now);
            let flows = |of: u64, bits: u64| {
                let hashes = seen.iter().filter(|&&(interval, _)| interval == of);
                hashes.map(|&(_, hash)| hash % bits).collect::<BTreeSet<_>>().len() as u32
            };
            let this = now / interval;
            let estimate = |bits| flows(this, bits).max(this.checked_sub(1).map_or(0, |last| flows(last, bits)));
            prop_assert_eq!(counter.estimate(), estimate(120));
            prop_assert!(counter.estimate() <= estimate(u64::MAX));
        }
    }

    /// Section 4.2 from the adjuster's whole input, trial by trial.
    #[test]
    fn adjusts_as_trials_say(
        trial_ns in 1_000_u64..5_000,
        (spec, arrivals) in switch_and_arrivals(),
    ) {
        let parameters = PredParameters {
            max_bytes: 20_000, min_bytes: 1_000, min_step_bytes: 500, left_bytes: 1_000, ..PredParameters::default()
        };
        let calls: Vec<AqmCall> = ask(&spec, &arrivals, dropcast_switch::aqm::NoAqm {})
            .into_iter()
            .filter(|call| matches!(call, AqmCall::Arrived { packet: Packet { queue: 0, .. }, .. } | AqmCall::Departed { queue: 0, .. }))
            .collect();
        let mut adjuster = Adjuster::new(&parameters, spec.line_rate_bps[0], trial_ns);
        for (index, call) in calls.iter().enumerate() {
            match *call {
                AqmCall::Arrived { length, time, .. } => adjuster.arrives(length, time),
                AqmCall::Departed { length, size_bytes, time, .. } => adjuster.departed(length, size_bytes, time),
            }
            let expected = slow_level(&parameters, spec.line_rate_bps[0], trial_ns, &calls[..=index]);
            prop_assert_eq!(adjuster.level(), expected);
        }
    }

    /// The point-slope form, maxK, and as many draws as chances.
    #[test]
    fn marks_only_above_its_thresholds((spec, arrivals) in switch_and_arrivals(), max_bytes in 2_000_u32..8_000) {
        let parameters = PredParameters {
            max_bytes, min_bytes: 1_000, left_bytes: 1_000, lambda: 100.0, signal: Signal::Drop, trial_ns: Some(0),
            ..PredParameters::default()
        };
        let pred = parameters.aqm(&spec, 7).expect("valid parameters");
        for call in ask(&spec, &arrivals, pred) {
            match call {
                AqmCall::Arrived { length, action, .. } if length <= 1_000 => prop_assert_eq!(action, Action::Pass),
                AqmCall::Arrived { length, action, .. } if length > max_bytes => prop_assert_eq!(action, Action::Drop),
                _ => {}
            }
        }
    }
}

fn time(call: &AqmCall) -> u64 {
    match *call {
        AqmCall::Arrived { time, .. } | AqmCall::Departed { time, .. } => time,
    }
}

/// The length of the queue between the event before this one and this one.
fn length_before(call: &AqmCall) -> u32 {
    match *call {
        AqmCall::Arrived { length, .. } => length,
        AqmCall::Departed { length, size_bytes, .. } => length + size_bytes,
    }
}

/// The level after the whole input.
fn slow_level(parameters: &PredParameters, rate_bps: u64, trial_ns: u64, calls: &[AqmCall]) -> i32 {
    let mut level =
        ((parameters.lambda - parameters.lambda_min) / parameters.lambda_step).round() as i32;
    let lowest =
        -(((parameters.max_bytes - parameters.min_bytes) / parameters.min_step_bytes) as i32);
    let now = calls.last().map_or(0, time);
    let mut utilities = Vec::new();
    for trial in 0..now / trial_ns {
        let (from, until) = (trial * trial_ns, (trial + 1) * trial_ns);
        let within = |call: &&AqmCall| (from..until).contains(&time(call));
        let is_empty =
            |from: u64| !calls.iter().any(|call| (from..from + trial_ns).contains(&time(call)));
        if is_empty(from) || is_empty(until) {
            utilities.clear();
            continue;
        }
        let sent: u64 = calls
            .iter()
            .filter(within)
            .map(|call| match *call {
                AqmCall::Departed { size_bytes, .. } => u64::from(size_bytes),
                AqmCall::Arrived { .. } => 0,
            })
            .sum();
        let events = calls.iter().map(time).filter(|time| (from..until).contains(time));
        let times: Vec<u64> = [from].into_iter().chain(events).chain([until]).collect();
        let byte_ns: u128 = times
            .windows(2)
            .map(|pair| {
                // Until an event the queue is as long as the event finds it.
                let next = calls.iter().find(|call| time(call) > pair[0]).expect("an event behind");
                u128::from(length_before(next)) * u128::from(pair[1] - pair[0])
            })
            .sum();
        let throughput = sent as f64 * 8e9 / (trial_ns as f64 * rate_bps as f64);
        let mean = byte_ns as f64 / trial_ns as f64;
        let right = f64::from(parameters.max_bytes);
        let phi = ((right - mean) / (right - f64::from(parameters.left_bytes))).clamp(0.0, 1.0);
        utilities.push(parameters.beta * throughput + (1.0 - parameters.beta) * phi);
        if let [first, second, third, fourth] = utilities[..] {
            if first > second && fourth > third {
                level += 1;
            } else if first < second && fourth < third {
                level = (level - 1).max(lowest);
            }
            utilities.clear();
        }
    }
    level
}

/// A queue whose length and throughput follow from the setting, trial after trial.
fn settle(
    parameters: &PredParameters,
    model: impl Fn(Setting) -> (u32, f64),
    trials: u64,
) -> Adjuster {
    let mut adjuster = Adjuster::new(parameters, LINE_RATE_BPS, 100_000);
    for trial in 0..trials {
        let begin = trial * 100_000;
        adjuster.arrives(0, begin);
        let (length, throughput) = model(adjuster.setting());
        let sent = (100_000.0 * throughput) as u32;
        adjuster.departed(length, sent, begin + 1);
        adjuster.arrives(length, begin + 99_999);
    }
    adjuster
}

/// Section 4.2: while throughput is full the slope grows until the queue is as short as q_left, below
/// which a shorter queue is no better.
#[test]
fn shortens_the_queue_while_throughput_is_full() {
    let parameters = PredParameters::default();
    let queue =
        |setting: Setting| (f64::from(setting.min_bytes) + 10_000.0 / setting.lambda) as u32;
    let adjuster = settle(&parameters, |setting| (queue(setting), 1.0), 2_000);
    let found = queue(adjuster.setting());
    assert!((21_500..=23_500).contains(&found), "{found}");
}

/// Observation 2: where a short queue costs throughput, the slope falls to its least, and then minK
/// grows.
#[test]
fn lengthens_the_queue_where_that_gains_throughput() {
    let parameters = PredParameters::default();
    let queue = |setting: Setting| f64::from(setting.min_bytes) + 500.0 / setting.lambda;
    let model = |setting| (queue(setting) as u32, (queue(setting) / 60_000.0).min(1.0));
    let adjuster = settle(&parameters, model, 2_000);
    let setting = adjuster.setting();
    assert_eq!(setting.lambda, parameters.lambda_min);
    assert!(setting.min_bytes > parameters.min_bytes, "{setting:?}");
    assert!(queue(setting) > 45_000.0, "{setting:?}");
}

/// Two controlled trials: pairs that disagree change nothing.
#[test]
fn noise_changes_nothing() {
    let parameters = PredParameters::default();
    let mut adjuster = Adjuster::new(&parameters, LINE_RATE_BPS, 1_000);
    let level = adjuster.level();
    for trial in 0..400_u64 {
        // Long, short, long, short: steeper is worse first, then better.
        let length = if trial % 2 == 0 { 300_000 } else { 100_000 };
        adjuster.arrives(length, trial * 1_000 + 1);
        adjuster.arrives(length, trial * 1_000 + 999);
        assert_eq!(adjuster.level(), level);
    }
}

/// Section 4.1: the slope is as many times steeper as there are flows.
#[test]
fn the_slope_follows_the_number_of_flows() {
    let spec = SwitchSpec::uniform(2, LINE_RATE_BPS, 1_000_000, 20_000);
    let parameters =
        PredParameters { trial_ns: Some(0), signal: Signal::Drop, ..PredParameters::default() };
    let marked = |flows: u64| {
        let mut arrivals = overload(&[0], 100, 100);
        arrivals.extend((1..40_000).map(|n| (1_000 * n, Packet::new(n, 0, 1_000))));
        for (_, packet) in &mut arrivals {
            packet.flow_hash = packet.id % flows;
        }
        let pred = parameters.aqm(&spec, 3).expect("valid parameters");
        let mut marked = Vec::new();
        let mut chances = 0.0;
        for call in ask(&spec, &arrivals, pred).into_iter().skip(200) {
            if let AqmCall::Arrived { length, action, .. } = call {
                chances += (f64::from(length) - 15_000.0).max(0.0) * 0.1e-6;
                marked.push(action == Action::Drop);
            }
        }
        (marked.iter().filter(|&&marked| marked).count() as f64, chances)
    };
    for flows in [1, 4, 16] {
        let (found, for_one) = marked(flows);
        let expected = for_one * flows as f64;
        assert!((found - expected).abs() < 4.0 * expected.sqrt(), "{flows}: {found}, {expected}");
    }
}
