//! Policies on a switch's own queues as code: files that are the same for every switch, the switch's constants, and packets to check
//! the code with.

mod error;
mod packets;
mod shared;

pub use error::PolicyCodeError;
pub(crate) use packets::decided;
pub use packets::{PacketArrival, PolicyEvent, PolicyPackets};
pub(crate) use shared::{
    FRAME, alphas_in_128ths, c_array, c_constants, drain_bytes, in_128ths, long_bytes,
    reserved_bytes, sources, verilog_words,
};
