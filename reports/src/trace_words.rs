//! Words about the traces of a report.

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
