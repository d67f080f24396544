//! Policies on a switch's own queues as code, and a check of what such code has decided.

use super::models::{ModelFile, Written, write_folder};
use crate::PipelineError;
use crate::files::{read_text, spare_inputs};
use dropcast_data::SwitchSpec;
use dropcast_export::{EmittedFile, PolicyCode, PolicyEvent, PolicyPackets, credence_packets};
use dropcast_switch::PolicySpec;
use serde::Serialize;
use std::path::{Path, PathBuf};

/// Writes a policy as code for a switch into `folder`: early drops in bursts over Dynamic Thresholds, or FAB.
///
/// # Errors
/// If the policy is another one, the code cannot do what it or the switch needs, or a file cannot be written or would replace one of
/// `inputs`.
pub fn export_policy(
    policy: &PolicySpec,
    spec: &SwitchSpec,
    inputs: &[PathBuf],
    folder: &Path,
) -> Result<Vec<Written>, PipelineError> {
    let files = code_of(policy)?.files(spec).map_err(unfit)?;
    for file in &files {
        spare_inputs(&folder.join(&file.name), inputs)?;
    }
    write_folder(folder, &files)?;
    let written =
        |file: EmittedFile| Written { path: folder.join(file.name), bytes: file.bytes.len() };
    Ok(files.into_iter().map(written).collect())
}

/// What came of comparing verdicts with the policy's.
#[derive(Debug, Serialize)]
pub struct VerdictCheck {
    /// The file of verdicts.
    pub verdicts: PathBuf,
    /// Packets that arrive.
    pub packets: usize,
    /// Those that the policy drops.
    pub dropped: usize,
    /// Those about which the verdict is another.
    pub mismatches: usize,
    /// The first of them, at most [`VerdictCheck::SHOWN`].
    pub first_mismatches: Vec<VerdictMismatch>,
}

/// A packet about which the verdict is not the policy's.
#[derive(Debug, Serialize)]
pub struct VerdictMismatch {
    /// The line of the verdict, from 1.
    pub line: usize,
    /// When it arrives.
    pub time_ns: u64,
    /// Its port.
    pub port: usize,
    /// Its queue within the port.
    pub queue: usize,
    /// Its size.
    pub size_bytes: u32,
    /// Whether the policy accepts it.
    pub expected_accepted: bool,
}

impl VerdictCheck {
    /// Number of mismatches kept.
    pub const SHOWN: usize = 5;

    /// Why the verdicts are not those of the policy, or of the model's whole decision; none if they are.
    pub fn failure(&self) -> Option<String> {
        match self.mismatches {
            0 => None,
            1 => Some("1 verdict differs from the expected one".to_owned()),
            mismatches => Some(format!("{mismatches} verdicts differ from the expected ones")),
        }
    }
}

/// Compares a file of verdicts, a line with 0 or 1 for each packet that arrives in the packets of [`export_policy`], with the
/// policy's.
///
/// # Errors
/// If the policy is another one, its code cannot do what it or the switch needs, or the file does not have such lines.
pub fn check_verdicts(
    policy: &PolicySpec,
    spec: &SwitchSpec,
    verdicts: &Path,
) -> Result<VerdictCheck, PipelineError> {
    let code = code_of(policy)?;
    compare(&code.golden(spec).map_err(unfit)?, code.packets_file(), verdicts)
}

/// The same for the whole decision of a model, of which the target `vectors` writes packets.
///
/// # Errors
/// If the model or the switch has no such decision, or the file does not have such lines.
pub fn check_decision(
    file: &ModelFile,
    switch: &SwitchSpec,
    verdicts: &Path,
) -> Result<VerdictCheck, PipelineError> {
    let packets = credence_packets(&file.model.forest, &file.origin(), switch)?;
    compare(&packets, &format!("{}_packets.csv", file.stem()), verdicts)
}

fn compare(
    packets: &PolicyPackets,
    packets_file: &str,
    verdicts: &Path,
) -> Result<VerdictCheck, PipelineError> {
    let told = verdicts_of(verdicts)?;
    let arrivals: Vec<&PolicyEvent> =
        packets.events.iter().filter(|event| event.accepted.is_some()).collect();
    if told.len() != arrivals.len() {
        let problem = format!(
            "{} verdicts, expected {}: one for each packet of {} that arrives (kind 0)",
            told.len(),
            arrivals.len(),
            packets_file
        );
        return Err(PipelineError::unfit(verdicts.display(), problem));
    }
    let mut check = VerdictCheck {
        verdicts: verdicts.to_owned(),
        packets: arrivals.len(),
        dropped: packets.verdicts().filter(|accepted| !accepted).count(),
        mismatches: 0,
        first_mismatches: Vec::new(),
    };
    for (line, (event, accepted)) in (1..).zip(arrivals.into_iter().zip(told)) {
        if event.accepted == Some(accepted) {
            continue;
        }
        check.mismatches += 1;
        if check.first_mismatches.len() < VerdictCheck::SHOWN {
            let &PolicyEvent { time_ns, port, queue, size_bytes, .. } = event;
            let expected_accepted = !accepted;
            let mismatch =
                VerdictMismatch { line, time_ns, port, queue, size_bytes, expected_accepted };
            check.first_mismatches.push(mismatch);
        }
    }
    Ok(check)
}

fn verdicts_of(file: &Path) -> Result<Vec<bool>, PipelineError> {
    let text = read_text(file)?;
    let verdict = |(line, text): (usize, &str)| match text.trim_end() {
        "0" => Ok(false),
        "1" => Ok(true),
        _ => {
            let problem = format!("line {line}: expected 1 (accepted) or 0 (dropped)");
            Err(PipelineError::unfit(file.display(), problem))
        }
    };
    (1..).zip(text.lines()).map(verdict).collect()
}

fn code_of(policy: &PolicySpec) -> Result<PolicyCode, PipelineError> {
    match policy {
        PolicySpec::SpareTails(parameters) => Ok(PolicyCode::SpareTails(parameters.clone())),
        PolicySpec::Fab(parameters) => Ok(PolicyCode::Fab(parameters.clone())),
        _ => Err(unfit(format!(
            "{}: only spare-tails and fab are exported as code; a model, as Credence, is with --target and --switch",
            policy.name()
        ))),
    }
}

fn unfit(problem: impl ToString) -> PipelineError {
    PipelineError::setting("policy", problem.to_string())
}
