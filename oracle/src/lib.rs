//! Drop oracles: what a switch asks when a packet arrives, and Credence, which asks them.
//!
//! [`Table`] is a forest as a device holds it: a view of the bytes of a `.dct` file (byte by byte
//! in `docs/dct.md`) that predicts without `std`, allocation, floating point or panics.
//! `dropcast-export` writes these files; [`Layout`] says once, for both, where everything lies.
//!
//! [`Credence`] is the whole per-packet decision of that policy (Credence, Algorithm 1) in memory
//! that the caller owns: a [`VirtualLqd`] whose queue lengths are the thresholds, the safeguard, and
//! the oracle. [`Situation`] is the decision alone, for switches that keep their own books; the
//! switches of `dropcast-switch` use it, too. `docs/oracle.md` shows both.
#![no_std]

mod checksum;
mod credence;
mod decision;
mod layout;
mod table;
mod virtual_lqd;

pub use checksum::crc32;
pub use credence::Credence;
pub use decision::{Situation, Verdict};
pub use layout::{Field, Layout, MAGIC, MAX_DEPTH, ShapeError, VERSION};
pub use table::{Table, TableError};
pub use virtual_lqd::{VirtualLqd, VirtualPacket, VirtualQueue};

/// The page's programs compile.
#[cfg(doctest)]
#[doc = include_str!("../../docs/oracle.md")]
struct Documented;

/// Something that predicts whether push-out Longest Queue Drop would drop an arriving packet.
pub trait DropOracle {
    /// Whether LQD is predicted to drop the packet whose features, recorded before it is added,
    /// are `features`, in the order that the oracle was trained with.
    fn predicts_drop(&self, features: &[u32]) -> bool;
}
