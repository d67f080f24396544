//! Drop oracles, which predict for a switch whether LQD would drop an arriving packet, and
//! Credence, which uses them.
//!
//! [`Table`] is a forest on a device: a view of the bytes of a `.dct` file (layout in
//! `docs/dct.md`) that predicts without `std`, allocation, floating point or panics.
//! `dropcast-export` writes these files; [`Layout`] defines the format for both.
//!
//! [`Credence`] is the whole per-packet decision of that policy (Credence, Algorithm 1) in memory
//! that the caller owns: a [`VirtualLqd`] whose queue lengths are the thresholds, the safeguard, and
//! the oracle. [`Situation`] is the decision alone, for switches with their own state; those of
//! `dropcast-switch` use it too. `docs/oracle.md` shows both.
//!
//! ```
//! use dropcast_oracle::{Credence, DropOracle, VirtualLqd, VirtualPacket, VirtualQueue};
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
//! let (mut queues, mut lengths) = ([VirtualQueue::EMPTY; 2], [0; 2]);
//! let mut packets = [VirtualPacket::FREE; 16];
//! let lqd = VirtualLqd::new(6_000, &mut queues, &mut packets);
//! let mut credence = Credence::new(2, &mut lengths, lqd, LongQueue);
//!
//! let accepted = [0, 0, 0, 1].map(|queue| {
//!     let features = [credence.lqd().queue_bytes(queue)];
//!     credence.arrives(queue, 1_500, &features, |_, _| {}).accepts()
//! });
//! assert_eq!(accepted, [true, true, false, true]);
//! ```
#![no_std]

mod checksum;
mod credence;
mod decision;
mod drift;
mod drop_oracle;
mod layout;
mod table;
mod virtual_lqd;

pub use checksum::crc32;
pub use credence::Credence;
pub use decision::{Situation, Verdict};
pub use drift::{DriftMonitor, DriftRule};
pub use drop_oracle::DropOracle;
pub use layout::{Field, Layout, MAGIC, MAX_DEPTH, ShapeError, VERSION};
pub use table::{Table, TableError};
pub use virtual_lqd::{VirtualLqd, VirtualPacket, VirtualQueue};

/// The page's programs compile.
#[cfg(doctest)]
#[doc = include_str!("../../docs/oracle.md")]
struct Documented;
