//! Words about the traces of a report, and those that trained its model.

use crate::numbers::count;
use dropcast_data::SwitchSpecs;
use dropcast_pipeline::report::Report;
use std::collections::BTreeSet;

/// The trace's names in one line.
pub(crate) fn trace_names(report: &Report) -> String {
    let names: Vec<&str> = report.traces.iter().map(|trace| trace.name.as_str()).collect();
    names.join(", ")
}

/// Which switches' features are scaled to the model's buffer, if any.
pub(crate) fn scaling(report: &Report) -> Option<String> {
    let own = report.model.switch.buffer_bytes?;
    let switches = report.traces.iter().filter_map(|trace| trace.meta.switches.as_ref());
    let buffers = switches.flat_map(SwitchSpecs::all).map(|spec| spec.buffer_bytes);
    let others: BTreeSet<u32> = buffers.filter(|&bytes| bytes != own).collect();
    let others: Vec<String> = others.into_iter().map(|bytes| count(bytes.into())).collect();
    (!others.is_empty()).then(|| {
        let (others, own) = (others.join(", "), count(own.into()));
        format!("bytes of buffers of {others} are scaled to the model's {own}")
    })
}

/// A warning if the model does not say which rows it was trained on.
pub(crate) fn unknown_training_rows(report: &Report) -> Option<String> {
    let model = &report.model;
    let whence = match &model.imported {
        Some(origin) => format!("The model was imported ({}); its file", origin.format),
        None => "The model".to_owned(),
    };
    (!model.training_rows_known).then(|| {
        format!(
            "{whence} does not say which rows it was trained on. If they are among the rows scored \
             here, these scores flatter it."
        )
    })
}

/// Which rows a report is of, if not of all.
pub(crate) fn held_out(report: &Report) -> Option<String> {
    let is_part = report.traces.iter().any(|trace| trace.held_out);
    is_part.then(|| {
        "This is of the test rows alone, those that the model's split kept for testing. For whole traces: \
         `dropcast report --data` without --model."
            .to_owned()
    })
}
