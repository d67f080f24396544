//! Drops by switch, port and queue.

use super::check::CheckResult;
use super::drop_counts::{Counted, DropCounts, Tally};
use dropcast_data::SwitchSpecs;
use dropcast_replay::Replayed;
use dropcast_switch::Alphas;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Places of a verdict, at most.
const MOST_PLACES: usize = 4_096;

/// A switch of a trace.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SwitchDrops {
    /// Number of the trace, from 0.
    pub trace: usize,
    /// Number of the switch.
    pub switch_id: u16,
    /// Its name in its description; null if that has none.
    pub name: Option<String>,
    /// Its ports.
    #[serde(default)]
    pub ports: usize,
    /// What its ports are called, in order of their numbers; empty if its description has no names.
    #[serde(default)]
    pub port_names: Vec<String>,
    /// Its shared buffer, bytes.
    #[serde(default)]
    pub buffer_bytes: u32,
    /// Highest occupancy of LQD's buffer that an arrival met, as a share of the buffer.
    pub peak_occupancy: f64,
    /// The `alpha` of Dynamic Thresholds there, one or one for each queue of a port.
    pub dynamic_thresholds_alpha: Alphas,
    /// Whether its description gives each alpha as SONiC's `dynamic_th`, the power of two that it is.
    #[serde(default)]
    pub alpha_is_power: bool,
    /// What the switch does by itself, as the registry names it ([`dropcast_replay::own_policy`]).
    pub own_policy: String,
    /// How much longer than its threshold Credence lets a queue become there, bytes.
    pub slack_bytes: u32,
    /// Its packets.
    pub counts: DropCounts,
}

/// A trace.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TraceDrops {
    /// Highest occupancy of LQD's buffer that an arrival met, as a share of the buffer, of the fullest switch; null
    /// without arrivals.
    pub peak_occupancy: Option<f64>,
    /// Its packets.
    pub counts: DropCounts,
    /// The checks that found something wrong.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<CheckResult>,
}

/// A queue of a switch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct QueueDrops {
    /// Number of the trace, from 0.
    pub trace: usize,
    /// Number of the switch.
    pub switch_id: u16,
    /// Number of the port.
    pub port: u16,
    /// Number of the queue within the port.
    pub queue: u8,
    /// Its packets.
    pub counts: DropCounts,
}

/// Counts by place.
#[derive(Default)]
pub(super) struct Places {
    /// By trace, switch, port and queue.
    queues: BTreeMap<(usize, u16, u16, u8), Tally>,
    /// By trace and switch.
    peaks: BTreeMap<(usize, u16), u32>,
}

impl Places {
    pub(super) fn add(
        &mut self,
        (trace, switch_id, port, queue): (usize, u16, u16, u8),
        packet: &Counted,
        permille: u32,
    ) {
        self.queues.entry((trace, switch_id, port, queue)).or_default().add(packet);
        let peak = self.peaks.entry((trace, switch_id)).or_default();
        *peak = permille.max(*peak);
    }

    /// Each switch at which packets count, of these that were replayed.
    pub(super) fn switches(
        &self,
        replayed: &BTreeMap<(usize, u16), Replayed>,
        specs: &[SwitchSpecs],
        best_alpha: Option<usize>,
    ) -> Vec<SwitchDrops> {
        let of = |(&(trace, switch_id), replayed): (&(usize, u16), &Replayed)| {
            let &permille = self.peaks.get(&(trace, switch_id))?;
            let spec = specs.get(trace)?.get(switch_id)?;
            let first = (trace, switch_id, 0, 0);
            let own = self.queues.range(first..=(trace, switch_id, u16::MAX, u8::MAX));
            let mut tally = Tally::default();
            own.for_each(|(_, queue)| tally.merge(queue));
            let peak_occupancy = f64::from(permille) / 1_000.0;
            Some(SwitchDrops {
                trace,
                switch_id,
                name: spec.name.clone(),
                ports: spec.ports(),
                port_names: spec.port_names.clone(),
                buffer_bytes: spec.buffer_bytes,
                peak_occupancy,
                dynamic_thresholds_alpha: replayed.dt_alpha.clone(),
                alpha_is_power: spec.alpha_is_power,
                own_policy: replayed.own_policy.to_string(),
                slack_bytes: replayed.slack_bytes,
                counts: tally.counts(best_alpha),
            })
        };
        replayed.iter().filter_map(of).collect()
    }

    /// Each of so many traces, without checks.
    pub(super) fn traces(&self, traces: usize, best_alpha: Option<usize>) -> Vec<TraceDrops> {
        let of = |trace: usize| {
            let first = (trace, 0, 0, 0);
            let own = self.queues.range(first..=(trace, u16::MAX, u16::MAX, u8::MAX));
            let mut tally = Tally::default();
            own.for_each(|(_, queue)| tally.merge(queue));
            let peaks = self.peaks.range((trace, 0)..=(trace, u16::MAX));
            let peak = peaks.map(|(_, &permille)| f64::from(permille) / 1_000.0).reduce(f64::max);
            let counts = tally.counts(best_alpha);
            TraceDrops { peak_occupancy: peak, counts, checks: Vec::new() }
        };
        (0..traces).map(of).collect()
    }

    /// The queues at which something is dropped, or predicted to be: the worst if there are too many,
    /// in order, and how many are left out.
    pub(super) fn queues(&self, best_alpha: Option<usize>) -> (Vec<QueueDrops>, u64) {
        let all = self.queues.iter();
        let all = all.map(|(&(trace, switch_id, port, queue), tally)| QueueDrops {
            trace,
            switch_id,
            port,
            queue,
            counts: tally.counts(best_alpha),
        });
        let mut queues: Vec<QueueDrops> = all.filter(|queue| queue.counts.has_drops()).collect();
        let left_out = queues.len().saturating_sub(MOST_PLACES);
        if left_out > 0 {
            queues.sort_by_key(|queue| std::cmp::Reverse(queue.counts.badness()));
            queues.truncate(MOST_PLACES);
            queues.sort_by_key(|queue| (queue.trace, queue.switch_id, queue.port, queue.queue));
        }
        (queues, left_out as u64)
    }
}
