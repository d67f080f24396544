//! A packet as ns-3 prints it: header after header, each with what it holds between parentheses.

use crate::types::FlowKey;
use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// What is known of a printed packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Packet {
    /// Bytes in the queue, link headers included.
    pub(crate) size_bytes: u32,
    /// Hash of the flow; 0 for a packet without an IP header.
    pub(crate) flow_hash: u64,
    /// Whether the IP header says so.
    pub(crate) ecn_capable: bool,
}

/// Why the size of a packet is not known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum NoSize {
    /// A header of this name, of a size that nobody said.
    Header(String),
    /// The text is not a list of headers.
    Unreadable,
}

/// Link headers and their sizes.
const LINK_HEADERS: [(&str, u32); 4] = [
    ("ns3::PppHeader", 2),
    ("ns3::EthernetHeader", 14),
    ("ns3::EthernetTrailer", 4),
    ("ns3::LlcSnapHeader", 8),
];

/// Headers that say what a packet holds.
const READ_HEADERS: [&str; 6] = [
    "Payload",
    "ns3::ArpHeader",
    "ns3::Ipv4Header",
    "ns3::Ipv6Header",
    "ns3::TcpHeader",
    "ns3::UdpHeader",
];

/// Whether the size of a header is known without being said.
pub(crate) fn has_known_size(name: &str) -> bool {
    READ_HEADERS.contains(&name) || LINK_HEADERS.iter().any(|(known, _)| *known == name)
}

/// Ethernet pads shorter payloads.
const ETHERNET_PAYLOAD: u32 = 46;

/// Reads the headers. An IP header has the size of all that it holds, so what follows it need not
/// be known; `header_bytes` has the sizes of others.
pub(crate) fn read_packet(
    text: &str,
    header_bytes: &BTreeMap<String, u32>,
) -> Result<Packet, NoSize> {
    let mut sum = Sum::default();
    let mut rest = text.trim();
    if rest.is_empty() {
        return Err(NoSize::Unreadable);
    }
    while !rest.is_empty() {
        let (item, after) = next_item(rest).ok_or(NoSize::Unreadable)?;
        sum.add(&item, header_bytes)?;
        rest = after.trim_start();
    }
    sum.packet()
}

/// One header or payload.
struct Item<'a> {
    name: &'a str,
    body: Body<'a>,
}

enum Body<'a> {
    /// What is between the parentheses.
    Printed(&'a str),
    /// A part of it: so many bytes.
    Fragment(u32),
}

fn next_item(text: &str) -> Option<(Item<'_>, &str)> {
    let (name, rest) = text.split_once(' ')?;
    if let Some(rest) = rest.strip_prefix("Fragment [") {
        let (range, after) = rest.split_once(']')?;
        let (start, end) = range.split_once(':')?;
        let bytes = end.parse::<u32>().ok()?.checked_sub(start.parse().ok()?)?;
        return Some((Item { name, body: Body::Fragment(bytes) }, after));
    }
    let inner = rest.strip_prefix('(')?;
    let mut depth = 1_u32;
    for (place, byte) in inner.bytes().enumerate() {
        match byte {
            b'(' => depth += 1,
            b')' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            let body = Body::Printed(&inner[..place]);
            return Some((Item { name, body }, &inner[place + 1..]));
        }
    }
    None
}

/// The packet so far.
#[derive(Default)]
struct Sum {
    link: u32,
    ethernet: bool,
    /// Bytes from the network header on.
    network: Option<u32>,
    loose: u32,
    unknown: Option<String>,
    flow: Option<FlowKey>,
    ecn_capable: bool,
}

impl Sum {
    fn add(&mut self, item: &Item<'_>, sizes: &BTreeMap<String, u32>) -> Result<(), NoSize> {
        let printed = match item.body {
            Body::Printed(printed) => printed,
            Body::Fragment(bytes) => {
                self.loose = self.loose.saturating_add(bytes);
                return Ok(());
            }
        };
        if let Some((_, bytes)) = LINK_HEADERS.iter().find(|(name, _)| *name == item.name) {
            self.link = self.link.saturating_add(*bytes);
            self.ethernet |= item.name == "ns3::EthernetHeader";
            return Ok(());
        }
        match item.name {
            "Payload" => {
                let bytes = between(printed, "size=", ")").and_then(|size| size.parse().ok());
                self.loose = self.loose.saturating_add(bytes.ok_or(NoSize::Unreadable)?);
            }
            "ns3::ArpHeader" if self.network.is_none() => self.network = Some(28),
            "ns3::Ipv4Header" if self.network.is_none() => {
                self.ipv4(printed).ok_or(NoSize::Unreadable)?;
            }
            "ns3::Ipv6Header" if self.network.is_none() => {
                self.ipv6(printed).ok_or(NoSize::Unreadable)?;
            }
            "ns3::TcpHeader" => self.ports(6, printed),
            "ns3::UdpHeader" => {
                let ports = printed.split_once(' ').and_then(|(_, rest)| rest.split_once(' '));
                self.ports(17, ports.map_or("", |(_, ports)| ports));
            }
            name if self.network.is_none() => match sizes.get(name) {
                Some(&bytes) => self.link = self.link.saturating_add(bytes),
                None => self.unknown = Some(self.unknown.take().unwrap_or(name.to_owned())),
            },
            _ => {}
        }
        Ok(())
    }

    /// `tos 0x0 DSCP Default ECN Not-ECT ttl 63 id 0 protocol 6 offset (bytes) 0 flags [none]
    /// length: 56 10.1.1.2 > 10.1.4.2`
    fn ipv4(&mut self, printed: &str) -> Option<()> {
        let (fields, end) = printed.split_once("length: ")?;
        let (length, addresses) = end.split_once(' ')?;
        let (source, destination) = addresses.split_once(" > ")?;
        self.network = Some(length.parse().ok()?);
        let source: Ipv4Addr = source.trim().parse().ok()?;
        let destination: Ipv4Addr = destination.trim().parse().ok()?;
        let protocol = between(fields, "protocol ", " ")?.parse().ok()?;
        self.begin_flow(source.into(), destination.into(), protocol);
        let tos = between(fields, "tos 0x", " ")?;
        self.ecn_capable = u8::from_str_radix(tos, 16).ok()? & 3 != 0;
        Some(())
    }

    /// `(Version 6 Traffic class 0x0 DSCP Default Flow Label 0x0 Payload Length 28 Next Header 17 Hop
    /// Limit 64 )2001:1::1 > 2001:2::2`
    fn ipv6(&mut self, printed: &str) -> Option<()> {
        let (fields, addresses) = printed.rsplit_once(')')?;
        let (source, destination) = addresses.split_once(" > ")?;
        let payload: u32 = between(fields, "Payload Length ", " ")?.parse().ok()?;
        self.network = Some(payload.checked_add(40)?);
        let source: Ipv6Addr = source.trim().parse().ok()?;
        let destination: Ipv6Addr = destination.trim().parse().ok()?;
        let protocol = between(fields, "Next Header ", " ")?.parse().ok()?;
        self.begin_flow(source.into(), destination.into(), protocol);
        let class = between(fields, "Traffic class 0x", " ")?;
        self.ecn_capable = u8::from_str_radix(class, 16).ok()? & 3 != 0;
        Some(())
    }

    fn begin_flow(&mut self, source: IpAddr, destination: IpAddr, protocol: u8) {
        self.flow = Some(FlowKey { source, destination, protocol, ports: (0, 0) });
    }

    /// `49153 > 9 ...`
    fn ports(&mut self, protocol: u8, printed: &str) {
        let ports = printed.split_once(" > ").and_then(|(source, rest)| {
            let destination = rest.split(' ').next()?;
            Some((source.trim().parse().ok()?, destination.parse().ok()?))
        });
        if let (Some(flow), Some(ports)) = (&mut self.flow, ports)
            && flow.protocol == protocol
        {
            flow.ports = ports;
        }
    }

    fn packet(self) -> Result<Packet, NoSize> {
        if let Some(name) = self.unknown {
            return Err(NoSize::Header(name));
        }
        let payload = self.network.unwrap_or(self.loose);
        let payload = if self.ethernet { payload.max(ETHERNET_PAYLOAD) } else { payload };
        Ok(Packet {
            size_bytes: self.link.saturating_add(payload),
            flow_hash: self.flow.map_or(0, |flow| flow.hash()),
            ecn_capable: self.ecn_capable,
        })
    }
}

/// The text after `start` and before `end`, or to the end of the text.
fn between<'a>(text: &'a str, start: &str, end: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(start)?;
    Some(rest.split_once(end).map_or(rest, |(inner, _)| inner))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const IPV4: &str = "ns3::Ipv4Header (tos 0x2 DSCP Default ECN ECT (0) ttl 63 id 11 protocol 17 \
                        offset (bytes) 0 flags [none] length: 728 10.1.1.2 > 10.1.4.2)";
    const UDP: &str = "ns3::UdpHeader (length: 708 49153 > 7)";
    const IPV6: &str = "ns3::Ipv6Header ((Version 6 Traffic class 0x0 DSCP Default Flow Label 0x0 \
                        Payload Length 1028 Next Header 17 Hop Limit 64 )2001:1::1 > 2001:2::2)";

    fn size(text: &str) -> Result<u32, NoSize> {
        let sizes = BTreeMap::from([("my::Tag".to_owned(), 6)]);
        read_packet(text, &sizes).map(|packet| packet.size_bytes)
    }

    #[test]
    fn sizes_are_link_headers_and_what_the_network_header_says() {
        let ppp = "ns3::PppHeader (Point-to-Point Protocol: IP (0x0021))";
        assert_eq!(size(&format!("{ppp} {IPV4} {UDP} Payload (size=700)")), Ok(730));
        assert_eq!(size(&format!("{ppp} {IPV4} Payload Fragment [0:500]")), Ok(730));
        assert_eq!(size(&format!("ns3::PppHeader (x) {IPV6} my::Unknown (1 (2))")), Ok(1070));
        assert_eq!(size(&format!("my::Tag (7) {IPV4}")), Ok(734));
        let ethernet = "ns3::EthernetHeader ( length/type=0x806, source=00:00:00:00:00:01)";
        let arp = "ns3::ArpHeader (request source mac: 00-06-00:00) Payload (size=18)";
        assert_eq!(size(&format!("{ethernet} {arp} ns3::EthernetTrailer (fcs=0)")), Ok(64));
        assert_eq!(size("Payload (size=100) Payload Fragment [10:15]"), Ok(105));
        let unknown = Err(NoSize::Header("my::Header".to_owned()));
        assert_eq!(size(&format!("my::Header (x) {IPV4}")), unknown);
        for text in
            ["", "x", "ns3::PppHeader (x", "Payload (size=x)", "ns3::Ipv4Header (length: x)"]
        {
            assert_eq!(size(text), Err(NoSize::Unreadable), "{text}");
        }
    }

    #[test]
    fn flows_are_hashed_and_ecn_is_seen() {
        let read = |text: &str| read_packet(text, &BTreeMap::new()).unwrap();
        let packet = read(&format!("{IPV4} {UDP}"));
        let key = FlowKey {
            source: "10.1.1.2".parse().unwrap(),
            destination: "10.1.4.2".parse().unwrap(),
            protocol: 17,
            ports: (49153, 7),
        };
        assert_eq!((packet.flow_hash, packet.ecn_capable), (key.hash(), true));
        assert_ne!(read(&format!("{IPV6} {UDP}")).flow_hash, 0);
        assert_eq!(read("Payload (size=1)").flow_hash, 0);
    }

    proptest! {
        #[test]
        fn any_text_is_read_or_refused(text in "([a-zA-Z0-9:]{1,9} |[()]|Payload \\(size=[0-9]{1,12}\\) |ns3::Ipv[46]Header \\(|length: 9 1 > 2\\)|Fragment \\[[0-9]:[0-9]\\] ){0,12}") {
            let _ = size(&text);
        }
    }
}
