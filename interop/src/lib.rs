//! Forests of other tools.
//!
//! [`import`] reads forests that were trained elsewhere (ONNX, LightGBM, XGBoost) and makes
//! them the integer forests that everything here starts from: splits exactly, leaves as 8-bit
//! weights with a proof that every row is decided as before, or not at all.
//!
//! [`train`] trains with another crate instead of our own trainer, on the same rows and with the
//! same outcome, a measured model: linfa (feature `linfa`) or smartcore (feature `smartcore`).
//! `docs/trainers.md` tells what differs. With `linfa`, our own trainer is an estimator of linfa's
//! too (`linfa_traits`).
//!
//! With the feature `polars`, labelled rows, predictions and sweeps are data frames (`frame`).
//!
//! Nothing here opens a file, but polars when a frame that scans one is collected.

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
pub use import::{Format, ImportTask, UnknownFormat, import};
pub use trainer::{Trainer, TrainerError, Unsupported, train};
