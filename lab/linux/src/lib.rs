//! Linux's own TCP through a switch of this repository (`lab/notes/linux.md`).
//!
//! Each server is a network namespace with a TUN device. What its TCP sends is read from the device, passes links and the
//! [`dropcast_switch::Switch`] in the kernel's time, and is written to the receiver's device. One thread, one loop.

mod hosts;
mod network;
mod packet;
mod settings;
mod testbed;

pub use network::{AnyModel, Network, SwitchCounts, WirePacket};
pub use packet::{Header, mark};
pub use settings::Settings;
pub use testbed::{RunOutcome, run};
