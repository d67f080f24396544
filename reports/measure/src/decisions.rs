//! What a policy decides about each packet of a trace: for whoever compares their own switch with it.

use super::verdict::{AskedPolicies, NO_ARRIVALS, NO_SWITCH};
use dropcast_data::{AtomicFile, DataError};
use dropcast_features::FeatureSet;
use dropcast_pipeline::PipelineError;
use dropcast_pipeline::ReportError;
use dropcast_pipeline::progress::{Progress, check};
use dropcast_pipeline::traces::LabelledTraces;
use dropcast_replay::{Arrival, ReplayOptions, RivalReplay};
use dropcast_switch::PolicySpec;
use dropcast_train::{Part, ReplayRows, Split, rows_to_replay};
use std::fmt::Write as _;
use std::io::Write;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

/// What was written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Decided {
    /// Packets.
    pub packets: u64,
    /// Those that the policy does not accept.
    pub rejected: u64,
}

/// Writes, to a file that is yet to be committed, the decisions of the one policy that is asked for about all packets of one trace as CSV: a row for each, in
/// order of arrival, as packet events (`docs/events.md`) with `accepted`, 1 or 0, behind. What a policy pushes out later
/// was accepted.
///
/// # Errors
/// If there is not one trace and one policy, they cannot be replayed, or the file cannot be written.
pub fn write_decisions(
    data: &[PathBuf],
    asked: &AskedPolicies,
    path: &Path,
    progress: &dyn Progress,
) -> Result<(AtomicFile, Decided), PipelineError> {
    let asked = asked.with_oracles()?;
    let [policy] = &asked.policies[..] else {
        let problem = format!(
            "are of one policy, but {} are given; name one with policy",
            asked.policies.len()
        );
        return Err(PipelineError::setting("decisions", problem));
    };
    let traces = LabelledTraces::open(data, &FeatureSet::none())?;
    let [trace] = traces.traces() else {
        let problem =
            format!("are of one trace, but {} are given; name one file", traces.traces().len());
        return Err(PipelineError::setting("decisions", problem));
    };
    let unfit = |problem: &str| PipelineError::unfit(&trace.name, problem);
    let specs = trace.meta.switches.clone().ok_or_else(|| unfit(NO_SWITCH))?;
    let (options, pauses) = (ReplayOptions::for_trace(&trace.meta), &trace.meta.pauses);
    let policies: [PolicySpec; 1] = [policy.spec.clone()];
    let replay = RivalReplay::new(specs, options, pauses, &policies, NonZeroUsize::MIN);
    let mut replay = replay.asking(asked.oracles.clone()).without_optimum();
    let mut file = AtomicFile::create(path)?;
    let mut text = String::from("time_ns,kind,switch_id,port,queue,size_bytes,accepted\n");
    let mut decided = Decided::default();
    progress.begin("decisions");
    for rows in rows_to_replay(&traces, 0, &Split::None, 0, vec![Part::Train])? {
        let ReplayRows { rows, .. } = rows?;
        let batch = &rows.batch;
        progress.advance(batch.len());
        check(progress)?;
        let columns = batch.arrivals.as_ref().ok_or_else(|| unfit(NO_ARRIVALS))?;
        let arrivals = batch.drop.iter().enumerate();
        let arrivals: Vec<Arrival> =
            arrivals.map(|(at, &drop)| Arrival::of(columns, at, drop)).collect();
        replay.add(&arrivals).map_err(|source| {
            let (trace, row) = (trace.name.clone(), decided.packets);
            ReportError::Replay { trace, row, source }
        })?;
        for (arrival, &rejected) in arrivals.iter().zip(replay.rejected(0)) {
            let Arrival { time_ns, switch_id, port, queue, size_bytes, .. } = arrival;
            let accepted = u8::from(!rejected);
            // Writing to a text does not fail.
            let _ =
                writeln!(text, "{time_ns},0,{switch_id},{port},{queue},{size_bytes},{accepted}");
            decided.packets += 1;
            decided.rejected += u64::from(rejected);
        }
        write(&mut file, path, &text)?;
        text.clear();
    }
    write(&mut file, path, &text)?;
    progress.end(&format!("{} of {} packets rejected", decided.rejected, decided.packets));
    Ok((file, decided))
}

fn write(file: &mut AtomicFile, path: &Path, text: &str) -> Result<(), DataError> {
    let failed =
        |source| DataError::Io { file: path.display().to_string(), doing: "be written", source };
    file.write_all(text.as_bytes()).map_err(failed)
}
