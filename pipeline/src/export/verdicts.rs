//! A check of what the code of a model's whole decision has decided.

use super::models::ModelFile;
use crate::PipelineError;
use crate::files::read_text;
use dropcast_data::SwitchSpec;
use dropcast_export::{GoldenEvent, GoldenPackets};
use dropcast_runtime::PacketVerdict;
use serde::Serialize;
use std::path::Path;

/// What came of comparing verdicts with those of the whole decision.
#[derive(Debug, Serialize)]
pub struct VerdictCheck {
    /// The file of verdicts, or the program that printed them.
    pub verdicts: String,
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
    /// Why: the name of the verdict.
    pub reason: &'static str,
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
    let packets = GoldenPackets::new(&file.model.forest, &file.origin(), switch)?;
    let (name, text) = (verdicts.display().to_string(), read_text(verdicts)?);
    compare(&packets, &file.stem(), &name, &text)
        .map_err(|problem| PipelineError::unfit(verdicts.display(), problem))
}

/// Compares verdicts, a line for each packet that arrives, with those of the packets of a model called `stem`.
///
/// # Errors
/// What is wrong with the lines.
pub(super) fn compare(
    packets: &GoldenPackets,
    stem: &str,
    name: &str,
    text: &str,
) -> Result<VerdictCheck, String> {
    let given = verdicts_of(text)?;
    let arrivals: Vec<(&GoldenEvent, PacketVerdict)> =
        packets.events.iter().filter_map(|event| Some((event, event.verdict?))).collect();
    if given.len() != arrivals.len() {
        return Err(format!(
            "{} verdicts, expected {}: one for each packet of {stem}_packets.csv that arrives (kind 0)",
            given.len(),
            arrivals.len(),
        ));
    }
    let mut check = VerdictCheck {
        verdicts: name.to_owned(),
        packets: arrivals.len(),
        dropped: arrivals.iter().filter(|(_, verdict)| !verdict.accepts()).count(),
        mismatches: 0,
        first_mismatches: Vec::new(),
    };
    for (line, ((event, verdict), accepted)) in (1..).zip(arrivals.into_iter().zip(given)) {
        if verdict.accepts() == accepted {
            continue;
        }
        check.mismatches += 1;
        if check.first_mismatches.len() < VerdictCheck::SHOWN {
            let &GoldenEvent { time_ns, port, queue, size_bytes, .. } = event;
            let (expected_accepted, reason) = (!accepted, verdict.name());
            let mismatch = VerdictMismatch {
                line,
                time_ns,
                port,
                queue,
                size_bytes,
                expected_accepted,
                reason,
            };
            check.first_mismatches.push(mismatch);
        }
    }
    Ok(check)
}

fn verdicts_of(text: &str) -> Result<Vec<bool>, String> {
    let verdict = |(line, text): (usize, &str)| match text.trim_end() {
        "0" => Ok(false),
        "1" => Ok(true),
        _ => Err(format!("line {line}: expected 1 (accepted) or 0 (dropped)")),
    };
    (1..).zip(text.lines()).map(verdict).collect()
}
