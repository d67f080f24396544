//! Drop oracles, which predict for a switch whether LQD would drop an arriving packet, and
//! Credence, which uses them.
//!
//! [`Table`] is a forest on a device: a view of the bytes of a `.dct` file (layout in
//! `docs/dct.md`) that predicts without `std`, allocation, floating point or panics.
//! `dropcast-export` writes these files; [`Layout`] defines the format for both.
//!
//! [`Credence`] is the whole per-packet decision of that policy (Credence, Algorithm 1) in [`Memory`]
//! that the caller owns: virtual LQD at line rate, whose queue lengths are the thresholds, the
//! safeguard, the features, the oracle and the precision of its predictions. [`Situation`] is the
//! decision alone, for switches with their own state; those of `dropcast-switch` use it too.
//! `docs/oracle.md` shows both.
//!
//! ```
//! use dropcast_runtime::{Credence, DropOracle, Memory, PacketState, PortState, QueueState};
//! use dropcast_runtime::{Service, SwitchConstants};
//!
//! /// Predicts a drop for every packet that finds 3,000 bytes or more in its queue.
//! struct LongQueue;
//!
//! impl DropOracle for LongQueue {
//!     fn predicts_drop(&self, features: &[u32]) -> bool {
//!         features[0] >= 3_000
//!     }
//! }
//!
//! // Two ports, a buffer of 6,000 bytes, memory for 16 virtual packets.
//! let switch = SwitchConstants {
//!     queues_per_port: 1,
//!     buffer_bytes: 6_000,
//!     base_rtt_ns: 32_000,
//!     line_rate_bps: &[10_000_000_000; 2],
//!     service: Service::RoundRobin,
//!     wire_overhead_bytes: 0,
//!     transmit_ring_packets: 0,
//!     slack_bytes: 0,
//!     reserved_bytes: &[],
//!     pushable: 1,
//! };
//! let (mut ports, mut queues) = ([PortState::IDLE; 2], [QueueState::EMPTY; 2]);
//! let mut packets = [PacketState::FREE; 16];
//! let memory = Memory {
//!     ports: &mut ports,
//!     queues: &mut queues,
//!     packets: &mut packets,
//!     heard_ns: &mut [],
//!     classes: &mut [],
//!     averages: &mut [],
//!     rings: &mut [],
//!     deficits: &mut [],
//!     reserves: &mut [],
//! };
//! const QUEUE_LENGTH: u8 = 0;
//! let mut credence = Credence::with_oracle(switch, memory, &[QUEUE_LENGTH], LongQueue)?;
//!
//! let accepted = [0, 0, 0, 1].map(|port| credence.arrival(port, 0, 1_500, 0).accepts());
//! assert_eq!(accepted, [true, true, false, true]);
//! # Ok::<(), dropcast_runtime::NotReady>(())
//! ```
#![no_std]

mod average;
mod checksum;
pub mod classes;
mod credence;
mod decision;
mod drift;
mod drop_oracle;
mod flow;
mod layout;
mod memory;
mod row;
mod service;
mod switch_constants;
mod table;
mod virtual_lqd;

pub use average::Average;
pub use checksum::crc32;
pub use classes::ClassState;
pub use credence::Credence;
pub use decision::{PacketVerdict, Situation};
pub use drift::{DriftMonitor, DriftRule};
pub use drop_oracle::DropOracle;
pub use flow::{FLOW_FEATURES, FlowMemory};
pub use layout::{Field, Layout, MAGIC, MAX_DEPTH, ShapeError, VERSION};
pub use memory::{Memory, PacketState, PortState, QueueState, ReservedState};
pub use row::{Keeps, keeps};
pub use switch_constants::{NotReady, Service, SwitchConstants};
pub use table::{Table, TableError};
