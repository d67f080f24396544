//! Taps that are missing: TCP acknowledges data that no capture has.

use super::sightings::is_after;
use crate::capture::Sight;
use crate::{Event, SilentPort, TapFacts};
use std::collections::BTreeMap;

/// Hosts and flows that are remembered, a power of two.
const REMEMBERED: usize = 1 << 16;
/// A flow counts once its data was acknowledged so often.
const FEW: u32 = 8;
/// A port is silent once data from behind it was acknowledged so often.
const CERTAIN: u64 = 20;

/// Watches the packets of captures in order of time.
#[derive(Default)]
pub(super) struct Taps {
    /// By hash of the address; the first that comes has the place.
    hosts: Vec<Host>,
    /// By hash of the flow; the last that comes has the place.
    flows: Vec<Flow>,
    ended: TapFacts,
}

#[derive(Clone, Copy, Default)]
struct Host {
    /// 0 if none is remembered here.
    address: u64,
    /// Whether a packet from it was captured.
    sends: bool,
    /// The switch and port at which packets for it leave.
    port: Option<(u16, u16)>,
    /// Acknowledgements of its data.
    acknowledgements: u64,
}

/// Data of a flow of TCP that is acknowledged.
#[derive(Clone, Copy, Default)]
struct Flow {
    /// 0 if none is remembered here.
    flow: u64,
    has_data: bool,
    acknowledged: Option<u32>,
    /// How often more was acknowledged.
    advances: u32,
}

impl Taps {
    /// The next packet.
    pub(super) fn add(&mut self, event: &Event, sight: &Sight) {
        let (from, to) = sight.hosts;
        if from == 0 {
            return;
        }
        if let Some(host) = self.host(from) {
            host.sends = true;
        }
        if let Some(host) = self.host(to) {
            host.port = Some((event.switch_id, event.port));
        }
        let Some(tcp) = &sight.tcp else { return };
        if tcp.sequence.0 != tcp.sequence.1 {
            self.flow(tcp.flows.0).has_data = true;
        }
        let Some(acknowledged) = tcp.acknowledged else { return };
        let flow = self.flow(tcp.flows.1);
        let more = flow.acknowledged.is_some_and(|before| is_after(acknowledged, before));
        if flow.acknowledged.is_none() || more {
            flow.acknowledged = Some(acknowledged);
        }
        flow.advances += u32::from(more);
        if more && let Some(host) = self.host(to) {
            host.acknowledgements += 1;
        }
    }

    /// What they show of data that was not captured; none without acknowledgements.
    pub(super) fn facts(&self) -> Option<TapFacts> {
        let mut facts = self.ended.clone();
        self.flows.iter().for_each(|flow| flow.count(&mut facts));
        let mut ports: BTreeMap<(u16, u16), (bool, u64)> = BTreeMap::new();
        for host in self.hosts.iter().filter(|host| host.address != 0) {
            if let Some(port) = host.port {
                let (sends, acknowledgements) = ports.entry(port).or_default();
                *sends |= host.sends;
                *acknowledgements += host.acknowledgements;
            }
        }
        let silent = |&(_, (sends, acknowledgements)): &(_, (bool, u64))| {
            !sends && acknowledgements >= CERTAIN
        };
        facts.silent_ports = ports
            .into_iter()
            .filter(silent)
            .map(|((switch_id, port), (_, acknowledgements))| SilentPort {
                switch_id,
                port,
                acknowledgements,
            })
            .collect();
        (facts.flows > 0 || !facts.silent_ports.is_empty()).then_some(facts)
    }

    /// Its place; none if another has that.
    fn host(&mut self, address: u64) -> Option<&mut Host> {
        self.hosts.resize(REMEMBERED, Host::default());
        let host = &mut self.hosts[slot(address)];
        if host.address == 0 {
            host.address = address;
        }
        (host.address == address).then_some(host)
    }

    /// Its place, from which another goes.
    fn flow(&mut self, flow: u64) -> &mut Flow {
        self.flows.resize(REMEMBERED, Flow::default());
        let known = &mut self.flows[slot(flow)];
        if known.flow != flow {
            known.count(&mut self.ended);
            *known = Flow { flow, ..Flow::default() };
        }
        known
    }
}

impl Flow {
    fn count(&self, facts: &mut TapFacts) {
        if self.advances >= FEW {
            facts.flows += 1;
            facts.flows_without_data += u64::from(!self.has_data);
        }
    }
}

fn slot(hash: u64) -> usize {
    (hash % REMEMBERED as u64) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::EventKind;
    use crate::capture::TcpSight;

    /// Hosts 1 and 2 send to each other; whose packets are captured.
    fn facts(captured: [bool; 2], packets: u32) -> Option<TapFacts> {
        let mut taps = Taps::default();
        let mut add = |from: u64, sequence: (u32, u32), acknowledged: u32| {
            let event = Event {
                time_ns: 0,
                flow_hash: 0,
                size_bytes: 100,
                switch_id: 4,
                port: (3 - from) as u16,
                queue: 0,
                kind: EventKind::Arrival,
                flags: 0,
            };
            let (flows, acknowledged) = ((from, 3 - from), Some(acknowledged));
            let tcp = Some(TcpSight { flows, sequence, acknowledged });
            if captured[from as usize - 1] {
                taps.add(&event, &Sight { hosts: (from, 3 - from), tcp, ..Sight::default() });
            }
        };
        // 1 sends data, 2 acknowledges it.
        for i in 0..packets {
            add(1, (i * 100, (i + 1) * 100), 7);
            add(2, (7, 7), (i + 1) * 100);
        }
        taps.facts()
    }

    #[test]
    fn a_port_whose_data_is_acknowledged_and_not_captured_is_silent() {
        let both = TapFacts { flows: 1, ..TapFacts::default() };
        assert_eq!(facts([true, true], 40), Some(both.clone()));
        let silent = SilentPort { switch_id: 4, port: 1, acknowledgements: 39 };
        let expected = TapFacts { flows_without_data: 1, silent_ports: vec![silent], ..both };
        assert_eq!(facts([false, true], 40), Some(expected));
        // Data without acknowledgements of others: a host that does not answer, or is not captured.
        assert_eq!(facts([true, false], 40), None);
        // Too few to be certain.
        assert_eq!(facts([false, true], 5), None);
    }
}
