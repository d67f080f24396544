//! `dropcast verify`.

use crate::args::VerifyArgs;
use dropcast_pipeline::export::models::{ModelFile, the_switch};
use dropcast_pipeline::export::verdicts::{VerdictCheck, check_decision};
use dropcast_pipeline::export::verification::{
    VectorSummary, Verification, VerificationTask, verify,
};
use dropcast_pipeline::progress::Progress;
use dropcast_pipeline::traces::LabelledTrace;
use dropcast_terminal as output;
use dropcast_terminal::Failure;
use dropcast_verify::{Evidence, KindCheck, Mismatch, ProgramCheck};
use std::path::{Path, PathBuf};

pub(crate) fn run(args: &VerifyArgs, progress: &dyn Progress) -> Result<(), Failure> {
    match (&args.switch, &args.verdicts) {
        (Some(switch), Some(verdicts)) => {
            let check =
                check_decision(&ModelFile::read(&args.model)?, &the_switch(switch)?, verdicts)?;
            output::print(args.format, &check, verdicts_text)?;
            check.failure().map_or(Ok(()), |failure| Err(Failure::NotVerified(failure)))
        }
        _ => model_as_exported(args, progress),
    }
}

fn model_as_exported(args: &VerifyArgs, progress: &dyn Progress) -> Result<(), Failure> {
    let file = ModelFile::read(&args.model)?;
    let open = |path: &PathBuf| LabelledTrace::open(path, &file.model.features.names());
    let task = VerificationTask {
        targets: args.target.clone(),
        random_rows: args.rows,
        seed: args.seed,
        trace: args.trace.as_ref().map(open).transpose()?,
        time: args.time,
        switch: args.switch.as_deref().map(the_switch).transpose()?,
        files: args.files.clone(),
    };
    let verification = verify(&file, &task, progress)?;
    output::print(args.format, &verification, text)?;
    match verification.failures() {
        failures if failures.is_empty() => Ok(()),
        failures => Err(Failure::NotVerified(failures.join(", "))),
    }
}

fn verdicts_text(of: &VerdictCheck) -> String {
    let &VerdictCheck { packets, dropped, .. } = of;
    let mut text = format!(
        "{}: {packets} packets arrive, {dropped} of them are dropped\n{}\n",
        output::shown(Path::new(&of.verdicts)),
        counted(of.mismatches, "other verdict"),
    );
    text += &mismatched_verdicts(of);
    text
}

fn mismatched_verdicts(of: &VerdictCheck) -> String {
    let mut text = String::new();
    for mismatch in &of.first_mismatches {
        text += &format!(
            "  line {}: port {}, queue {}, {} bytes at {} ns: expected {} ({})\n",
            mismatch.line,
            mismatch.port,
            mismatch.queue,
            mismatch.size_bytes,
            mismatch.time_ns,
            u8::from(mismatch.expected_accepted),
            mismatch.reason,
        );
    }
    text
}

fn text(of: &Verification) -> String {
    let mut text = format!(
        "{}: {} of depth {} on {}\nrows: {}\n{}; {}\n",
        output::shown(&of.model),
        counted(of.trees, "tree"),
        of.depth,
        counted(of.features.len(), "feature"),
        rows(of),
        match &of.vectors {
            VectorSummary { vote_ties_impossible: true, .. } => "no row is a vote tie".to_owned(),
            VectorSummary { vote_ties: 0, .. } => "no vote tie was found".to_owned(),
            vectors => format!("{} among the vectors", counted(vectors.vote_ties, "vote tie")),
        },
        match of.vectors.unreachable_leaves {
            0 => "every leaf is reached".to_owned(),
            1 => "no row can reach 1 leaf".to_owned(),
            leaves => format!("no row can reach {leaves} leaves"),
        },
    );
    for outcome in &of.targets {
        text += &format!("\n{}\n", outcome.target);
        if let Some(problem) = &outcome.problem {
            text += &format!("  NOT RUN: {problem}\n");
        }
        for program in &outcome.programs {
            text += &program_text(of, program);
        }
        for decision in &outcome.decisions {
            let VerdictCheck { verdicts, packets, mismatches, .. } = decision;
            text += &format!("  {mismatches:>7} mismatches  {packets} packets, {verdicts}\n");
            text += &mismatched_verdicts(decision);
        }
    }
    text
}

/// Number of rows of each kind that every program answered.
fn rows(of: &Verification) -> String {
    let asked = of.targets.iter().flat_map(|outcome| &outcome.programs).next();
    match asked {
        None => format!("{} vectors", of.vectors.rows),
        Some(program) => joined(&program.kinds, |kind| kind.rows),
    }
}

fn program_text(of: &Verification, program: &ProgramCheck) -> String {
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
    program.first_mismatches.iter().for_each(|mismatch| text += &mismatch_text(of, mismatch));
    text
}

fn mismatch_text(of: &Verification, mismatch: &Mismatch) -> String {
    let values = of.features.iter().zip(&mismatch.row);
    let row: Vec<String> = values.map(|(name, value)| format!("{name} {value}")).collect();
    format!(
        "    {}: expected {}, got {}\n",
        row.join(", "),
        answer(Some(mismatch.expected_score), Some(mismatch.expected_drop)),
        answer(mismatch.score, mismatch.drop),
    )
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
