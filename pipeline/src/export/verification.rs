//! Exports built with the tools of this machine, run, and compared with the forest.

use super::models::{ModelFile, deciding_only};
use super::verdicts::{VerdictCheck, compare};
use crate::PipelineError;
use crate::progress::Progress;
use crate::traces::{LabelledTrace, LabelledTraces};
use dropcast_data::{LabelledBatch, SwitchSpec, read_small};
use dropcast_export::{EmittedFile, GoldenPackets, Origin, Target, Ties, Vectors, export};
use dropcast_forest::Forest;
use dropcast_train::BatchSource;
use dropcast_verify::{Built, ProgramCheck, TargetCheck, VerifyError, drive};
use serde::Serialize;
use std::error::Error;
use std::path::{Path, PathBuf};

/// What came of all targets.
#[derive(Debug, Serialize)]
pub struct Verification {
    /// The model's file.
    pub model: PathBuf,
    /// Its SHA-256.
    pub model_sha256: String,
    /// Names of its features.
    pub features: Vec<String>,
    /// Number of trees.
    pub trees: usize,
    /// Depth of the deepest.
    pub depth: usize,
    /// Whether every target agrees on every row.
    pub verified: bool,
    /// What is known of the vectors.
    pub vectors: VectorSummary,
    /// By target.
    pub targets: Vec<TargetOutcome>,
}

/// What is known of the vectors.
#[derive(Debug, Serialize)]
pub struct VectorSummary {
    /// How many there are.
    pub rows: usize,
    /// Those whose score is the vote threshold.
    pub vote_ties: usize,
    /// Whether it is certain that no row is one.
    pub vote_ties_impossible: bool,
    /// Leaves that no row can reach.
    pub unreachable_leaves: usize,
}

/// What came of one target.
#[derive(Debug, Serialize)]
pub struct TargetOutcome {
    /// The target.
    pub target: &'static str,
    /// Whether all its programs agree on every row.
    pub verified: bool,
    /// Why it could not be run, if so.
    pub problem: Option<String>,
    /// By program.
    pub programs: Vec<ProgramCheck>,
    /// With a switch: what the driver of the whole decision decided, by compiler.
    pub decisions: Vec<VerdictCheck>,
}

/// What to verify.
#[derive(Clone, Debug)]
pub struct VerificationTask {
    /// The targets.
    pub targets: Vec<Target>,
    /// Random rows besides the vectors.
    pub random_rows: usize,
    /// Their seed.
    pub seed: u64,
    /// A labelled trace whose rows are predicted, too.
    pub trace: Option<LabelledTrace>,
    /// Whether to time predictions on the rows of the trace.
    pub time: bool,
    /// The switch whose whole decision is asked about packets, or in Verilog linted, too.
    pub switch: Option<SwitchSpec>,
    /// The folder of the exported files; none exports them anew.
    pub files: Option<PathBuf>,
}

impl VerificationTask {
    /// Random rows, unless others are asked for.
    pub const RANDOM_ROWS: usize = 1_000_000;
    /// More are not kept at once.
    pub const MOST_ROWS: usize = 4_000_000;
    /// Their seed, unless another is given.
    pub const SEED: u64 = 1;
}

/// The target whose whole decision is linted.
const LINTED: &str = "verilog";

/// Rows of a trace by which predictions are timed, the first ones.
const TIMED_ROWS: usize = 1 << 18;

/// Builds, runs and compares each target.
///
/// # Errors
/// If there are too many rows, the trace or an exported file cannot be read, the forest has no vectors, or there is a switch that a target
/// does not use. A target that cannot be run is an outcome.
pub fn verify(
    file: &ModelFile,
    task: &VerificationTask,
    progress: &dyn Progress,
) -> Result<Verification, PipelineError> {
    progress.begin("verify");
    if task.switch.is_some() {
        deciding_only(&task.targets)?;
    }
    if task.random_rows > VerificationTask::MOST_ROWS {
        let most = VerificationTask::MOST_ROWS;
        let problem = format!(
            "is {}, expected at most {most}; other seeds give other rows",
            task.random_rows
        );
        return Err(PipelineError::setting("rows", problem));
    }
    let (forest, origin) = (&file.model.forest, file.origin());
    let deciding = Origin { switch: task.switch.clone(), ..origin.clone() };
    let packets = task.switch.as_ref().map(|switch| GoldenPackets::new(forest, &origin, switch));
    let vectors = Vectors::new(forest, task.seed, task.random_rows)?;
    let trace = LabelledTraces::for_model(task.trace.iter().cloned().collect(), &file.model)?;
    let job = Job {
        forest,
        stem: file.stem(),
        origins: [&origin, &deciding],
        vectors: &vectors,
        packets: packets.transpose()?,
        trace,
        task,
        progress,
    };
    let mut targets: Vec<TargetOutcome> = Vec::new();
    for &target in &task.targets {
        if targets.iter().all(|outcome| outcome.target != target.name()) {
            targets.push(job.outcome(target)?);
        }
    }
    progress.end(&format!("{} targets", targets.len()));
    Ok(Verification {
        model: file.path.clone(),
        model_sha256: file.sha256.clone(),
        features: forest.features.clone(),
        trees: forest.trees.len(),
        depth: forest.depth(),
        verified: targets.iter().all(|outcome| outcome.verified),
        vectors: VectorSummary {
            rows: vectors.rows().len(),
            vote_ties: if let Ties::Found(ties) = vectors.ties() { ties } else { 0 },
            vote_ties_impossible: vectors.ties() == Ties::Impossible,
            unreachable_leaves: vectors.unreachable().len(),
        },
        targets,
    })
}

/// What every target is asked.
struct Job<'a> {
    forest: &'a Forest,
    stem: String,
    /// Without the switch, and with it.
    origins: [&'a Origin; 2],
    vectors: &'a Vectors,
    packets: Option<GoldenPackets>,
    trace: LabelledTraces,
    task: &'a VerificationTask,
    progress: &'a dyn Progress,
}

impl Job<'_> {
    fn outcome(&self, target: Target) -> Result<TargetOutcome, PipelineError> {
        let mut problem = None;
        let programs = runnable(self.check(target), &mut problem)?;
        let decisions = match problem {
            None => runnable(self.decisions(target), &mut problem)?,
            Some(_) => Vec::new(),
        };
        let verified = problem.is_none()
            && !programs.is_empty()
            && programs.iter().all(ProgramCheck::is_verified)
            && decisions.iter().all(|decision| decision.mismatches == 0);
        Ok(TargetOutcome { target: target.name(), verified, problem, programs, decisions })
    }

    /// The exported files: anew, or as they are.
    fn files(&self, target: Target, origin: &Origin) -> Result<Vec<EmittedFile>, PipelineError> {
        let mut files = export(self.forest, origin, target)
            .map_err(|source| VerifyError::Export { target: target.name(), source })?;
        for file in files.iter_mut().filter(|_| self.task.files.is_some()) {
            let folder = self.task.files.as_deref().unwrap_or(Path::new(""));
            file.bytes = read_small(&folder.join(&file.name))?;
        }
        Ok(files)
    }

    /// What the driver of a whole decision says about the packets, with each compiler.
    fn decisions(&self, target: Target) -> Result<Vec<VerdictCheck>, PipelineError> {
        let Some(packets) = self.packets.as_ref().filter(|_| target.name() != LINTED) else {
            return Ok(Vec::new());
        };
        let driven = drive(&self.files(target, self.origins[1])?, target, &packets.to_csv())?;
        let checked = driven.iter().map(|driven| {
            compare(packets, &self.stem, &driven.program, &driven.verdicts).map_err(|problem| {
                let program = driven.program.clone();
                PipelineError::from(VerifyError::BadAnswer { program, problem })
            })
        });
        checked.collect()
    }

    fn check(&self, target: Target) -> Result<Vec<ProgramCheck>, PipelineError> {
        let origin = self.origins[usize::from(target.name() == LINTED)];
        let files = self.files(target, origin)?;
        let mut check =
            TargetCheck::new(Built::from_files(&files, self.forest.features.len(), target)?);
        check.vectors(self.forest, self.vectors)?;
        self.progress.advance(self.vectors.rows().len());
        let mut timed = Vec::new();
        for batch in self.trace.batches()? {
            crate::progress::check(self.progress)?;
            let rows = rows_of(&batch?.batch);
            check.trace(self.forest, &rows)?;
            self.progress.advance(rows.len());
            let wanted = if self.task.time { TIMED_ROWS - timed.len() } else { 0 };
            timed.extend(rows.into_iter().take(wanted));
        }
        if self.task.time {
            check.time(&timed)?;
        }
        Ok(check.finish())
    }
}

/// The results of programs; none, and the problem, if these cannot be run.
fn runnable<T>(
    found: Result<Vec<T>, PipelineError>,
    problem: &mut Option<String>,
) -> Result<Vec<T>, PipelineError> {
    match found {
        Err(PipelineError::Verify(error)) => {
            *problem = Some(with_causes(&error));
            Ok(Vec::new())
        }
        found => found,
    }
}

fn with_causes(error: &VerifyError) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(&format!(": {error}"));
        cause = error.source();
    }
    text
}

fn rows_of(batch: &LabelledBatch) -> Vec<Vec<u32>> {
    let row = |at: usize| batch.features.iter().map(|column| column[at]).collect();
    (0..batch.len()).map(row).collect()
}

impl TargetOutcome {
    /// Why it is not verified, in a few words; none if it is.
    pub fn failure(&self) -> Option<String> {
        let target = self.target;
        let of_decisions = self.decisions.iter().map(|decision| decision.mismatches as u64);
        let of_rows = self.programs.iter().map(|program| program.mismatches);
        let mismatches: u64 = of_rows.chain(of_decisions).sum();
        match mismatches {
            _ if self.verified => None,
            _ if self.problem.is_some() => Some(format!("{target} could not be run")),
            0 => Some(format!("{target} was not executed")),
            1 => Some(format!("{target} has 1 mismatch")),
            _ => Some(format!("{target} has {mismatches} mismatches")),
        }
    }
}

impl Verification {
    /// Why targets are not verified; empty if all are.
    pub fn failures(&self) -> Vec<String> {
        self.targets.iter().filter_map(TargetOutcome::failure).collect()
    }
}
