//! One file per policy.

pub(crate) mod complete_partitioning;
pub(crate) mod complete_sharing;
pub(crate) mod credence;
pub(crate) mod dynamic_thresholds;
pub(crate) mod follow_lqd;
pub(crate) mod harmonic;
pub(crate) mod lqd;
pub(crate) mod payback_credence;
