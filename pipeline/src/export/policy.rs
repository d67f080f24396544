//! Policies on a switch's own queues as code, and a check of what such code has decided.

use super::models::{ModelFile, Written, write_folder};
use crate::PipelineError;
use crate::files::{read_text, spare_inputs};
use dropcast_data::SwitchSpec;
use dropcast_export::{
    EmittedFile, ForestFilter, PolicyCode, PolicyCodeError, PolicyEvent, PolicyPackets, Rule,
    credence_packets,
};
use dropcast_switch::policies::oracle::{OracleParameters, drain_time_ns};
use dropcast_switch::{FeatureSource, PolicySpec};
use serde::Serialize;
use std::path::{Path, PathBuf};

/// Writes a policy as code for a switch into `folder`: the untrained rule, a forest or early drops in bursts over Dynamic Thresholds,
/// or FAB.
///
/// # Errors
/// If the policy is another one, its model cannot be read, the code cannot do what it or the switch needs, or a file cannot be
/// written or would replace the model or one of `inputs`.
pub fn export_policy(
    policy: &PolicySpec,
    spec: &SwitchSpec,
    inputs: &[PathBuf],
    folder: &Path,
) -> Result<Vec<Written>, PipelineError> {
    let files = code_of(policy, spec)?.files(spec).map_err(unfit)?;
    let model = policy.model().map(PathBuf::from);
    for file in &files {
        spare_inputs(&folder.join(&file.name), inputs.iter().chain(&model))?;
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
    let code = code_of(policy, spec)?;
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

fn code_of(policy: &PolicySpec, spec: &SwitchSpec) -> Result<PolicyCode, PipelineError> {
    match policy {
        PolicySpec::Oracle(OracleParameters { told_late_ns: 1.., .. }) => {
            Err(unfit("told_late_ns is for simulations; leave it out"))
        }
        PolicySpec::Oracle(OracleParameters { features: FeatureSource::VirtualLqd, .. }) => {
            Err(unfit(
                "features=virtual-lqd is for simulations: exported filters see the switch's own queues; leave it out",
            ))
        }
        PolicySpec::Oracle(OracleParameters { base, model, horizon_ns, gate, .. }) => {
            let PolicySpec::DynamicThresholds(base) = &**base else {
                return Err(unfit(PolicyCodeError::Base(base.name())));
            };
            let queues = 0..usize::from(spec.queues_per_port);
            let alpha = queues.map(|queue| base.alpha.at(queue)).collect();
            let Some(model) = model else {
                let horizon_ns = horizon_ns.unwrap_or_else(|| drain_time_ns(spec));
                return Ok(PolicyCode::Rule(Rule { alpha, horizon_ns, gate: gate.unwrap_or(0.0) }));
            };
            if horizon_ns.is_some() {
                let problem =
                    "horizon_ns is of the untrained rule; leave it out, or leave out model";
                return Err(unfit(problem));
            }
            let model = the_model(Path::new(model))?;
            let (origin, forest) = (model.origin(), model.model.forest);
            Ok(PolicyCode::Filter(Box::new(ForestFilter { alpha, gate: *gate, forest, origin })))
        }
        PolicySpec::SpareTails(parameters) => Ok(PolicyCode::SpareTails(parameters.clone())),
        PolicySpec::Fab(parameters) => Ok(PolicyCode::Fab(parameters.clone())),
        _ => Err(unfit(format!(
            "{}: only the untrained rule, such as oracle:gate=0.5, a forest, such as oracle:model=model.json, spare-tails and fab are \
             exported",
            policy.name()
        ))),
    }
}

/// The model of a filter. A table does not say which buffer it is for.
fn the_model(path: &Path) -> Result<ModelFile, PipelineError> {
    if path.extension().is_some_and(|extension| extension == "dct") {
        let problem = "expected the model.json that the table was made from";
        return Err(PipelineError::unfit(path.display(), problem));
    }
    ModelFile::read(path)
}

fn unfit(problem: impl ToString) -> PipelineError {
    PipelineError::setting("policy", problem.to_string())
}
