//! What the first bytes of a captured packet say of it.

use super::links::slice_packet;
use super::map::{Mac, PacketFacts};
use super::sight::{IpFacts, Sight, host_hash};
use crate::types::FlowKey;
use etherparse::{LaxLinkExtSlice, LaxNetSlice, LinkSlice};
use std::net::IpAddr;

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
    /// What distinguishes it from others.
    pub(crate) sight: Sight,
}

/// Reads the headers of a packet of this link type, as far as they were captured.
pub(crate) fn read_headers(link_type: u16, bytes: &[u8]) -> PacketHeaders {
    let Some(packet) = slice_packet(link_type, bytes) else { return PacketHeaders::default() };
    let net = packet.net.as_ref();
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
    let (source, destination, class, about): (IpAddr, IpAddr, u8, _) = match net {
        Some(LaxNetSlice::Ipv4(ip)) => {
            let header = ip.header();
            let class = header.slice()[1];
            let fragment = u16::from_be_bytes([header.slice()[6], header.slice()[7]]) & 0x3fff;
            let about = (header.identification(), fragment, header.payload_len().unwrap_or(0));
            (header.source_addr().into(), header.destination_addr().into(), class, about)
        }
        Some(LaxNetSlice::Ipv6(ip)) => {
            let header = ip.header();
            let class = header.traffic_class();
            // With extensions it is not known how many bytes TCP has: that is taken for a fragment.
            let follows = net.and_then(LaxNetSlice::ip_payload_ref);
            let is_plain = follows.is_some_and(|payload| payload.ip_number == header.next_header());
            let about = (0, u16::from(!is_plain), header.payload_length());
            (header.source_addr().into(), header.destination_addr().into(), class, about)
        }
        Some(LaxNetSlice::Arp(_)) | None => return headers,
    };
    facts.destination_ip = Some(destination);
    headers.source_ip = Some(source);
    facts.dscp = Some(class >> 2);
    headers.ecn_capable = class & 3 != 0;
    let payload = net.and_then(LaxNetSlice::ip_payload_ref);
    let protocol = payload.map_or(0, |payload| payload.ip_number.0);
    // Only the first fragment of a packet has ports, so that no fragment's count.
    let ports = payload
        .filter(|payload| WITH_PORTS.contains(&protocol) && !payload.fragmented)
        .and_then(|payload| payload.payload.first_chunk::<4>())
        .map_or((0, 0), |&[a, b, c, d]| (u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d])));
    let key = FlowKey { source, destination, protocol, ports };
    headers.flow_hash = key.hash();
    let (id, fragment, payload_bytes) = about;
    headers.sight = Sight::of(&IpFacts {
        protocol,
        id,
        fragment,
        payload_bytes,
        payload: payload.map_or(&[], |payload| payload.payload),
        flows: (headers.flow_hash, || key.reversed().hash()),
    });
    headers.sight.hosts = (host_hash(source), host_hash(destination));
    headers
}

#[cfg(test)]
mod tests {
    use super::super::links::{ETHERNET, LINUX_SLL, LINUX_SLL2, NULL, PPP};
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
    fn fragments_differ_by_addresses_only() {
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
