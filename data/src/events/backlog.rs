//! How many packets would have had to wait at the line rates of their ports.

use crate::{Event, SwitchSpecs};
use std::collections::BTreeMap;

/// Fewer packets are too few to tell.
const LEAST_PACKETS: u64 = 1_000;

/// Counts packets that find another one waiting. A capture behind the buffer has hardly any: packets
/// leave a port one after the other.
pub(crate) struct Backlog {
    specs: SwitchSpecs,
    /// By switch and port: when all packets so far are sent, nanoseconds.
    busy_until: BTreeMap<(u16, u16), u64>,
    packets: u64,
    waited: u64,
}

impl Backlog {
    pub(crate) fn new(specs: &SwitchSpecs) -> Self {
        Backlog { specs: specs.clone(), busy_until: BTreeMap::new(), packets: 0, waited: 0 }
    }

    /// Counts a packet of a port that the switch has.
    pub(crate) fn add(&mut self, event: &Event) {
        let Some(spec) = self.specs.get(event.switch_id) else { return };
        let wire_ns = spec.wire_time_ns(usize::from(event.port), event.size_bytes);
        let busy_until = self.busy_until.entry((event.switch_id, event.port)).or_insert(0);
        // Times jitter, so one packet on the wire is no backlog.
        self.waited += u64::from(busy_until.saturating_sub(event.time_ns) > wire_ns);
        self.packets += 1;
        *busy_until = (*busy_until).max(event.time_ns).saturating_add(wire_ns);
    }

    /// How many packets there are, if fewer than one in a thousand waited.
    pub(crate) fn packets_without(&self) -> Option<u64> {
        let without = self.packets >= LEAST_PACKETS && self.waited * 1_000 < self.packets;
        without.then_some(self.packets)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{EventKind, SwitchSpec};

    /// Packets of 1,250 bytes, 10 us at 1 Gbps, this far apart.
    fn packets_without(packets: u64, gap_ns: u64) -> Option<u64> {
        let specs = SwitchSpecs::Same(SwitchSpec::uniform(2, 1_000_000_000, 100_000, 10_000));
        let mut backlog = Backlog::new(&specs);
        for i in 0..packets {
            let (time_ns, kind) = (i * gap_ns + i % 7, EventKind::Arrival);
            let size_bytes = 1_250;
            let (switch_id, queue, flow_hash, flags) = (0, 0, 0, 0);
            let port = 1;
            backlog.add(&Event {
                time_ns,
                flow_hash,
                size_bytes,
                switch_id,
                port,
                queue,
                kind,
                flags,
            });
        }
        backlog.packets_without()
    }

    #[test]
    fn packets_at_line_rate_do_not_wait() {
        assert_eq!(packets_without(2_000, 10_000), Some(2_000));
        assert_eq!(packets_without(2_000, 9_000), None);
        assert_eq!(packets_without(999, 10_000), None);
    }
}
