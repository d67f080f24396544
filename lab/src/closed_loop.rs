//! Policies in a fabric whose senders react to losses, marks and telemetry (`lab/notes/fabric.md`).
//!
//! An [`Experiment`] says which policies to compare in which fabric, under which traffic and how
//! often. [`Experiment::prepare`] checks it and reads its models; [`Prepared::compare`] runs it.

mod choice;
mod comparison;
mod experiment;
mod flow_times;
mod job;
mod kept_runs;
mod labelled_run;
mod objective;
mod oracles;
mod prepared;
mod recording;
mod summary;

pub(crate) use choice::credence;
pub use choice::{Choice, Chooser, ModelAtThreshold};
pub use comparison::{PairedRuns, PolicyRuns};
pub use dropcast_pipeline::named_policy::NamedPolicy;
pub use experiment::Experiment;
pub(crate) use experiment::{lqd, usual_policies};
pub(crate) use flow_times::shares;
pub use flow_times::{AtShare, FlowGroup, FlowMeasure, FlowTimes};
pub use kept_runs::{Fleet, JobPart, KeptRuns, NotAPart};
pub use objective::{Objective, UnknownObjective};
pub use oracles::Oracles;
pub use prepared::{MOST_RUNS, Prepared, Traffic, simulate_share};
pub(crate) use prepared::{in_parallel, run_all};
pub use recording::RunFile;
pub use summary::{ExperimentSummary, MetricSummary, PolicySummary};
