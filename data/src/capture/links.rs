//! Link types, and where a packet's IP header begins on them.

use etherparse::{EtherType, LaxSlicedPacket};

const MPLS: [u16; 2] = [0x8847, 0x8848];
/// Labels of a packet, at most.
const MOST_LABELS: usize = 16;

/// Link types, as pcap numbers them (<https://www.tcpdump.org/linktypes.html>).
pub(super) const NULL: u16 = 0;
pub(crate) const ETHERNET: u16 = 1;
pub(super) const PPP: u16 = 9;
const RAW: [u16; 5] = [12, 14, 101, 228, 229];
const LOOP: u16 = 108;
pub(super) const LINUX_SLL: u16 = 113;
pub(super) const LINUX_SLL2: u16 = 276;

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

/// The headers of a packet, as far as they were captured; under MPLS labels (RFC 3032), the IP header there.
pub(super) fn slice_packet(link_type: u16, bytes: &[u8]) -> Option<LaxSlicedPacket<'_>> {
    let mut packet = slice_plain(link_type, bytes)?;
    if let Some(labelled) = under_labels(&packet) {
        packet.net = labelled.net;
    }
    Some(packet)
}

/// The IP packet under MPLS labels, if there is one.
fn under_labels<'a>(packet: &LaxSlicedPacket<'a>) -> Option<LaxSlicedPacket<'a>> {
    let ether = packet.ether_payload()?;
    if !MPLS.contains(&ether.ether_type.0) {
        return None;
    }
    let labels = ether.payload.chunks_exact(4).take(MOST_LABELS);
    let last = labels.into_iter().position(|label| label[2] & 1 == 1)?;
    LaxSlicedPacket::from_ip(&ether.payload[4 * (last + 1)..]).ok()
}

fn slice_plain(link_type: u16, bytes: &[u8]) -> Option<LaxSlicedPacket<'_>> {
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
