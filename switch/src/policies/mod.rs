//! One file per policy.

pub mod abm;
pub mod complete_partitioning;
pub mod complete_sharing;
pub mod credence;
pub mod dynamic_thresholds;
pub mod edt;
pub mod expression;
pub mod fab;
pub mod follow_lqd;
pub mod follow_max;
pub mod harmonic;
pub mod intelligent_buffer;
pub mod ndt;
pub mod occamy;
pub mod offline_optimum;
pub mod oracle;
pub mod payback_credence;
mod predicted_follow_lqd;
pub(crate) mod real_queues;
pub mod reserve;
pub mod reverie;
pub mod smartbuf;
