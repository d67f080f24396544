//! Lines of ns-3's ASCII traces, and which devices are which ports.

mod headers;
mod line;
mod map;

pub(crate) use headers::{NoSize, read_packet};
pub(crate) use line::{Happened, Line, looks_like_ns3, read_line};
pub use map::{Ns3Map, Ns3Port};
