//! Training on partitions of the rows, wherever they are: questions, answers that add up, a model.

mod answer;
mod bytes;
mod partitioned_fit;
mod placed_rows;
mod question;
mod rows_of_partition;
#[cfg(test)]
mod tests;

pub use answer::merge_answers;
pub use partitioned_fit::PartitionedFit;
pub use rows_of_partition::Partition;
