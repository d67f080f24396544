//! `dropcast verify`.

use super::export::read_model;
use crate::args::VerifyArgs;
use crate::failure::UserError;
use crate::output;
use crate::progress::Stage;
use crate::traces::TraceFiles;
use dropcast_data::{LabelledBatch, sha256};
use dropcast_export::{Origin, Target, Ties, Vectors};
use dropcast_forest::Forest;
use dropcast_train::BatchSource;
use dropcast_verify::{Built, Check, Evidence, KindCheck, Mismatch, ProgramCheck, VerifyError};
use serde::Serialize;
use std::path::PathBuf;

pub(crate) fn run(args: &VerifyArgs) -> anyhow::Result<()> {
    let verification = verify(args)?;
    output::print(args.format, &verification, Verification::text)?;
    match verification.failures() {
        failures if failures.is_empty() => Ok(()),
        failures => Err(UserError(format!("not verified: {}", failures.join(", "))).into()),
    }
}

/// What came of all targets.
#[derive(Debug, Serialize)]
struct Verification {
    model: PathBuf,
    model_sha256: String,
    features: Vec<String>,
    trees: usize,
    depth: usize,
    verified: bool,
    vectors: Rows,
    targets: Vec<Outcome>,
}

/// What is to be known of the vectors.
#[derive(Debug, Serialize)]
struct Rows {
    rows: usize,
    /// Of all rows, those whose score is the vote threshold.
    vote_ties: usize,
    /// Whether it is certain that no row is one.
    vote_ties_impossible: bool,
    /// Leaves that no row can reach.
    unreachable_leaves: usize,
}

/// What came of one target.
#[derive(Debug, Serialize)]
struct Outcome {
    target: &'static str,
    verified: bool,
    /// Why it could not be run, if so.
    problem: Option<String>,
    programs: Vec<ProgramCheck>,
}

/// Rows of a trace by which predictions are timed, the first ones.
const TIMED_ROWS: usize = 1 << 18;

fn verify(args: &VerifyArgs) -> anyhow::Result<Verification> {
    let (model, text) = read_model(&args.model)?;
    let name = args.model.file_stem().map_or("model".into(), |stem| stem.to_string_lossy());
    let model_sha256 = sha256(text.as_bytes());
    let origin = Origin::of_model(&model, &name, &model_sha256);
    let trace: Vec<PathBuf> = args.trace.iter().cloned().collect();
    let job = Job {
        forest: &model.forest,
        origin: &origin,
        vectors: &Vectors::new(&model.forest, args.seed, args.rows)?,
        trace: TraceFiles::open_for(&trace, &model)?,
        time: args.time,
        stage: Stage::begin("verify"),
    };
    let mut targets = Vec::new();
    for &target in &args.target {
        if targets.iter().all(|outcome: &Outcome| outcome.target != target.name()) {
            targets.push(job.outcome(target)?);
        }
    }
    job.stage.end(&format!("{} targets", targets.len()));
    let (vectors, forest) = (job.vectors, &model.forest);
    Ok(Verification {
        model: args.model.clone(),
        model_sha256,
        features: forest.features.clone(),
        trees: forest.trees.len(),
        depth: forest.depth(),
        verified: targets.iter().all(|outcome| outcome.verified),
        vectors: Rows {
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
    origin: &'a Origin,
    vectors: &'a Vectors,
    trace: TraceFiles,
    time: bool,
    stage: Stage,
}

impl Job<'_> {
    /// A target that cannot be run is an outcome; a trace that cannot be read is an error.
    fn outcome(&self, target: Target) -> anyhow::Result<Outcome> {
        let (programs, problem) = match self.check(target) {
            Ok(programs) => (programs, None),
            Err(error) => (Vec::new(), Some(explained(error)?)),
        };
        let verified = !programs.is_empty() && programs.iter().all(ProgramCheck::is_verified);
        Ok(Outcome { target: target.name(), verified, problem, programs })
    }

    fn check(&self, target: Target) -> anyhow::Result<Vec<ProgramCheck>> {
        let mut check = Check::new(Built::new(self.forest, self.origin, target)?);
        check.vectors(self.forest, self.vectors)?;
        self.stage.advance(self.vectors.rows().len());
        let mut timed = Vec::new();
        for batch in self.trace.batches()? {
            let rows = rows_of(&batch?.batch);
            check.trace(self.forest, &rows)?;
            self.stage.advance(rows.len());
            let room = if self.time { TIMED_ROWS - timed.len() } else { 0 };
            timed.extend(rows.into_iter().take(room));
        }
        if self.time {
            check.time(&timed)?;
        }
        Ok(check.finish())
    }
}

/// What a target's problem is, with its causes; any other error stays one.
fn explained(error: anyhow::Error) -> anyhow::Result<String> {
    if error.chain().any(|cause| cause.is::<VerifyError>()) {
        Ok(format!("{error:#}"))
    } else {
        Err(error)
    }
}

fn rows_of(batch: &LabelledBatch) -> Vec<Vec<u32>> {
    let row = |at: usize| batch.features.iter().map(|column| column[at]).collect();
    (0..batch.len()).map(row).collect()
}

impl Outcome {
    /// Why it is not verified, in a few words; none if it is.
    fn failure(&self) -> Option<String> {
        let target = self.target;
        let mismatches: u64 = self.programs.iter().map(|program| program.mismatches).sum();
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
    fn failures(&self) -> Vec<String> {
        self.targets.iter().filter_map(Outcome::failure).collect()
    }

    fn text(&self) -> String {
        let mut text = format!(
            "{}: {} of depth {} on {}\nrows: {}\n{}; {}\n",
            self.model.display(),
            counted(self.trees, "tree"),
            self.depth,
            counted(self.features.len(), "feature"),
            self.rows(),
            match &self.vectors {
                Rows { vote_ties_impossible: true, .. } => "no row is a vote tie".to_owned(),
                Rows { vote_ties: 0, .. } => "no vote tie was found".to_owned(),
                rows => format!("{} among the vectors", counted(rows.vote_ties, "vote tie")),
            },
            match self.vectors.unreachable_leaves {
                0 => "every leaf is reached".to_owned(),
                1 => "no row can reach 1 leaf".to_owned(),
                leaves => format!("no row can reach {leaves} leaves"),
            },
        );
        for outcome in &self.targets {
            text += &format!("\n{}\n", outcome.target);
            if let Some(problem) = &outcome.problem {
                text += &format!("  NOT RUN: {problem}\n");
            }
            for program in &outcome.programs {
                text += &self.program(program);
            }
        }
        text
    }

    /// How many rows of each kind every program was asked about.
    fn rows(&self) -> String {
        let asked = self.targets.iter().flat_map(|outcome| &outcome.programs).next();
        match asked {
            None => format!("{} vectors", self.vectors.rows),
            Some(program) => joined(&program.kinds, |kind| kind.rows),
        }
    }

    fn program(&self, program: &ProgramCheck) -> String {
        let time = program.ns_per_prediction.map(|ns| format!("{ns:6.1} ns  "));
        let time = time.unwrap_or_default();
        let mismatches = program.mismatches;
        let mut text = format!("  {mismatches:>7} mismatches  {time}{}\n", program.program);
        if mismatches > 0 {
            text += &format!("    WRONG: {}\n", joined(&program.kinds, |kind| kind.mismatches));
        }
        if program.evidence == Evidence::ParsedBack {
            text += "    NOT EXECUTED: dropcast read its own files back; no tool for them ran\n";
        }
        program.first_mismatches.iter().for_each(|mismatch| text += &self.mismatch(mismatch));
        text
    }

    fn mismatch(&self, mismatch: &Mismatch) -> String {
        let values = self.features.iter().zip(&mismatch.row);
        let row: Vec<String> = values.map(|(name, value)| format!("{name} {value}")).collect();
        format!(
            "    {}: expected {}, got {}\n",
            row.join(", "),
            answer(Some(mismatch.expected_score), Some(mismatch.expected_drop)),
            answer(mismatch.score, mismatch.drop),
        )
    }
}

/// Counts by kind that are not 0.
fn joined(kinds: &[KindCheck], count: impl Fn(&KindCheck) -> u64) -> String {
    let some = kinds.iter().filter(|kind| count(kind) > 0);
    let words = some.map(|kind| format!("{} {}", count(kind), kind.kind.replace('_', " ")));
    words.collect::<Vec<_>>().join(", ")
}

fn answer(score: Option<u32>, drop: Option<bool>) -> String {
    let score = score.map(|score| format!("score {score}"));
    let drop = drop.map(|drop| if drop { "drop" } else { "accept" }.to_owned());
    [score, drop].into_iter().flatten().collect::<Vec<_>>().join(" ")
}

fn counted(count: usize, what: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {what}{plural}")
}
