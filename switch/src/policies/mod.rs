//! One file per policy.

pub mod abm;
pub mod complete_partitioning;
pub mod complete_sharing;
pub mod credence;
pub mod dynamic_thresholds;
pub mod edt;
pub mod fab;
pub mod follow_lqd;
pub mod harmonic;
pub mod lqd;
pub mod ndt;
pub mod smartbuf;
pub(crate) mod complete_partitioning;
pub(crate) mod complete_sharing;
pub(crate) mod credence;
pub(crate) mod dynamic_thresholds;
pub(crate) mod follow_lqd;
pub(crate) mod harmonic;
pub(crate) mod lqd;
pub(crate) mod payback_credence;
