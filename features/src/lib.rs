//! The definition of every feature, computed one event at a time.
//!
//! Nothing else in the workspace computes a feature: the tracer, the replays and the simulator
//! call [`FeatureSet::observe`] on their buffer and report every packet to a [`History`], so a
//! model decides on the features it was trained on. `docs/features.md` lists the definitions,
//! `ARCHITECTURE.md` says how to add one.
//!
//! ```
//! use dropcast_features::{BufferView, FeatureSet, bytes_up_to};
//!
//! /// Two queues that share a buffer.
//! struct Queues([u32; 2]);
//!
//! impl BufferView for Queues {
//!     fn queues(&self) -> usize {
//!         2
//!     }
//!     fn queue_bytes(&self, queue: usize) -> u32 {
//!         self.0[queue]
//!     }
//!     fn shares(&self, _: usize) -> bool {
//!         true
//!     }
//!     fn capacity_bytes(&self) -> u32 {
//!         1_000_000
//!     }
//!     fn occupancy_bytes(&self) -> u32 {
//!         self.0.iter().sum()
//!     }
//!     fn longest_queue_bytes(&self) -> u32 {
//!         self.0[0].max(self.0[1])
//!     }
//!     fn queues_longer_than(&self, bytes: u32) -> u32 {
//!         self.0.iter().filter(|&&length| length > bytes).count() as u32
//!     }
//!     fn bytes_up_to(&self, level_bytes: u32) -> u64 {
//!         bytes_up_to(&self.0, level_bytes)
//!     }
//! }
//!
//! let features: FeatureSet = "queue_length,occupancy,rank,level_occupancy".parse()?;
//! let (line_rate_bps, base_rtt_ns) = ([10_000_000_000; 2], 25_200);
//! let history = features.history(line_rate_bps.into_iter(), base_rtt_ns);
//!
//! // A packet arrives for queue 0.
//! let mut values = [0; 4];
//! features.observe(&Queues([3_000, 10_000]), &history, 0, &mut values);
//! assert_eq!(values, [3_000, 13_000, 1, 6_000]);
//! # Ok::<(), dropcast_features::UnknownFeature>(())
//! ```

mod average;
mod backlog;
mod classes;
mod cost;
mod descriptor;
mod families;
mod feature;
mod flow_table;
mod history;
mod list;
mod own;
mod projection;
mod set;
mod unknown;
mod view;

pub use average::MovingAverage;
pub use backlog::Backlog;
pub use cost::{Chip, FeatureCost};
pub use feature::Feature;
pub use flow_table::{FlowTable, flow_slot};
pub use history::{FeatureMemory, History};
pub use projection::Horizon;
pub use set::FeatureSet;
pub use unknown::{UnknownFeature, nearest, with_suggestion};
pub use view::{BufferView, bytes_up_to};
