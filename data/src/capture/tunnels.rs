//! Packets inside others: mirrored ones, which a switch sent as ERSPAN.
//!
//! Of packets that a switch forwards inside others (VXLAN, GRE), the outer header says where they go, so these are left
//! as they are. ERSPAN: draft-foschiano-erspan-03.

use super::links::{ETHERNET, slice_packet};
use super::mirror_time::{MirrorStamp, MirrorTime};
use super::packets::RawPacket;
use etherparse::LaxNetSlice;
use std::net::IpAddr;

const GRE: u8 = 47;
/// What GRE carries: ERSPAN I and II, ERSPAN III.
const ERSPAN_2: u16 = 0x88be;
const ERSPAN_3: u16 = 0x22eb;

/// A packet that a switch mirrored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Mirrored<'a> {
    /// It, from its Ethernet header on, as far as it was captured.
    frame: &'a [u8],
    /// Its size before it was mirrored.
    bytes: u32,
    /// When, by the switch.
    time: Option<MirrorTime>,
}

/// What a packet was when it was captured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wrapping {
    /// Itself.
    Plain,
    /// Mirrored in ERSPAN, with a time stamp that can be used, or without.
    Mirror(Option<MirrorTime>),
}

/// The packet that is mirrored in this one, if it is ERSPAN; else the packet itself.
pub(crate) fn unwrapped(packet: RawPacket<'_>) -> (RawPacket<'_>, Wrapping) {
    match mirrored(packet.link_type, packet.captured) {
        None => (packet, Wrapping::Plain),
        Some(Mirrored { frame, bytes, time }) => {
            let (link_type, original_bytes) = (ETHERNET, bytes);
            let packet = RawPacket { link_type, original_bytes, captured: frame, ..packet };
            (packet, Wrapping::Mirror(time))
        }
    }
}

fn mirrored(link_type: u16, captured: &[u8]) -> Option<Mirrored<'_>> {
    if !may_be_gre(link_type, captured) {
        return None;
    }
    let packet = slice_packet(link_type, captured)?;
    let net = packet.net.as_ref()?;
    let switch: IpAddr = match net {
        LaxNetSlice::Ipv4(ip) => ip.header().source_addr().into(),
        LaxNetSlice::Ipv6(ip) => ip.header().source_addr().into(),
        LaxNetSlice::Arp(_) => return None,
    };
    let all = payload_bytes(net)?;
    let payload =
        net.ip_payload_ref().filter(|of| of.ip_number.0 == GRE && !of.fragmented)?.payload;
    let flags = number(payload, 0)?;
    let has = |flag: u16| usize::from(flags & flag != 0) * 4;
    // Checksum, key and sequence number.
    let gre_bytes = 4 + has(0x8000) + has(0x2000) + has(0x1000);
    let kind = number(payload, 2)?;
    let (head_bytes, is_cut) = match kind {
        // Type I has no sequence number, and no header of its own.
        ERSPAN_2 if flags & 0x1000 == 0 => (0, false),
        ERSPAN_2 => (8, number(payload, gre_bytes + 2)? & 0x0400 != 0),
        ERSPAN_3 => {
            let has_more = number(payload, gre_bytes + 10)? & 1 != 0;
            (12 + 8 * usize::from(has_more), number(payload, gre_bytes + 2)? & 0x0400 != 0)
        }
        _ => return None,
    };
    let frame = payload.get(gre_bytes + head_bytes..)?;
    let bytes = all.checked_sub(u32::try_from(gre_bytes + head_bytes).ok()?)?;
    // The switch may have mirrored the beginning alone.
    let bytes = if is_cut { bytes.max(bytes_by_ip(frame).unwrap_or(0)) } else { bytes };
    let stamp = (kind == ERSPAN_3).then(|| MirrorStamp::of(payload.get(gre_bytes..)?)).flatten();
    let time = stamp.map(|stamp| MirrorTime { stamp, switch });
    (bytes > 0).then_some(Mirrored { frame, bytes, time })
}

/// Rules out most packets that are not GRE at a glance: TCP and UDP behind no other headers.
fn may_be_gre(link_type: u16, captured: &[u8]) -> bool {
    let protocol = match number(captured, 12) {
        Some(0x0800) => captured.get(23),
        Some(0x86dd) => captured.get(20),
        _ => None,
    };
    link_type != ETHERNET || !matches!(protocol, Some(6 | 17))
}

/// How many bytes follow the IP header and its extensions, by the header.
fn payload_bytes(net: &LaxNetSlice<'_>) -> Option<u32> {
    let (all, extensions) = match net {
        LaxNetSlice::Ipv4(ip) => {
            let extensions = ip.extensions().auth.map_or(0, |auth| auth.slice().len());
            (ip.header().payload_len().ok()?, extensions)
        }
        LaxNetSlice::Ipv6(ip) => (ip.header().payload_length(), ip.extensions().slice().len()),
        LaxNetSlice::Arp(_) => return None,
    };
    u32::from(all).checked_sub(u32::try_from(extensions).ok()?)
}

/// How large a frame is by its IP header.
fn bytes_by_ip(frame: &[u8]) -> Option<u32> {
    let net = slice_packet(ETHERNET, frame)?.net?;
    let captured = u32::try_from(net.ip_payload_ref()?.payload.len()).ok()?;
    let missing = payload_bytes(&net)?.checked_sub(captured)?;
    u32::try_from(frame.len()).ok()?.checked_add(missing)
}

fn number(bytes: &[u8], at: usize) -> Option<u16> {
    let pair = bytes.get(at..at + 2)?;
    Some(u16::from_be_bytes([pair[0], pair[1]]))
}
