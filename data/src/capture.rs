//! Packets of pcap and pcapng captures, and to which port and queue they go.

mod draft;
mod headers;
mod links;
mod map;
mod mirror_time;
mod output_ports;
mod packets;
mod port_rules;
mod sight;
mod subnets;
mod summary;
mod tunnels;
mod udp;

pub(crate) use draft::draft;
pub(crate) use headers::{PacketHeaders, read_headers};
pub(crate) use map::PacketFacts;
pub use map::{CaptureMap, CaptureTimes, FileName, Mac, OneOrSeveral, PortRule, Prefix, QueueRule};
pub(crate) use mirror_time::{MirrorClocks, WrongStamp};
pub(crate) use output_ports::{Evidence, NoOutputPorts, PortCapture, why_no_output_ports};
pub(crate) use packets::{CaptureStart, PacketFile, RawPacket, RawTime};
pub use port_rules::{NamedCapture, PortRules};
pub(crate) use sight::{Ingress, Sight, TcpSight};
pub use subnets::OfSubnet;
pub use summary::{CaptureInterface, CaptureSummary, Pair};
pub(crate) use tunnels::{Wrapping, unwrapped};
pub(crate) use udp::udp_payload;
