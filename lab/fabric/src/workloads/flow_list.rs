//! Flows from a list: a table of ours, or what other simulators read.

mod csv;
mod error;
mod hpcc;
mod htsim;
mod line;
mod list;

pub use error::FlowListError;
pub use list::FlowList;

#[cfg(test)]
mod tests;
