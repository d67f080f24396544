//! `dropcast report`.

use crate::args::ReportArgs;
use dropcast_data::{AtomicFile, write_atomic, write_set};
use dropcast_features::FeatureSet;
use dropcast_measure::condition::Judged;
use dropcast_measure::decisions::write_decisions;
use dropcast_measure::measure::measure_file;
use dropcast_measure::measures::ReportOrVerdict;
use dropcast_measure::verdict::judge;
use dropcast_pipeline::PipelineError;
use dropcast_pipeline::export::models::ModelFile;
use dropcast_pipeline::files::check_output;
use dropcast_pipeline::progress::Progress;
use dropcast_pipeline::resources::Resources;
use dropcast_pipeline::traces::LabelledTraces;
use dropcast_reports::{ReportFormat, next_command, verdict_in};
use dropcast_terminal as output;
use dropcast_terminal::Failure;

pub(crate) fn run(args: &ReportArgs, progress: &dyn Progress) -> Result<(), Failure> {
    let inputs = || args.model.iter().chain(&args.data);
    if let Some(path) = &args.output {
        check_output(path, inputs())?;
    }
    let mut decisions = None;
    if let Some(path) = &args.decisions {
        check_output(path, inputs())?;
        if args.output.as_ref() == Some(path) {
            let problem =
                format!("{} is the file of the report, too; name another", path.display());
            return Err(PipelineError::setting("decisions", problem).into());
        }
        decisions = Some(write_decisions(&args.data, &args.asked, path, progress)?.0);
    }
    let format = if args.details { ReportFormat::Details } else { args.format };
    let data = output::arguments(&args.data);
    let model = args.model.as_deref().map(output::argument);
    let next = |measured| next_command(measured, &data, model.as_deref());
    let (text, next, judged) = match &args.model {
        Some(model) => {
            let mut report = measure_file(
                &ModelFile::read(model)?,
                &args.data,
                args.rows,
                &args.asked,
                progress,
            )?;
            if let Some(verdict) = &mut report.verdict {
                verdict.utc_offset = args.utc_offset;
            }
            let measured = ReportOrVerdict::Report(&report);
            (format.exporter().export(&report)?, next(measured), judge_all(args, measured))
        }
        None => {
            let traces = LabelledTraces::open(&args.data, &FeatureSet::none())?;
            let mut verdict = judge(&traces, &args.asked, &Resources::default(), progress)?;
            verdict.utc_offset = args.utc_offset;
            let measured = ReportOrVerdict::Verdict(&verdict);
            (verdict_in(&verdict, format)?, next(measured), judge_all(args, measured))
        }
    };
    match (&args.output, decisions) {
        (Some(path), Some(decisions)) => write_set(path, text.as_bytes(), || decisions.commit())?,
        (Some(path), None) => write_atomic(path, text.as_bytes())?,
        (None, decisions) => {
            decisions.map_or(Ok(()), AtomicFile::commit)?;
            if matches!(format, ReportFormat::Text | ReportFormat::Details) {
                let more = "More     --details prints every fact, --format html draws them\n";
                output::print_answer(&format!("{text}{}{more}", output::next(&next)))?;
            } else {
                output::print_text(&text)?;
            }
        }
    }
    let mut held = Vec::new();
    for judged in judged {
        match judged {
            Judged::Fails => {}
            Judged::Unknown(why) => progress.note(&why),
            Judged::Holds(sentence) if held.contains(&sentence) => {}
            Judged::Holds(sentence) => held.push(sentence),
        }
    }
    if held.is_empty() { Ok(()) } else { Err(Failure::ConditionHolds(held.join("; "))) }
}

fn judge_all(args: &ReportArgs, measured: ReportOrVerdict<'_>) -> Vec<Judged> {
    args.fail_if.iter().map(|condition| condition.judge(measured)).collect()
}
