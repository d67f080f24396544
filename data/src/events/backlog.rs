//! How many packets would have had to wait at the line rates of their ports.

use crate::{Event, SwitchSpecs};
use std::collections::BTreeMap;

/// Fewer packets are too few to decide.
const LEAST_PACKETS: u64 = 1_000;
/// Many captures have times of whole microseconds.
const COARSE_NS: u64 = 1_000;

/// Counts packets of captures that find another one waiting at their output port. A switch whose packets were
/// captured behind its buffer has hardly any: packets leave a port one after the other.
pub(crate) struct Backlog {
    specs: SwitchSpecs,
    switches: BTreeMap<u16, OfSwitch>,
    /// Whether all times so far are whole microseconds.
    is_coarse: bool,
}

#[derive(Default)]
struct OfSwitch {
    ports: Vec<Line>,
    packets: u64,
    /// Packets that wait longer than jitter explains, if times are exact.
    waited: u64,
    /// The same if times are whole microseconds.
    waited_coarsely: u64,
}

/// The packets of a port, one after the other.
#[derive(Clone, Copy, Default)]
struct Line {
    /// When all packets so far are sent, nanoseconds.
    busy_until: u64,
    /// How long the largest packet so far takes, nanoseconds.
    longest_ns: u64,
}

impl Backlog {
    pub(crate) fn new(specs: &SwitchSpecs) -> Self {
        Backlog { specs: specs.clone(), switches: BTreeMap::new(), is_coarse: true }
    }

    /// Counts a packet of a port that the switch has. Packets come in order of time.
    pub(crate) fn add(&mut self, event: &Event) {
        let Some(spec) = self.specs.get(event.switch_id) else { return };
        let port = usize::from(event.port);
        let wire_ns = spec.wire_time_ns(port, event.size_bytes);
        let switch = self.switches.entry(event.switch_id).or_default();
        if switch.ports.len() <= port {
            switch.ports.resize(port + 1, Line::default());
        }
        let line = &mut switch.ports[port];
        line.longest_ns = line.longest_ns.max(wire_ns);
        // Some captures stamp when a packet begins, others when it ends; so one on the wire is no backlog.
        let waits_ns = line.busy_until.saturating_sub(event.time_ns);
        switch.waited += u64::from(waits_ns > line.longest_ns);
        switch.waited_coarsely += u64::from(waits_ns > line.longest_ns.saturating_add(COARSE_NS));
        switch.packets += 1;
        line.busy_until = line.busy_until.max(event.time_ns).saturating_add(wire_ns);
        self.is_coarse &= event.time_ns.is_multiple_of(COARSE_NS);
    }

    /// How many packets there are at switches at which fewer than one in a thousand waited, if there are such.
    pub(crate) fn packets_without(&self) -> Option<u64> {
        let packets = self.switches.values().filter_map(|switch| {
            let waited = if self.is_coarse { switch.waited_coarsely } else { switch.waited };
            let without = switch.packets >= LEAST_PACKETS && waited * 1_000 < switch.packets;
            without.then_some(switch.packets)
        });
        packets.reduce(|sum, packets| sum + packets)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{EventKind, SwitchSpec};

    fn event(time_ns: u64, (switch_id, port): (u16, u16), size_bytes: u32) -> Event {
        let (queue, flow_hash, flags) = (0, 0, 0);
        let kind = EventKind::Arrival;
        Event { time_ns, flow_hash, size_bytes, switch_id, port, queue, kind, flags }
    }

    fn packets_without(events: impl IntoIterator<Item = Event>) -> Option<u64> {
        let specs = SwitchSpecs::Same(SwitchSpec::uniform(2, 1_000_000_000, 100_000, 10_000));
        let mut backlog = Backlog::new(&specs);
        events.into_iter().for_each(|event| backlog.add(&event));
        backlog.packets_without()
    }

    /// Packets of 1,250 bytes, 10 us at 1 Gbps, this far apart.
    fn apart(packets: u64, gap_ns: u64) -> impl Iterator<Item = Event> {
        (0..packets).map(move |i| event(i * gap_ns + i % 7, (0, 1), 1_250))
    }

    #[test]
    fn packets_at_line_rate_do_not_wait() {
        assert_eq!(packets_without(apart(2_000, 10_000)), Some(2_000));
        assert_eq!(packets_without(apart(2_000, 9_000)), None);
        assert_eq!(packets_without(apart(999, 10_000)), None);
    }

    #[test]
    fn packets_of_any_size_at_line_rate_do_not_wait_wherever_their_time_is_taken() {
        let sizes = |i: u64| if i.is_multiple_of(3) { 1_250 } else { 125 };
        let at_end = (0..2_000).scan(0, |now_ns, i| {
            *now_ns += sizes(i) * 8;
            Some(event(*now_ns + i % 2, (0, 1), sizes(i) as u32))
        });
        assert_eq!(packets_without(at_end), Some(2_000));
        let coarse = (0..2_000).map(|i| event(i * 100 / 1_000 * 1_000, (0, 1), 12));
        assert_eq!(packets_without(coarse), Some(2_000), "ten packets have the same time");
    }

    #[test]
    fn one_port_with_backlog_is_enough_and_each_switch_counts_alone() {
        let idle = |switch| (0..2_000).map(move |i| event(i * 10_000 + i % 7, (switch, 0), 1_250));
        let busy = |switch| (0..2_000).map(move |i| event(i * 9_000 + i % 7, (switch, 1), 1_250));
        assert_eq!(packets_without(idle(0).chain(busy(0))), None);
        assert_eq!(packets_without(idle(0).chain(busy(1))), Some(2_000));
        assert_eq!(packets_without(idle(0).chain(idle(1))), Some(4_000));
    }
}
