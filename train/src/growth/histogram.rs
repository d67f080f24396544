//! Integer histograms of the nodes of a level: the number of rows of each class in each bin of each
//! feature. Integer sums do not depend on the order of rows and threads.

mod cells;
mod count_level;
mod counted;
mod level_counts;
mod node_histogram;
mod quad;
mod root;

pub(crate) use count_level::count_level;
pub(crate) use counted::{Counted, CountedLevel, CountedQuad};
pub(crate) use level_counts::LevelCounts;
pub(crate) use node_histogram::{Count, NodeHistogram};
