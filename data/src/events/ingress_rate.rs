//! Links that bring more than their line rate allows: clocks of captures differ, packets are there twice, or the rules for
//! ports are wrong.
//!
//! A host behind several links (ECMP, LAG) may bring the sum of their rates. Captures show that: what is from behind one
//! port, for one port, comes by turns from several of them. Then what each capture has is watched on its own.

use super::clocks::CaptureInterface;
use crate::capture::Ingress;
use crate::{Event, SwitchSpecs};
use std::collections::{BTreeMap, BTreeSet};

/// Time stamps of software come in bundles: packets this long ahead of the line rate are none too many.
const JITTER_NS: u64 = 100_000;
/// Neither are packets that were joined, or lay in a queue of the capturing card, of this many bytes.
const JITTER_BYTES: u32 = 65_536;
/// Links that are watched.
const MOST_LINKS: usize = 1 << 16;

/// A link on which more arrives than its line rate allows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OverRate {
    /// The port of the switch at which it comes in, by the rules for captures; else the sender's address.
    pub link: String,
    /// The rate of that port; of a sender, that of the switch's fastest. Bits per second.
    pub line_rate_bps: u64,
    /// Packets that are too early.
    pub packets: u64,
    /// The most bytes that had arrived beyond what the rate allows.
    pub most_bytes: u64,
    /// When that was, nanoseconds.
    pub at_ns: u64,
    /// The capture of that packet.
    pub file: String,
}

/// Watches packets of captures in order of time.
#[derive(Default)]
pub(super) struct IngressRates {
    links: BTreeMap<Ingress, Link>,
}

/// The packets from behind a port, or of a sender.
struct Link {
    /// Number of the port whose rate counts.
    port: usize,
    jitter_ns: u64,
    whole: Line,
    /// By capture; of ports alone.
    members: BTreeMap<CaptureInterface, Line>,
    /// By output port: where the last packet was captured, and where others before.
    outputs: BTreeMap<u16, (CaptureInterface, BTreeSet<CaptureInterface>)>,
    /// Whether it is several links.
    is_several: bool,
}

/// Packets, one after the other.
#[derive(Clone, Copy, Default)]
struct Line {
    busy_until_ns: u64,
    packets: u64,
    most_ahead_ns: u64,
    at_ns: u64,
    file: usize,
}

impl Line {
    fn add(&mut self, time_ns: u64, file: usize, (wire_ns, jitter_ns): (u64, u64)) {
        let ahead_ns = self.busy_until_ns.saturating_sub(time_ns);
        if ahead_ns > jitter_ns {
            self.packets += 1;
            if ahead_ns > self.most_ahead_ns {
                (self.most_ahead_ns, self.at_ns, self.file) = (ahead_ns, time_ns, file);
            }
        }
        self.busy_until_ns = self.busy_until_ns.max(time_ns).saturating_add(wire_ns);
    }
}

impl Link {
    /// What counts: all its packets, or the worst of its links and the packets of all of these.
    fn line(&self) -> Line {
        if !self.is_several {
            return self.whole;
        }
        let worst = self.members.values().max_by_key(|line| line.most_ahead_ns);
        let packets = self.members.values().map(|line| line.packets).sum();
        Line { packets, ..worst.copied().unwrap_or_default() }
    }

    /// The next packet, which goes to this port.
    fn meet(&mut self, output: u16, place: CaptureInterface) {
        let (last, left) = self.outputs.entry(output).or_insert((place, BTreeSet::new()));
        if *last != place {
            left.insert(*last);
            self.is_several |= left.contains(&place);
            *last = place;
        }
    }
}

impl IngressRates {
    /// The next packet, captured at this place.
    pub(super) fn add(
        &mut self,
        event: &Event,
        place: CaptureInterface,
        ingress: Ingress,
        specs: &SwitchSpecs,
    ) {
        let Some(spec) = specs.get(ingress.switch_id()) else { return };
        if !self.links.contains_key(&ingress) {
            if self.links.len() >= MOST_LINKS {
                return;
            }
            let fastest =
                || (0..spec.ports()).max_by_key(|&port| spec.line_rate_bps[port]).unwrap_or(0);
            let port = ingress.port().map_or_else(fastest, usize::from);
            if port >= spec.ports() {
                return;
            }
            let jitter_ns = JITTER_NS + spec.wire_time_ns(port, JITTER_BYTES);
            let link = Link {
                port,
                jitter_ns,
                whole: Line::default(),
                members: BTreeMap::new(),
                outputs: BTreeMap::new(),
                is_several: false,
            };
            self.links.insert(ingress, link);
        }
        let Some(link) = self.links.get_mut(&ingress) else { return };
        let times_ns = (spec.wire_time_ns(link.port, event.size_bytes), link.jitter_ns);
        link.whole.add(event.time_ns, place.0, times_ns);
        if ingress.port().is_some() {
            if !link.is_several {
                link.meet(event.port, place);
            }
            let member = link.members.entry(place).or_default();
            member.add(event.time_ns, place.0, times_ns);
        }
    }

    /// Packets that are too early, on all links.
    pub(super) fn packets(&self) -> u64 {
        self.links.values().map(|link| link.line().packets).sum()
    }

    /// The links with such packets, those that are most ahead first; files have these names.
    pub(super) fn over(&self, specs: &SwitchSpecs, files: &[&str]) -> Vec<OverRate> {
        let lines = self.links.iter().map(|(ingress, link)| (ingress, link.port, link.line()));
        let mut over: Vec<_> = lines.filter(|(_, _, line)| line.packets > 0).collect();
        over.sort_by_key(|(_, _, line)| std::cmp::Reverse(line.most_ahead_ns));
        let over_rates = over.into_iter().filter_map(|(ingress, port, link)| {
            let line_rate_bps = *specs.get(ingress.switch_id())?.line_rate_bps.get(port)?;
            let bits = u128::from(link.most_ahead_ns) * u128::from(line_rate_bps) / 1_000_000_000;
            Some(OverRate {
                link: ingress.to_string(),
                line_rate_bps,
                packets: link.packets,
                most_bytes: u64::try_from(bits / 8).unwrap_or(u64::MAX),
                at_ns: link.at_ns,
                file: files.get(link.file).map(|file| (*file).to_owned()).unwrap_or_default(),
            })
        });
        over_rates.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{EventKind, SwitchSpec};

    /// Packets of 1,250 bytes, 1 us at 10 Gbps, of one sender to two ports by turns, those to port 1 late by `skew_ns`;
    /// every `copy`th twice.
    fn over(gap_ns: u64, skew_ns: u64, copy: u64) -> Vec<OverRate> {
        let specs = SwitchSpecs::Same(SwitchSpec::uniform(2, 10_000_000_000, 100_000, 10_000));
        let event = |time_ns, port: u16| Event {
            time_ns,
            flow_hash: 0,
            size_bytes: 1_250,
            switch_id: 0,
            port,
            queue: 0,
            kind: EventKind::Arrival,
            flags: 0,
        };
        let mut events = Vec::new();
        for i in 0..4_000_u64 {
            // A millisecond for one port, then for the other.
            let port = (i / 1_000 % 2) as u16;
            let event = event(i * gap_ns + u64::from(port) * skew_ns, port);
            events.push(event);
            events.extend((copy > 0 && i % copy == 0).then_some(event));
        }
        events.sort_by_key(|event| event.time_ns);
        let mut rates = IngressRates::default();
        let ingress = Ingress::Source(0, [10, 0, 0, 1].into());
        events
            .iter()
            .for_each(|event| rates.add(event, (usize::from(event.port), 0), ingress, &specs));
        let over = rates.over(&specs, &["a.pcap", "b.pcap"]);
        assert_eq!(rates.packets(), over.iter().map(|over| over.packets).sum::<u64>());
        over
    }

    #[test]
    fn a_link_at_line_rate_brings_no_more_than_that() {
        assert_eq!(over(1_000, 0, 0), []);
        assert_eq!(over(1_200, 0, 10), []);
    }

    #[test]
    fn clocks_that_differ_and_copies_are_more_than_a_link_brings() {
        // Two captures overlap by 200 us: as much as the link brings in that time.
        let skewed = over(1_000, 200_000, 0);
        assert_eq!(
            (skewed[0].link.as_str(), skewed[0].line_rate_bps),
            ("10.0.0.1", 10_000_000_000)
        );
        assert!((245_000..=251_250).contains(&skewed[0].most_bytes), "{skewed:?}");
        // A tenth more than fits in 4 ms.
        let copied = over(1_000, 0, 10);
        assert!((495_000..=501_250).contains(&copied[0].most_bytes), "{copied:?}");
        assert!((3_990_000..4_000_000).contains(&copied[0].at_ns), "{copied:?}");
        assert_eq!(copied[0].file, "b.pcap");
    }
}
