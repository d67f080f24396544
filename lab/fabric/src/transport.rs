//! Transports: a sender's reaction to acknowledgements, marks and losses (`lab/notes/fabric.md`).
//!
//! Window-based transports share one [`Sender`], loss recovery as ns-3's `TcpSocketBase` does it,
//! and differ in their [`CongestionControl`], one file each. An unresponsive sender has none.

mod congestion_control;
mod cubic;
mod dcqcn;
mod dctcp;
mod hpcc;
mod new_reno;
mod power_tcp;
mod rack;
mod rate_reduction;
mod receiver;
mod registry;
mod round_trip;
mod scoreboard;
mod sender;
mod theta_power_tcp;
mod timely;
mod tuning;

pub use congestion_control::{CongestionControl, Feedback, Hop, Window};
pub(crate) use receiver::{Receiver, SackBlocks};
pub use registry::Transport;
pub(crate) use sender::{Ack, Kept, Segment, Sender};
pub use tuning::{Recovery, Ticks, Tuning};
