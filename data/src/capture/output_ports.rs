//! Whether captures can each hold the packets for one output port.

use super::map::Mac;
use super::summary::{CaptureSummary, Pair};
use std::collections::BTreeMap;
use std::fmt::Display;

/// A capture that is taken for the packets of one port.
#[derive(Clone, Copy)]
pub(crate) struct PortCapture<'a> {
    /// What errors call it.
    pub(crate) file: &'a str,
    /// Its name without its folder.
    pub(crate) name: &'a str,
    pub(crate) port: u16,
    pub(crate) summary: &'a CaptureSummary,
}

/// What shows that captures do not hold the packets for one port each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NoOutputPorts {
    /// The place of the capture that shows it best.
    pub(crate) at: usize,
    pub(crate) problem: String,
    pub(crate) kind: Evidence,
}

/// Which kind of evidence it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Evidence {
    /// Packets go both ways in one capture.
    BothDirections,
    /// Packets for one address are in several captures: they were captured where they came in.
    SharedDestinations,
    /// Packets do not queue.
    NoBacklog,
}

/// Evidence is at least one packet of so many: switches flood what they do not know.
const ONE_OF: u64 = 100;

/// Why the captures cannot be those of output ports, if they cannot. `without_backlog` is how many packets there
/// are, if hardly one of them waits at its port.
pub(crate) fn why_no_output_ports(
    captures: &[PortCapture<'_>],
    without_backlog: Option<u64>,
) -> Option<NoOutputPorts> {
    let ips = |pair: &Pair| pair.ips.filter(|_| !pair.is_for_a_group());
    // What goes to a router has its Ethernet address, whatever the port it leaves at.
    let without_ip = |pair: &Pair| pair.ips.is_none() && !pair.is_for_a_group();
    // Made-up frames often have an address of zeros, which is nobody's.
    let macs = |pair: &Pair| pair.macs.filter(|(_, to)| without_ip(pair) && *to != Mac([0; 6]));
    both_directions(captures, ips)
        .or_else(|| both_directions(captures, macs))
        .or_else(|| shared_destinations(captures, |pair| Some(ips(pair)?.1)))
        .or_else(|| shared_destinations(captures, |pair| Some(macs(pair)?.1)))
        .or_else(|| no_backlog(captures, without_backlog))
}

/// What is for a host leaves at one port, what it sends comes in there: no port sends both.
fn both_directions<K: Ord + Copy + Display>(
    captures: &[PortCapture<'_>],
    of: impl Fn(&Pair) -> Option<(K, K)>,
) -> Option<NoOutputPorts> {
    captures.iter().enumerate().find_map(|(at, capture)| {
        let pairs = capture.summary.by(&of);
        let known: u64 = pairs.values().sum();
        let back = |&(from, to): &(K, K)| if from == to { None } else { pairs.get(&(to, from)) };
        let both: BTreeMap<(K, K), u64> = pairs
            .iter()
            .filter_map(|(pair, &there)| Some((*pair, there.min(*back(pair)?))))
            .collect();
        let (&(one, other), _) = both.iter().max_by_key(|(_, packets)| **packets)?;
        is_evidence(both.values().sum(), known).then(|| NoOutputPorts {
            at,
            problem: format!(
                "holds both directions between {one} and {other}, but only one of them leaves at one port"
            ),
            kind: Evidence::BothDirections,
        })
    })
}

/// What is for a host leaves at one port, so it is in one capture.
fn shared_destinations<K: Ord + Copy + Display>(
    captures: &[PortCapture<'_>],
    of: impl Fn(&Pair) -> Option<K>,
) -> Option<NoOutputPorts> {
    let mut destinations: BTreeMap<K, Vec<(u64, usize)>> = BTreeMap::new();
    for (at, capture) in captures.iter().enumerate() {
        for (address, packets) in capture.summary.by(&of) {
            destinations.entry(address).or_default().push((packets, at));
        }
    }
    let sum = |of: &[(u64, usize)]| of.iter().map(|(packets, _)| packets).sum::<u64>();
    let elsewhere = |of: &[(u64, usize)]| {
        sum(of) - of.iter().map(|(packets, _)| *packets).max().unwrap_or_default()
    };
    let known = destinations.values().map(|of| sum(of)).sum();
    let foreign = destinations.values().map(|of| elsewhere(of)).sum();
    let (address, of) = destinations.iter().max_by_key(|(_, of)| elsewhere(of))?;
    let &(_, at) = of.iter().max_by_key(|(packets, at)| (*packets, std::cmp::Reverse(*at)))?;
    let others = match of.len() - 1 {
        1 => "does another capture".to_owned(),
        others => format!("do {others} other captures"),
    };
    is_evidence(foreign, known).then(|| NoOutputPorts {
        at,
        problem: format!(
            "holds packets for {address}, and so {others}, but what is for one address leaves at one port: \
             these captures are not of one output port each, so their order says no port"
        ),
        kind: Evidence::SharedDestinations,
    })
}

fn no_backlog(captures: &[PortCapture<'_>], without: Option<u64>) -> Option<NoOutputPorts> {
    let packets = without.filter(|_| captures.len() > 1)?;
    Some(NoOutputPorts {
        at: 0,
        problem: format!(
            "is one of {} captures taken for output ports by their order, but hardly one of {packets} packets \
             meets another that waits at its port: they were captured behind the buffer, or each where it came in",
            captures.len()
        ),
        kind: Evidence::NoBacklog,
    })
}

fn is_evidence(packets: u64, known: u64) -> bool {
    packets > 0 && packets.saturating_mul(ONE_OF) >= known
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capture::Mac;
    use std::net::IpAddr;

    /// Packets from one host to another; host N has the address 10.0.0.N and sends to a router.
    fn capture(pairs: &[(u8, u8, u64)]) -> CaptureSummary {
        let ip = |host| IpAddr::from([10, 0, 0, host]);
        let mac = |host| Mac([2, 0, 0, 0, 0, host]);
        let pair = |&(from, to, packets): &(u8, u8, u64)| {
            let ips = Some((ip(from), ip(to)));
            (Pair { ips, macs: Some((mac(from), mac(to))), vlan: None }, packets)
        };
        CaptureSummary { pairs: pairs.iter().map(pair).collect(), ..CaptureSummary::default() }
    }

    fn found(captures: &[CaptureSummary], without: Option<u64>) -> Option<(usize, Evidence)> {
        let of_port = |(port, summary)| PortCapture { file: "x", name: "x", port, summary };
        let captures: Vec<_> = (0..).zip(captures).map(of_port).collect();
        why_no_output_ports(&captures, without).map(|found| (found.at, found.kind))
    }

    #[test]
    fn captures_by_destination_are_of_output_ports() {
        let captures = [capture(&[(1, 5, 90), (2, 5, 80)]), capture(&[(1, 6, 70), (5, 6, 4)])];
        assert_eq!(found(&captures, None), None);
        assert_eq!(found(&captures, Some(1_000)), Some((0, Evidence::NoBacklog)));
        assert_eq!(found(&captures[..1], Some(1_000)), None, "one capture is noted, not refused");
        assert_eq!(found(&[], None), None);
    }

    #[test]
    fn a_destination_in_two_captures_is_evidence() {
        let captures = [capture(&[(1, 5, 900), (1, 6, 10)]), capture(&[(2, 5, 80), (2, 6, 900)])];
        assert_eq!(found(&captures, None), Some((0, Evidence::SharedDestinations)));
        let flooded = [capture(&[(1, 5, 9_000)]), capture(&[(2, 6, 9_000), (1, 5, 20)])];
        assert_eq!(found(&flooded, None), None, "a switch floods what it does not know");
    }

    #[test]
    fn a_shared_ethernet_address_is_evidence_without_ip() {
        let routed = |keep_ips: bool| {
            [(1, 5, 90), (2, 6, 80)].map(|pair| {
                let routed = |(pair, packets): (Pair, u64)| {
                    let macs = pair.macs.map(|(from, _)| (from, Mac([2; 6])));
                    (Pair { macs, ips: pair.ips.filter(|_| keep_ips), vlan: None }, packets)
                };
                let pairs = capture(&[pair]).pairs.into_iter().map(routed).collect();
                CaptureSummary { pairs, ..CaptureSummary::default() }
            })
        };
        assert_eq!(found(&routed(true), None), None);
        assert_eq!(found(&routed(false), None), Some((0, Evidence::SharedDestinations)));
    }

    #[test]
    fn both_directions_in_a_capture_are_evidence() {
        let captures = [capture(&[(1, 5, 90)]), capture(&[(1, 6, 70), (6, 1, 35)])];
        assert_eq!(found(&captures, None), Some((1, Evidence::BothDirections)));
        assert_eq!(found(&captures[1..], None), Some((0, Evidence::BothDirections)));
    }
}
