//! Training on traces whose rows are at many workers.
//!
//! A [`PartitionedTraining`] cuts traces into partitions, asks each the same questions, and makes the
//! model of [`train_on`](crate::train::train_on) from the sums of their answers. All that goes between
//! the training and its workers are texts and bytes, so any engine can carry them; its own
//! scheduling, transport and retries are enough, because answers depend on their questions alone.

mod partition_spec;
mod partitioned_training;
mod replay_task;
mod trace_summary;

pub use partition_spec::{PartitionSpec, TracePartition};
pub use partitioned_training::PartitionedTraining;
pub use replay_task::{ReplayTask, ReplayedLanes};
pub use trace_summary::TraceSummary;
