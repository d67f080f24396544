//! The comment at the top of a file.

use super::pipeline::Pipeline;
use crate::about::time_constant;
use crate::checked::Checked;
use crate::ident::plain;

/// The comment at the top of the file of `module`; `what` are lines about it.
pub(super) fn about(model: &Checked<'_>, module: &str, what: &str) -> String {
    let origin = model.origin;
    let what: String = what.lines().map(|line| format!("// {line}\n")).collect();
    let averages = time_constant(model).map_or_else(String::new, |line| format!("\n// {line}"));
    format!(
        "\
// {module}.v
//
// Written by dropcast {version} from model \"{model_name}\",
// SHA-256 of its model.json {sha256}.
// {trees} of depth {depth} on {features}.{averages}
//
{what}",
        version = plain(&origin.tool_version),
        model_name = plain(&origin.model_name),
        sha256 = plain(&origin.model_sha256),
        trees = counted(model.forest.trees.len(), "tree"),
        depth = model.complete.layout.depth(),
        features = counted(model.forest.features.len(), "feature"),
    )
    .replace(" \n", "\n")
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

fn counted(count: usize, what: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {what}{plural}")
}
