//! Packets of pcap and pcapng captures.

mod headers;
mod packets;

pub(crate) use headers::{PacketHeaders, read_headers};
pub(crate) use packets::{CaptureStart, PacketFile, RawPacket, RawTime};
