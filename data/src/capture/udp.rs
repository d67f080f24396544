//! What UDP carries.

use super::links::slice_packet;
use etherparse::LaxNetSlice;

const UDP: u8 = 17;

/// Ports of a UDP packet that is no fragment, from and to, and what of its payload was captured.
pub(crate) fn udp_payload(link_type: u16, captured: &[u8]) -> Option<(u16, u16, &[u8])> {
    let packet = slice_packet(link_type, captured)?;
    let payload = packet.net.as_ref().and_then(LaxNetSlice::ip_payload_ref)?;
    if payload.ip_number.0 != UDP || payload.fragmented {
        return None;
    }
    let (&[a, b, c, d, e, f, _, _], rest) = payload.payload.split_first_chunk::<8>()?;
    let bytes = usize::from(u16::from_be_bytes([e, f])).checked_sub(8)?;
    let (from, to) = (u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d]));
    Some((from, to, &rest[..bytes.min(rest.len())]))
}
