//! Integer histograms of the nodes of a level: how many rows of each class are in each bin of each
//! feature. Sums of integers, so the order of rows and threads leaves no trace.

mod cells;
mod count_level;
mod counted;
mod node_histogram;
mod quad;
mod root;

pub(crate) use count_level::count_level;
pub(crate) use counted::{Counted, CountedQuad};
pub(crate) use node_histogram::{Count, NodeHistogram};
