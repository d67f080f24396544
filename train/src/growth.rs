//! Trees grow level by level: rows are counted in histograms by node and bin, and each node takes
//! the split with the largest decrease in impurity.

pub(crate) mod best_split;
pub(crate) mod bootstrap;
pub(crate) mod forest_fit;
pub(crate) mod forest_scores;
pub(crate) mod growing;
pub(crate) mod histogram;
pub(crate) mod part_scores;
mod tally;
