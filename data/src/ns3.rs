//! Lines of ns-3's ASCII traces.

mod headers;
mod line;

pub(crate) use headers::{NoSize, has_known_size, read_packet};
pub(crate) use line::{Happened, Line, looks_like_ns3, read_line};
