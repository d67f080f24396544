//! What distinguishes one packet from another, and when it must have been sent: what finds duplicates and clocks that differ.

use crate::random::uniform;
use std::fmt;
use std::net::IpAddr;

/// Purpose of the hash.
const SEED: u64 = 0x7369_6768;
const TCP: u8 = 6;

/// What a captured packet says of itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sight {
    /// A hash of what two packets do not share, unless one is a copy of the other; 0 if the packet has none: without
    /// an IP header, or with neither an IP ID nor a TCP payload.
    pub(crate) identity: u64,
    /// Of TCP packets that are no fragments.
    pub(crate) tcp: Option<TcpSight>,
    /// Of IPv4; 0 if it has none.
    pub(crate) ip_id: u16,
    /// Bytes after the IP header.
    pub(crate) payload_bytes: u16,
    /// Hashes of the addresses that it is from and for; 0 without an IP header.
    pub(crate) hosts: (u64, u64),
    /// The link on which it came in.
    pub(crate) ingress: Option<Ingress>,
}

/// The link on which a packet came into the switch, as far as it is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Ingress {
    /// The port of a switch behind which its sender is, by the rules for destinations.
    Port(u16, u16),
    /// That of a sender at a switch, whichever port it is behind.
    Source(u16, IpAddr),
}

impl Ingress {
    /// The switch.
    pub(crate) fn switch_id(self) -> u16 {
        match self {
            Ingress::Port(switch_id, _) | Ingress::Source(switch_id, _) => switch_id,
        }
    }

    /// The port, if it is known.
    pub(crate) fn port(self) -> Option<u16> {
        match self {
            Ingress::Port(_, port) => Some(port),
            Ingress::Source(..) => None,
        }
    }
}

impl fmt::Display for Ingress {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Ingress::Port(_, port) => write!(out, "port {port}"),
            Ingress::Source(_, address) => write!(out, "{address}"),
        }
    }
}

/// Sequence numbers of a TCP packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TcpSight {
    /// Hash of its flow, and of the flow the other way.
    pub(crate) flows: (u64, u64),
    /// Its first byte, and the byte after its last; equal without bytes. SYN and FIN are bytes.
    pub(crate) sequence: (u32, u32),
    /// The byte that its sender expects next.
    pub(crate) acknowledged: Option<u32>,
}

/// What is known of a packet's IP header.
pub(crate) struct IpFacts<'a, R> {
    pub(crate) protocol: u8,
    /// 0 of IPv6, which has none.
    pub(crate) id: u16,
    /// Place among the fragments of a packet, and whether more follow.
    pub(crate) fragment: u16,
    /// Bytes after the IP header.
    pub(crate) payload_bytes: u16,
    /// Those of them that were captured.
    pub(crate) payload: &'a [u8],
    /// Hash of the flow, and that of the flow the other way, which only TCP needs.
    pub(crate) flows: (u64, R),
}

impl Sight {
    /// What a packet says, as far as it was captured.
    pub(crate) fn of<R: Fn() -> u64>(ip: &IpFacts<'_, R>) -> Self {
        let tcp = (ip.protocol == TCP && ip.fragment == 0).then(|| TcpSight::of(ip)).flatten();
        let has_bytes = tcp.is_some_and(|tcp| tcp.sequence.0 != tcp.sequence.1);
        let (ip_id, payload_bytes) = (ip.id, ip.payload_bytes);
        if ip.id == 0 && !has_bytes {
            return Sight { identity: 0, tcp, ip_id, payload_bytes, hosts: (0, 0), ingress: None };
        }
        let word = |at: usize| {
            let mut bytes = [0; 8];
            let found = ip.payload.get(at..).unwrap_or(&[]);
            let count = found.len().min(8);
            bytes[..count].copy_from_slice(&found[..count]);
            u64::from_be_bytes(bytes)
        };
        let header = u64::from(ip.id) << 48
            | u64::from(ip.fragment) << 32
            | u64::from(ip.payload_bytes) << 16
            | u64::from(ip.protocol);
        // Ports, sequence numbers, flags and checksum: 20 bytes of TCP, 8 of UDP and a few of its payload.
        let parts = [ip.flows.0, header, word(0), word(8), word(16) >> 32];
        let identity = uniform(SEED, &parts).max(1);
        Sight { identity, tcp, ip_id, payload_bytes, hosts: (0, 0), ingress: None }
    }
}

/// A hash of an address, never 0.
pub(crate) fn host_hash(address: IpAddr) -> u64 {
    let bits = match address {
        IpAddr::V4(address) => u128::from(address.to_bits()),
        IpAddr::V6(address) => address.to_bits(),
    };
    uniform(SEED, &[(bits >> 64) as u64, bits as u64]).max(1)
}

impl TcpSight {
    fn of<R: Fn() -> u64>(ip: &IpFacts<'_, R>) -> Option<Self> {
        let header = ip.payload.first_chunk::<20>()?;
        let number = |at: usize| {
            u32::from_be_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]])
        };
        let (flags, header_bytes) = (header[13], u32::from(header[12] >> 4) * 4);
        let bytes = u32::from(ip.payload_bytes).checked_sub(header_bytes)?;
        let [fin, syn, ack] = [1, 2, 16].map(|flag| flags & flag != 0);
        let first = number(4);
        let next =
            first.wrapping_add(bytes).wrapping_add(u32::from(syn)).wrapping_add(u32::from(fin));
        Some(TcpSight {
            flows: (ip.flows.0, (ip.flows.1)()),
            sequence: (first, next),
            acknowledged: ack.then(|| number(8)),
        })
    }
}
