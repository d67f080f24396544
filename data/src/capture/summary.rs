//! What the packets of a capture are, in bounded memory.

use super::headers::{PacketHeaders, read_headers};
use super::map::Mac;
use super::packets::{PacketFile, RawPacket, RawTime};
use super::subnets::{OfSubnet, by_subnet};
use super::tunnels::unwrapped;
use crate::DataError;
use ipnet::IpNet;
use std::collections::BTreeMap;
use std::net::IpAddr;

/// Pairs of addresses that are counted, at most.
const MOST_PAIRS: usize = 1 << 13;
/// Interfaces that are counted, at most.
const MOST_INTERFACES: usize = 1 << 12;

/// What the packets of a capture are.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CaptureSummary {
    /// Packets.
    pub packets: u64,
    /// Their sizes on the wire, bytes.
    pub bytes: u64,
    /// The earliest and the latest time, nanoseconds since 1970; none if no packet has a time.
    pub times_ns: Option<(u64, u64)>,
    /// Packets that are earlier than the one before.
    pub backwards: u64,
    /// Packets without a time that can be used.
    pub without_time: u64,
    /// Packets by interface.
    pub interfaces: BTreeMap<CaptureInterface, u64>,
    /// Packets by who sends them to whom: those of the first pairs that were met.
    pub pairs: BTreeMap<Pair, u64>,
    /// Packets of other pairs, which are too many.
    pub other_pairs: u64,
    /// Whether the file ends within what follows the last packet: tcpdump was killed, or its disk was full.
    pub is_cut_off: bool,
    /// The time of the last packet, nanoseconds.
    pub(super) last_ns: u64,
}

/// An interface of a capture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CaptureInterface {
    /// Its number, from 0 in each section of a pcapng file; 0 in pcap.
    pub number: u32,
    /// Its link type, as pcap numbers them.
    pub link_type: u16,
}

impl CaptureInterface {
    /// The name of its link type, where headers of packets are read of it.
    pub fn link_name(self) -> Option<&'static str> {
        super::links::link_name(self.link_type)
    }
}

/// Who sends to whom; absent what a packet does not have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Pair {
    /// IP addresses of the sender and the receiver.
    pub ips: Option<(IpAddr, IpAddr)>,
    /// Ethernet addresses of the sender and the receiver.
    pub macs: Option<(Mac, Mac)>,
    /// VLAN of the outermost tag.
    pub vlan: Option<u16>,
}

impl Pair {
    /// Whether it is for many receivers: broadcast or multicast.
    pub fn is_for_a_group(&self) -> bool {
        let ip = self.ips.is_some_and(|(_, to)| is_group(to));
        ip || self.macs.is_some_and(|(_, to)| to.is_group())
    }
}

fn is_group(address: IpAddr) -> bool {
    let broadcast = matches!(address, IpAddr::V4(address) if address.is_broadcast());
    broadcast || address.is_multicast()
}

impl CaptureSummary {
    /// Reads a capture to its end, or to where it is cut off after some packets.
    pub(crate) fn of(mut packets: PacketFile) -> Result<Self, DataError> {
        let mut summary = CaptureSummary::default();
        loop {
            match packets.next_packet() {
                Ok(Some(packet)) => {
                    let (packet, _) = unwrapped(packet);
                    summary.add(&packet, &read_headers(packet.link_type, packet.captured));
                }
                Ok(None) => return Ok(summary),
                Err(error) => {
                    summary.is_cut_off = packets.is_cut_off() && summary.packets > 0;
                    return if summary.is_cut_off { Ok(summary) } else { Err(error) };
                }
            }
        }
    }

    pub(crate) fn add(&mut self, packet: &RawPacket<'_>, headers: &PacketHeaders) {
        self.packets += 1;
        self.bytes += u64::from(packet.original_bytes);
        match packet.time {
            RawTime::Known(time_ns, _) => {
                let (first, last) = self.times_ns.unwrap_or((time_ns, time_ns));
                self.times_ns = Some((first.min(time_ns), last.max(time_ns)));
                self.backwards += u64::from(time_ns < self.last_ns);
                self.last_ns = time_ns;
            }
            RawTime::Absent | RawTime::OutOfRange => self.without_time += 1,
        }
        let (number, link_type) = (packet.interface, packet.link_type);
        count(&mut self.interfaces, CaptureInterface { number, link_type }, MOST_INTERFACES);
        let pair = Pair {
            ips: headers.source_ip.zip(headers.facts.destination_ip),
            macs: headers.source_mac.zip(headers.facts.destination_mac),
            vlan: headers.facts.vlan,
        };
        if !count(&mut self.pairs, pair, MOST_PAIRS) {
            self.other_pairs += 1;
        }
    }

    /// Packets by the /24 or /64 of an address of their pair.
    pub fn subnets(&self, of: impl Fn((IpAddr, IpAddr)) -> IpAddr) -> BTreeMap<IpNet, OfSubnet> {
        by_subnet(&self.by(|pair| pair.ips.map(&of)))
    }

    /// Packets by a property of their pair; those without it are left out.
    pub fn by<K: Ord>(&self, of: impl Fn(&Pair) -> Option<K>) -> BTreeMap<K, u64> {
        let mut counts = BTreeMap::new();
        for (pair, packets) in &self.pairs {
            if let Some(key) = of(pair) {
                *counts.entry(key).or_default() += packets;
            }
        }
        counts
    }
}

/// Counts one more of a key; false if it is a new one and there are `most`.
fn count<K: Ord>(counts: &mut BTreeMap<K, u64>, key: K, most: usize) -> bool {
    if counts.len() >= most && !counts.contains_key(&key) {
        return false;
    }
    *counts.entry(key).or_default() += 1;
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_too_much_is_counted_together() {
        let mut counts = BTreeMap::new();
        let counted: Vec<bool> = [1, 2, 1, 3].map(|key| count(&mut counts, key, 2)).to_vec();
        assert_eq!(counted, [true, true, true, false]);
        assert_eq!(counts, BTreeMap::from([(1, 2), (2, 1)]));
    }

    #[test]
    fn groups_are_known() {
        let pair = |to: &str, mac: [u8; 6]| Pair {
            ips: Some(("10.0.0.1".parse().unwrap(), to.parse().unwrap())),
            macs: Some((Mac([2; 6]), Mac(mac))),
            vlan: None,
        };
        assert!(!pair("10.0.0.2", [2; 6]).is_for_a_group());
        assert!(pair("224.0.0.1", [2; 6]).is_for_a_group());
        assert!(pair("ff02::1", [2; 6]).is_for_a_group());
        assert!(pair("255.255.255.255", [2; 6]).is_for_a_group());
        assert!(pair("10.0.0.2", [0xff; 6]).is_for_a_group());
        assert!(!Pair::default().is_for_a_group());
    }
}
