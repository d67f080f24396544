//! An oracle over a base policy, and the untrained rule.

use crate::traffic::{Arrivals, accepted, switch_and_arrivals};
use dropcast_data::SwitchSpec;
use dropcast_features::BufferView;
use dropcast_switch::policies::oracle::{LevelAhead, Oracle, OracleParameters, drain_time_ns};
use dropcast_switch::{
    AlwaysAccept, Buffer, CompleteSharing, Decision, DynamicThresholds, Packet, Policy, PolicySite,
    Recorded,
};
use proptest::prelude::*;

/// The untrained rule over Complete Sharing, written from its definition: what every queue is expected to
/// hold at the horizon is computed anew for each packet.
struct SlowRule {
    spec: SwitchSpec,
    horizon_ns: u64,
    /// By queue: bytes that arrived recently, and the time of its last event.
    recent: Vec<(u64, u64)>,
    /// By queue: its length at its last event.
    lengths: Vec<u64>,
}

impl SlowRule {
    fn new(spec: &SwitchSpec, horizon_ns: u64) -> Self {
        let queues = spec.queues();
        SlowRule {
            spec: spec.clone(),
            horizon_ns,
            recent: vec![(0, 0); queues],
            lengths: vec![0; queues],
        }
    }

    /// Arrivals are counted over half the horizon.
    fn event(&mut self, buffer: &Buffer, queue: usize, arrived_bytes: u64, now: u64) {
        let window_ns = (self.horizon_ns * 4 / 8).max(1);
        let (recent, then) = self.recent[queue];
        let since_ns = now.saturating_sub(then).min(window_ns);
        let forgotten = recent * since_ns / window_ns;
        self.recent[queue] = (recent - forgotten + arrived_bytes, now);
        self.lengths[queue] = buffer.queue_bytes(queue).into();
    }

    fn expected(&self, queue: usize) -> u64 {
        let rate_bps = self.spec.line_rate_bps[queue / usize::from(self.spec.queues_per_port)];
        // In eight horizons, as the feature rounds.
        let sent = u128::from(rate_bps) * u128::from(4 * self.horizon_ns) / 4_000_000_000 / 8;
        let length = self.lengths[queue];
        if length == 0 {
            return 0;
        }
        (length + 2 * self.recent[queue].0).saturating_sub(sent as u64)
    }
}

impl Policy for SlowRule {
    fn decide(&mut self, buffer: &Buffer, packet: &Packet, _: u64) -> Decision {
        if !buffer.fits(packet.size_bytes) {
            return Decision::Reject;
        }
        let held = |queue: usize| u64::from(buffer.queue_bytes(queue));
        let longest = (0..self.lengths.len()).map(held).max();
        let capacity = u64::from(buffer.capacity_bytes());
        if longest.unwrap_or(0) * (self.spec.ports() as u64) < capacity {
            return Decision::Accept;
        }
        let cut = held(packet.queue);
        let level: u64 = (0..self.lengths.len()).map(|queue| self.expected(queue).min(cut)).sum();
        if level >= capacity { Decision::Reject } else { Decision::Accept }
    }

    fn settled(&mut self, buffer: &Buffer, packet: &Packet, _: bool, now: u64) {
        self.event(buffer, packet.queue, packet.size_bytes.into(), now);
    }

    fn departed(&mut self, buffer: &Buffer, queue: usize, _: u32, time: u64) {
        self.event(buffer, queue, 0, time);
    }
}

fn rule<B: Policy>(spec: &SwitchSpec, base: B, horizon_ns: u64) -> Oracle<B, LevelAhead> {
    let rule = LevelAhead { buffer_bytes: spec.buffer_bytes };
    Oracle::new(spec, base, rule, LevelAhead::time_constant_ns(horizon_ns))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Whatever the queues and the horizon.
    #[test]
    fn the_untrained_rule_is_its_definition(
        (spec, arrivals) in switch_and_arrivals(),
        horizon_ns in 2_u64..20_000,
    ) {
        let fast = accepted(&spec, &arrivals, rule(&spec, CompleteSharing, horizon_ns));
        prop_assert_eq!(fast, accepted(&spec, &arrivals, SlowRule::new(&spec, horizon_ns)));
    }

    /// An oracle that predicts nothing leaves the base as it is.
    #[test]
    fn without_predictions_the_base_decides((spec, arrivals) in switch_and_arrivals()) {
        let base = || DynamicThresholds::new(2.0);
        let filtered = Oracle::new(&spec, base(), AlwaysAccept, 1_000);
        prop_assert_eq!(accepted(&spec, &arrivals, filtered), accepted(&spec, &arrivals, base()));
    }
}

/// Two ports share 10,000 bytes; each packet has 1,000.
fn two_ports() -> (SwitchSpec, Arrivals) {
    let spec = SwitchSpec::uniform(2, 8_000_000_000, 10_000, 4_000);
    let arrivals = (0..10).map(|id| (0, Packet::new(id, 0, 1_000))).collect();
    (spec, arrivals)
}

/// While the longest queue is below B/N, predicted drops are accepted.
#[test]
fn short_queues_are_safe_from_wrong_predictions() {
    let (spec, arrivals) = two_ports();
    let all_dropped = Oracle::new(&spec, CompleteSharing, Recorded(|_| true), spec.base_rtt_ns);
    // The first packet is on the wire; five more fill half of the buffer.
    let expected: Vec<bool> = (0..10).map(|id| id <= 5).collect();
    assert_eq!(accepted(&spec, &arrivals, all_dropped), expected);
}

/// Port 0's queue holds 6,000 bytes, and port 1's begins to grow at eight times the line rate: a packet for port 0
/// still fits, and the rule drops it. For port 1, whose queue is short, it accepts.
#[test]
fn the_rule_makes_long_queues_pay_before_the_buffer_is_full() {
    let (spec, _) = two_ports();
    let mut arrivals: Arrivals = (0..7).map(|id| (0, Packet::new(id, 0, 1_000))).collect();
    arrivals.extend((7..10).map(|id| ((id - 6) * 125, Packet::new(id, 1, 1_000))));
    arrivals.push((380, Packet::new(10, 0, 1_000)));
    arrivals.push((385, Packet::new(11, 1, 1_000)));
    assert!(accepted(&spec, &arrivals, CompleteSharing).into_iter().all(|accepted| accepted));
    let by_rule = accepted(&spec, &arrivals, rule(&spec, CompleteSharing, 1_000));
    let dropped: Vec<usize> = (0..12).filter(|&id| !by_rule[id]).collect();
    assert_eq!(dropped, [10]);
}

#[test]
fn drain_times_are_those_of_the_whole_buffer() {
    // A leaf of the artifact with a quarter of its buffer: 20 ports of 10 Gbps.
    let leaf = SwitchSpec::uniform(20, 10_000_000_000, 260_000, 32_000);
    assert_eq!(drain_time_ns(&leaf), 10_400);
    let mut mixed = SwitchSpec::uniform(2, 8_000_000_000, 9_000, 32_000);
    mixed.line_rate_bps = vec![8_000_000_000, 1_000_000_000];
    assert_eq!(drain_time_ns(&mixed), 8_000);
    let tiny = SwitchSpec::uniform(20, 100_000_000_000, 1, 32_000);
    assert_eq!(drain_time_ns(&tiny), 1);
}

/// Without a model it is the untrained rule, over Dynamic Thresholds with alpha 16, for the drain time.
#[test]
fn parameters_have_defaults() {
    let (spec, arrivals) = (SwitchSpec::uniform(2, 8_000_000_000, 10_000, 4_000), two_ports().1);
    let built = OracleParameters::default().policy(PolicySite::new(&spec, 1)).expect("valid");
    let by_hand = rule(&spec, DynamicThresholds::new(16.0), 5_000);
    assert_eq!(accepted(&spec, &arrivals, built), accepted(&spec, &arrivals, by_hand));
}
