//! Forests of integer trees, and their measurement.
//!
//! Every trainer produces a [`Forest`], and every export starts from one. A [`Model`] is a forest with
//! its features, its switch and its metrics; its file is `model.json` (`docs/model.md`).
//! [`ForestScorer`] scores many rows at a time; [`ScoreHistogram`] and [`Confusion`] measure the
//! scores. Nothing here knows how a forest was trained: the provenance in a model is a type of the
//! trainer's.
//!
//! ```
//! use dropcast_forest::{Confusion, Forest, ForestScorer, Node, Tree};
//!
//! // Predict a drop when the queue holds more than 20 kB.
//! let nodes = vec![
//!     Node::Split { feature: 0, threshold: 20_000, left: 1, right: 2 },
//!     Node::Leaf { weight: 3 },
//!     Node::Leaf { weight: 250 },
//! ];
//! let forest = Forest {
//!     features: vec!["queue_length".to_owned()],
//!     vote_threshold: 127,
//!     trees: vec![Tree { nodes }],
//! };
//! forest.check()?;
//!
//! let (queue_lengths, dropped) = (vec![0, 15_000, 24_000, 90_000], [false, false, false, true]);
//! let scores = ForestScorer::new(&forest).score_columns(&[queue_lengths]);
//! let mut confusion = Confusion::default();
//! for (score, dropped) in scores.into_iter().zip(dropped) {
//!     confusion.add(dropped, score > forest.vote_threshold);
//! }
//! assert_eq!(confusion.precision(), Some(0.5));
//! assert_eq!(confusion.recall(), Some(1.0));
//! # Ok::<(), dropcast_forest::ForestError>(())
//! ```

pub mod binning;
mod buffer_scale;
mod check;
mod confusion;
mod feature_range;
mod forest;
mod import_origin;
mod json_layout;
mod metrics;
mod model;
mod replayed;
mod score_histogram;
mod scorer;

pub use buffer_scale::{BufferScale, UnknownBuffer, scale_to_buffer};
pub use check::{ForestError, MAX_DEPTH, MAX_TREES, TreeError};
pub use confusion::Confusion;
pub use feature_range::FeatureRange;
pub use forest::{Forest, LeafRows, Node, Tree};
pub use import_origin::{Agreement, ImportOrigin};
pub use metrics::{Metrics, PartMetrics, ScoreRange, ScoreRanges, SeedMetrics};
pub use model::{FORMAT_VERSION, Model, ModelError, SwitchContext};
pub use replayed::{
    GainWindow, LaneSent, Sent, VoteGain, VoteLane, VotePolicy, WindowGain, add_gains,
};
pub use score_histogram::{OperatingPoint, ScoreHistogram};
pub use scorer::{BinnedForest, ForestScorer};
