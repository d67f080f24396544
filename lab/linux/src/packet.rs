//! TCP over IPv4, as TUN devices give it.

use etherparse::{Ipv4Header, Ipv4HeaderSlice, TcpHeaderSlice};

/// What the testbed needs to know of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// The last 16 bits of the sender's address.
    pub from: u16,
    /// The last 16 bits of the receiver's address.
    pub to: u16,
    /// The sender's port.
    pub from_port: u16,
    /// The receiver's port.
    pub to_port: u16,
    /// Sequence number of the first byte.
    pub sequence: u32,
    /// Payload, bytes. 0: an acknowledgement or a handshake.
    pub payload_bytes: u32,
    /// Whether it opens a connection: its sequence number is the one before the first byte's.
    pub is_syn: bool,
    /// Whether it may be marked instead of dropped (ECT or CE, RFC 3168).
    pub is_ecn_capable: bool,
}

impl Header {
    /// Reads the headers of a packet; `None` if it is not a whole packet of TCP over IPv4.
    pub fn read(packet: &[u8]) -> Option<Header> {
        let ip = Ipv4HeaderSlice::from_slice(packet).ok()?;
        let header_bytes = ip.slice().len();
        let tcp = TcpHeaderSlice::from_slice(packet.get(header_bytes..)?).ok()?;
        let headers_bytes = header_bytes + tcp.slice().len();
        let is_whole = usize::from(ip.total_len()) == packet.len() && ip.protocol().0 == 6;
        let end = |address: [u8; 4]| u16::from_be_bytes([address[2], address[3]]);
        is_whole.then(|| Header {
            from: end(ip.source()),
            to: end(ip.destination()),
            from_port: tcp.source_port(),
            to_port: tcp.destination_port(),
            sequence: tcp.sequence_number(),
            payload_bytes: (packet.len() - headers_bytes) as u32,
            is_syn: tcp.syn(),
            is_ecn_capable: ip.ecn().value() != 0,
        })
    }
}

/// Marks a packet that is capable of ECN "congestion experienced". TCP's checksum does not cover the mark, IP's does.
pub fn mark(packet: &mut [u8]) {
    packet[1] |= 0b11;
    if let Ok((header, _)) = Ipv4Header::from_slice(packet) {
        packet[10..12].copy_from_slice(&header.calc_header_checksum().to_be_bytes());
    }
}
