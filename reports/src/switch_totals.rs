//! Packets by switch and port, as monitoring identifies switches.

use dropcast_measure::verdict::{DropCounts, Verdict};
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// Ports that are listed, at most.
const MOST_PORTS: usize = 64;

/// Which switch: two that are not known to be the same are never added up.
///
/// A switch whose description names it is one in all traces. Without a name it may be another in each trace, as every
/// leaf is switch 0 of its own description: then the place of the trace in the report, from 0, stands for the name. Names of
/// files do not, as they change from day to day.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct SwitchLabel {
    /// Its name, or the place of its trace.
    pub(crate) name: String,
    /// Its number.
    pub(crate) switch_id: u16,
}

/// Packets of a switch.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SwitchTotal {
    pub(crate) counts: DropCounts,
    pub(crate) peak_occupancy: f64,
}

/// Each switch.
pub(crate) fn switch_totals(verdict: &Verdict) -> BTreeMap<SwitchLabel, SwitchTotal> {
    let mut totals: BTreeMap<SwitchLabel, SwitchTotal> = BTreeMap::new();
    for switch in &verdict.switches {
        let label = label(verdict, switch.trace, switch.switch_id);
        let total = totals.entry(label).or_default();
        total.counts.merge(&switch.counts);
        total.peak_occupancy = total.peak_occupancy.max(switch.peak_occupancy);
    }
    totals
}

/// The ports with the most drops, by switch and port.
pub(crate) fn port_totals(verdict: &Verdict) -> BTreeMap<(SwitchLabel, u16), DropCounts> {
    let mut ports: BTreeMap<(SwitchLabel, u16), DropCounts> = BTreeMap::new();
    for queue in &verdict.queues {
        let label = label(verdict, queue.trace, queue.switch_id);
        ports.entry((label, queue.port)).or_default().merge(&queue.counts);
    }
    let most = |counts: &DropCounts| {
        let real = counts.real.unwrap_or_default();
        real.packets.max(counts.own.packets).max(counts.lqd.packets)
    };
    let mut ports: Vec<_> = ports.into_iter().filter(|(_, counts)| most(counts) > 0).collect();
    ports.sort_by_key(|(_, counts)| Reverse(most(counts)));
    ports.truncate(MOST_PORTS);
    ports.into_iter().collect()
}

fn label(verdict: &Verdict, trace: usize, switch_id: u16) -> SwitchLabel {
    let is_it = |of: &&dropcast_measure::verdict::SwitchDrops| {
        (of.trace, of.switch_id) == (trace, switch_id)
    };
    let name = verdict.switches.iter().find(is_it).and_then(|switch| switch.name.clone());
    SwitchLabel { name: name.unwrap_or_else(|| trace.to_string()), switch_id }
}
