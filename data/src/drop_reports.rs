//! Reports of packets that the real switch dropped, and their packets in captures (`docs/drops.md`).

mod cause;
mod files;
mod join;
mod report;
mod sflow;
mod sflow_capture;
mod table;
mod totals;

pub use files::DropReports;
pub(crate) use join::{DropJoin, JoinPacket};
