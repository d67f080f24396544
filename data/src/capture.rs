//! Packets of pcap and pcapng captures.

mod draft;
mod headers;
mod output_ports;
mod packets;
mod subnets;
mod summary;

pub(crate) use draft::draft;
pub(crate) use headers::{PacketHeaders, read_headers};
pub(crate) use output_ports::{Evidence, NoOutputPorts, PortCapture, why_no_output_ports};
pub(crate) use packets::{CaptureStart, PacketFile, RawPacket, RawTime};
pub use subnets::OfSubnet;
pub use summary::{CaptureInterface, CaptureSummary, Pair};
