//! Policies in a fabric whose senders react to losses, marks and telemetry (`docs/fabric.md`).
//!
//! An [`Experiment`] says which policies to compare in which fabric, under which traffic and how
//! often. [`Experiment::prepare`] checks it and reads its models; [`Prepared::compare`] runs it.

mod comparison;
mod experiment;
mod labelled_run;
mod oracles;
mod prepared;

pub use comparison::{Comparison, PolicyRuns};
pub use experiment::{Experiment, NamedPolicy};
pub use oracles::Oracles;
pub use prepared::{Prepared, Traffic};
