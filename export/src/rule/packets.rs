//! Packets on which the rule's code must decide as the fabric's policy does.

use super::parameters::{Rule, RuleError};
use crate::splitmix::SplitMix;
use dropcast_data::{SwitchSpec, Victim};
use dropcast_switch::policies::dynamic_thresholds::DynamicThresholdsParameters;
use dropcast_switch::policies::oracle::{AnyOracle, OracleParameters, drain_time_ns};
use dropcast_switch::{
    Alphas, Buffer, Fit, LineRate, Observer, Packet, PolicySite, PolicySpec, Removal, Switch,
};

/// A packet that arrives, or leaves its queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RuleEvent {
    /// When.
    pub time_ns: u64,
    /// Its port.
    pub port: usize,
    /// Its queue within the port.
    pub queue: usize,
    /// Its size.
    pub size_bytes: u32,
    /// Of one that arrives: whether it is accepted. None: it leaves.
    pub accepted: Option<bool>,
}

/// Packets at a switch that the rule decides for, in time order: the same rule and switch give the same packets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RulePackets {
    /// Arrivals and departures.
    pub events: Vec<RuleEvent>,
}

/// So many packets arrive: every line of the rule's code decides about some.
const ARRIVALS: usize = 20_000;

impl RulePackets {
    /// Bursts of up to one and a half buffers towards one to seven queues, or all, at rates from that of a port to 32 times as much,
    /// with packets for a queue of the burst before and for others between them. One burst in three is of two buffers.
    ///
    /// # Errors
    /// If the switch or a parameter is not what the code can do.
    pub fn golden(rule: &Rule, spec: &SwitchSpec) -> Result<Self, RuleError> {
        RulePackets::decided(rule, spec, bursts(spec, &mut SplitMix::new(1)))
    }

    /// What the fabric's policy decides about packets that arrive: their time, queue of the switch and size. Ports serve at
    /// line rate.
    ///
    /// # Errors
    /// If the switch or a parameter is not what the code can do.
    pub fn decided(
        rule: &Rule,
        spec: &SwitchSpec,
        arrivals: impl IntoIterator<Item = (u64, usize, u32)>,
    ) -> Result<Self, RuleError> {
        rule.constants(spec)?;
        let service = LineRate::new(spec);
        let mut switch = Switch::new(spec, Fit::Exact, policy(rule, spec)?, service);
        let queues_per_port = usize::from(spec.queues_per_port);
        let mut heard = Heard { events: Vec::new(), queues_per_port };
        for (id, (now, queue, size_bytes)) in (0..).zip(arrivals) {
            switch.advance(now, &mut heard);
            let accepted = switch.admit(&Packet::new(id, queue, size_bytes), now, &mut heard);
            heard.hear(now, queue, size_bytes, Some(accepted));
        }
        Ok(RulePackets { events: heard.events })
    }

    /// The verdicts, in order: whether each packet that arrives is accepted.
    pub fn verdicts(&self) -> impl Iterator<Item = bool> {
        self.events.iter().filter_map(|event| event.accepted)
    }

    /// As packet events (`docs/events.md`), with one more column: whether a packet that arrives is accepted, 0 or 1; 0 for
    /// those that leave.
    pub fn to_csv(&self) -> String {
        let mut text = "time_ns,kind,port,queue,size_bytes,accepted\n".to_owned();
        for event in &self.events {
            let RuleEvent { time_ns, port, queue, size_bytes, accepted } = event;
            let (kind, accepted) =
                (u8::from(accepted.is_none()), u8::from(*accepted == Some(true)));
            text += &format!("{time_ns},{kind},{port},{queue},{size_bytes},{accepted}\n");
        }
        text
    }
}

/// The policy of the fabric and the replays.
fn policy(rule: &Rule, spec: &SwitchSpec) -> Result<AnyOracle, RuleError> {
    let alpha =
        Alphas::new(rule.alpha.clone()).map_err(|error| RuleError::Policy(error.to_string()))?;
    let base = PolicySpec::DynamicThresholds(DynamicThresholdsParameters { alpha });
    let parameters = OracleParameters {
        base: Box::new(base),
        model: None,
        horizon_ns: Some(rule.horizon_ns),
        gate: Some(rule.gate),
        told_late_ns: 0,
    };
    let service = LineRate::new(spec);
    let (fit, victim) = (Fit::Exact, Victim::default());
    let site = PolicySite { spec, fit, service, victim, seed: 1, model: None };
    parameters.policy(site).map_err(|error| RuleError::Policy(error.to_string()))
}

/// Hears of every packet.
struct Heard {
    events: Vec<RuleEvent>,
    queues_per_port: usize,
}

impl Heard {
    fn hear(&mut self, time_ns: u64, queue: usize, size_bytes: u32, accepted: Option<bool>) {
        let (port, queue) = (queue / self.queues_per_port, queue % self.queues_per_port);
        self.events.push(RuleEvent { time_ns, port, queue, size_bytes, accepted });
    }
}

impl Observer for Heard {
    fn removed(&mut self, removal: &Removal, _: &Buffer) {
        self.hear(removal.time, removal.queue, removal.packet.size_bytes, None);
    }
}

fn bursts(spec: &SwitchSpec, random: &mut SplitMix) -> Vec<(u64, usize, u32)> {
    let buffer_bytes = spec.buffer_bytes;
    let last_queue = u32::try_from(spec.queues() - 1).unwrap_or(u32::MAX);
    // Large buffers are filled by large packets, so that they overflow often enough.
    let largest = (buffer_bytes / 64).clamp(1_500, 9_000).min(buffer_bytes);
    let drain_ns = u32::try_from(drain_time_ns(spec)).unwrap_or(u32::MAX);
    let (mut now, mut left_bytes, mut before, mut speed) = (0_u64, 0, 0, 1);
    let mut hot = [0, 0];
    let arrival = |nth| {
        let others = if nth < ARRIVALS / 2 { 3 } else { 15 };
        if left_bytes == 0 {
            left_bytes = u64::from(random.between(buffer_bytes / 8, buffer_bytes)) * 3 / 2;
            before = hot[0];
            hot = [random.between(0, last_queue); 2];
            hot = match random.between(0, 7) {
                7 => [0, last_queue],
                more => [hot[0], hot[1].saturating_add(more).min(last_queue)],
            };
            speed = 1_u128 << random.between(0, 5);
            if random.between(0, 2) == 0 {
                // Eight queues overflow: predictions come true, and are followed.
                (hot[1], speed) = (hot[0].saturating_add(7).min(last_queue), 32);
                left_bytes = 2 * u64::from(buffer_bytes);
            }
            // A port alone takes longer to send a full buffer than all together.
            now += u64::from(random.between(0, drain_ns)) << (2 * random.between(0, 3));
        }
        let size_bytes = random.between(64.min(largest), largest);
        left_bytes = left_bytes.saturating_sub(size_bytes.into());
        let port = hot[0] as usize / usize::from(spec.queues_per_port);
        let sent_bits_ns = u128::from(size_bytes) * 8_000_000_000;
        let gap_ns = sent_bits_ns / (speed * u128::from(spec.line_rate_bps[port])).max(1);
        now = now.saturating_add(u64::try_from(gap_ns).unwrap_or(u64::MAX));
        let queue = match random.between(0, others) {
            0 => random.between(0, last_queue),
            1 => before,
            _ => random.between(hot[0], hot[1]),
        };
        (now, queue as usize, size_bytes)
    };
    (0..ARRIVALS).map(arrival).collect()
}
