//! Forests of other tools.
//!
//! [`import`] reads forests that were trained elsewhere (ONNX, LightGBM, XGBoost) and converts them
//! to the integer forests that dropcast executes. Splits are exact. Leaves become 8-bit weights, with
//! a proof that no decision changes; without that proof the forest is refused.
//!
//! [`train`] trains with another crate instead of our own trainer, on the same rows, and returns the
//! same thing, a measured model: linfa (feature `linfa`) or smartcore (feature `smartcore`).
//! `docs/trainers.md` says how they differ. With `linfa`, our own trainer is also a linfa estimator
//! (`linfa_traits`).
//!
//! With the feature `polars`, labelled rows, predictions and sweeps are data frames (`frame`).
//!
//! Nothing here opens a file, except that polars does when a frame that scans one is collected.
//!
//! ```
//! use dropcast_forest::SwitchContext;
//! use dropcast_interop::{ImportTask, import};
//!
//! let dump = "booster[0]:
//! 0:[queue_length<1000] yes=1,no=2,missing=2
//!     1:leaf=-0.251953125
//!     2:leaf=0.5";
//! let task = ImportTask {
//!     format: None,
//!     features: Some("queue_length".parse()?),
//!     switch: SwitchContext::default(),
//!     threshold: Some(0.0),
//!     allow_rounding: false,
//!     name: "dump.txt".to_owned(),
//!     sha256: String::new(),
//! };
//! let model = import(dump.as_bytes(), &task)?.model;
//! assert!(!model.forest.predicts_drop(&[999]));
//! assert!(model.forest.predicts_drop(&[1_000]));
//!
//! // Nothing is known about the rows that it was trained on.
//! assert!(model.imported.is_some() && model.provenance.is_none());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod error;
#[cfg(feature = "polars")]
pub mod frame;
mod import;
#[cfg(feature = "linfa")]
pub mod linfa_traits;
mod reach;
mod threshold;
mod trainer;
mod values;
mod weights;

pub use error::ImportError;
pub use import::{
    ArrayTree, ImportFormat, ImportTask, Imported, UnknownImportFormat, import, import_arrays,
};
pub use trainer::{TrainerCrate, TrainerError, Unsupported, train};
