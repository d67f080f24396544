//! What the first bytes of a captured packet tell of it.

use crate::capture_map::{Mac, PacketFacts};
use crate::flow_key::FlowKey;
use etherparse::{EtherType, LaxLinkExtSlice, LaxNetSlice, LaxSlicedPacket, LinkSlice};
use std::net::IpAddr;

/// Link types, as pcap numbers them (<https://www.tcpdump.org/linktypes.html>).
const NULL: u16 = 0;
const ETHERNET: u16 = 1;
const PPP: u16 = 9;
const RAW: [u16; 5] = [12, 14, 101, 228, 229];
const LOOP: u16 = 108;
const LINUX_SLL: u16 = 113;
const LINUX_SLL2: u16 = 276;

/// The name of a link type whose headers are read.
pub(super) fn link_name(link_type: u16) -> Option<&'static str> {
    Some(match link_type {
        ETHERNET => "Ethernet",
        NULL | LOOP => "loopback",
        PPP => "PPP",
        LINUX_SLL | LINUX_SLL2 => "Linux cooked",
        raw if RAW.contains(&raw) => "raw IP",
        _ => return None,
    })
}

/// IP protocols whose header begins with two ports: TCP, UDP, DCCP, SCTP, UDP-Lite.
const WITH_PORTS: [u8; 5] = [6, 17, 33, 132, 136];

/// What is known of a packet; what was not captured is not known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct PacketHeaders {
    /// What rules may ask for, except the interface.
    pub(crate) facts: PacketFacts,
    /// Who sends it, of Ethernet.
    pub(crate) source_mac: Option<Mac>,
    /// Who sends it, of IP.
    pub(crate) source_ip: Option<IpAddr>,
    /// Hash of the flow; 0 for a packet without an IP header.
    pub(crate) flow_hash: u64,
    /// Whether the IP header says so.
    pub(crate) ecn_capable: bool,
}

/// Reads the headers of a packet of this link type, as far as they were captured.
pub(crate) fn read_headers(link_type: u16, bytes: &[u8]) -> PacketHeaders {
    match slice_packet(link_type, bytes) {
        Some(packet) => of_packet(&packet),
        None => PacketHeaders::default(),
    }
}

fn slice_packet(link_type: u16, bytes: &[u8]) -> Option<LaxSlicedPacket<'_>> {
    let of_type = |ether_type: u16, payload| {
        Some(LaxSlicedPacket::from_ether_type(EtherType(ether_type), payload))
    };
    let number = |at: usize| {
        let pair = bytes.get(at..at + 2)?;
        Some(u16::from_be_bytes([pair[0], pair[1]]))
    };
    match link_type {
        ETHERNET => LaxSlicedPacket::from_ethernet(bytes).ok(),
        NULL | LOOP => LaxSlicedPacket::from_ip(bytes.get(4..)?).ok(),
        PPP => {
            // Address and control may be left out.
            let at = if bytes.starts_with(&[0xff, 0x03]) { 2 } else { 0 };
            match number(at)? {
                0x0021 => of_type(0x0800, bytes.get(at + 2..)?),
                0x0057 => of_type(0x86dd, bytes.get(at + 2..)?),
                _ => None,
            }
        }
        LINUX_SLL => of_type(number(14)?, bytes.get(16..)?),
        LINUX_SLL2 => of_type(number(0)?, bytes.get(20..)?),
        raw if RAW.contains(&raw) => LaxSlicedPacket::from_ip(bytes).ok(),
        _ => None,
    }
}

fn of_packet(packet: &LaxSlicedPacket<'_>) -> PacketHeaders {
    let mut headers = PacketHeaders::default();
    let facts = &mut headers.facts;
    if let Some(LinkSlice::Ethernet2(ethernet)) = &packet.link {
        facts.destination_mac = Some(Mac(ethernet.destination()));
        headers.source_mac = Some(Mac(ethernet.source()));
    }
    let tag = packet.link_exts.iter().find_map(|extension| match extension {
        LaxLinkExtSlice::Vlan(tag) => Some(tag),
        LaxLinkExtSlice::Macsec(_) => None,
    });
    if let Some(tag) = tag {
        facts.vlan = Some(tag.vlan_identifier().value());
        facts.pcp = Some(tag.priority_code_point().value());
    }
    let (source, destination, class): (IpAddr, IpAddr, u8) = match &packet.net {
        Some(LaxNetSlice::Ipv4(ip)) => {
            let header = ip.header();
            let class = header.slice()[1];
            (header.source_addr().into(), header.destination_addr().into(), class)
        }
        Some(LaxNetSlice::Ipv6(ip)) => {
            let header = ip.header();
            let class = header.traffic_class();
            (header.source_addr().into(), header.destination_addr().into(), class)
        }
        Some(LaxNetSlice::Arp(_)) | None => return headers,
    };
    facts.destination_ip = Some(destination);
    headers.source_ip = Some(source);
    facts.dscp = Some(class >> 2);
    headers.ecn_capable = class & 3 != 0;
    let payload = packet.net.as_ref().and_then(LaxNetSlice::ip_payload_ref);
    let protocol = payload.map_or(0, |payload| payload.ip_number.0);
    // Only the first fragment of a packet has ports, so that no fragment's count.
    let ports = payload
        .filter(|payload| WITH_PORTS.contains(&protocol) && !payload.fragmented)
        .and_then(|payload| payload.payload.first_chunk::<4>())
        .map_or((0, 0), |&[a, b, c, d]| (u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d])));
    headers.flow_hash = FlowKey { source, destination, protocol, ports }.hash();
    headers
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// UDP from port 7 to port 9, DSCP 46, ECT(0).
    const IP: [u8; 28] = [
        0x45, 0xba, 0, 28, 0, 0, 0, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 1, 2, //
        0, 7, 0, 9, 0, 8, 0, 0,
    ];

    fn framed(head: &[u8]) -> Vec<u8> {
        [head, &IP].concat()
    }

    #[test]
    fn every_link_type_leads_to_the_same_ip_header() {
        let expected = read_headers(101, &IP);
        assert_eq!(expected.facts.destination_ip, "10.0.1.2".parse().ok());
        assert_eq!(expected.source_ip, "10.0.0.1".parse().ok());
        assert_eq!((expected.facts.dscp, expected.ecn_capable), (Some(46), true));
        let key = FlowKey {
            source: "10.0.0.1".parse().unwrap(),
            destination: "10.0.1.2".parse().unwrap(),
            protocol: 17,
            ports: (7, 9),
        };
        assert_eq!(expected.flow_hash, key.hash());
        let sll = [&[0; 14][..], &[8, 0]].concat();
        let sll2 = [&[8, 0][..], &[0; 18]].concat();
        for (link, bytes) in [
            (NULL, framed(&[2, 0, 0, 0])),
            (PPP, framed(&[0, 0x21])),
            (PPP, framed(&[0xff, 3, 0, 0x21])),
            (LINUX_SLL, framed(&sll)),
            (LINUX_SLL2, framed(&sll2)),
        ] {
            assert_eq!(read_headers(link, &bytes), expected, "link type {link}");
        }
    }

    #[test]
    fn tags_and_addresses_of_ethernet_are_read() {
        let tagged = [2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 0x81, 0, 0xa0, 20, 8, 0];
        let headers = read_headers(ETHERNET, &framed(&tagged));
        let facts = headers.facts;
        assert_eq!(facts.destination_mac, Some(Mac([2, 0, 0, 0, 0, 1])));
        assert_eq!(headers.source_mac, Some(Mac([2, 0, 0, 0, 0, 2])));
        assert_eq!((facts.vlan, facts.pcp, facts.dscp), (Some(20), Some(5), Some(46)));
    }

    #[test]
    fn fragments_are_told_apart_by_addresses_only() {
        let mut first = IP;
        first[6] = 0x20;
        let mut second = IP;
        (second[7], second[20]) = (9, 77);
        let hash = |ip: &[u8]| read_headers(101, ip).flow_hash;
        assert_eq!(hash(&first), hash(&second));
        assert_ne!(hash(&first), hash(&IP));
    }

    #[test]
    fn what_was_not_captured_is_not_known() {
        for length in 0..14 {
            assert_eq!(read_headers(ETHERNET, &[8; 14][..length]), PacketHeaders::default());
        }
        assert_eq!(read_headers(105, &IP), PacketHeaders::default());
    }

    proptest! {
        #[test]
        fn any_bytes_are_read(link in prop::sample::select(vec![0, 1, 9, 101, 108, 113, 276, 7]), bytes in prop::collection::vec(any::<u8>(), 0..120)) {
            let _ = read_headers(link, &bytes);
        }
    }
}
