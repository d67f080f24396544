//! The comment at the top of a file.

use super::pipeline::Pipeline;
use crate::about::{about_code, commented};
use crate::checked::Checked;

/// The comment at the top of the file of `module`; `what` are lines about it.
pub(super) fn about(model: &Checked<'_>, module: &str, what: &str) -> String {
    let mut lines = about_code(model, &format!("{module}.v"));
    lines.extend(what.lines().map(str::to_owned));
    commented(&lines, "//")
}

/// What the module does.
pub(super) fn behaviour(pipeline: &Pipeline) -> String {
    format!(
        "\
Would push-out Longest Queue Drop drop this packet? One prediction per clock: a row that is at the
inputs at a rising edge with valid_in is answered {latency} edges later (LATENCY), in order. There is
no back-pressure. rst is synchronous and clears the rows in flight; data registers need
and have no reset.

The inputs are a packet's features, recorded before the packet is added to the buffer. All numbers
are unsigned.
",
        latency = pipeline.latency()
    )
}
