//! Drop oracles: what a switch asks when a packet arrives.
//!
//! [`Table`] is a forest as a device holds it: a view of the bytes of a `.dct` file (byte by byte
//! in `docs/dct.md`) that predicts without `std`, allocation, floating point or panics.
//! `dropcast-export` writes these files; [`Layout`] says once, for both, where everything lies.
#![no_std]

mod checksum;
mod layout;
mod table;

pub use checksum::crc32;
pub use layout::{Field, Layout, MAGIC, MAX_DEPTH, ShapeError, VERSION};
pub use table::{Table, TableError};

/// Something that predicts whether push-out Longest Queue Drop would drop an arriving packet.
pub trait DropOracle {
    /// Whether LQD is predicted to drop the packet whose features, recorded before it is added,
    /// are `features`, in the order that the oracle was trained with.
    fn predicts_drop(&self, features: &[u32]) -> bool;
}
