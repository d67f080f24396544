//! A check of what the code of a model's whole decision has decided.

use super::models::ModelFile;
use crate::PipelineError;
use crate::files::read_text;
use dropcast_data::SwitchSpec;
use dropcast_export::{PolicyEvent, PolicyPackets, credence_packets};
use serde::Serialize;
use std::path::{Path, PathBuf};

/// What came of comparing verdicts with those of the whole decision.
#[derive(Debug, Serialize)]
pub struct VerdictCheck {
    /// The file of verdicts.
    pub verdicts: PathBuf,
    /// Packets that arrive.
    pub packets: usize,
    /// Those that the decision drops.
    pub dropped: usize,
    /// Those about which the verdict is another.
    pub mismatches: usize,
    /// The first of them, at most [`VerdictCheck::SHOWN`].
    pub first_mismatches: Vec<VerdictMismatch>,
}

/// A packet about which the verdict is another.
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
    /// Whether the decision accepts it.
    pub expected_accepted: bool,
}

impl VerdictCheck {
    /// Number of mismatches kept.
    pub const SHOWN: usize = 5;

    /// Why the verdicts are not those of the model's whole decision; none if they are.
    pub fn failure(&self) -> Option<String> {
        match self.mismatches {
            0 => None,
            1 => Some("1 verdict differs from the expected one".to_owned()),
            mismatches => Some(format!("{mismatches} verdicts differ from the expected ones")),
        }
    }
}

/// Compares a file of verdicts, a line with 0 or 1 for each packet that arrives in the packets that the target `vectors` writes of a
/// model's whole decision, with its own.
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
