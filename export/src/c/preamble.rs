//! A header's top comment and constants.

use crate::about::time_constant;
use crate::checked::Checked;
use crate::ident::{identifier, plain};

/// The comment at the top of `file`; the lines of `usage` begin with ` * `.
pub(crate) fn about(model: &Checked<'_>, file: &str, usage: &str) -> String {
    let origin = model.origin;
    let averages = time_constant(model).map_or_else(String::new, |line| format!("\n * {line}"));
    format!(
        "\
/* {file}: would push-out Longest Queue Drop drop this packet?
 *
 * Written by dropcast {version} from model \"{model_name}\",
 * SHA-256 of its model.json {sha256}.
 * {trees} of depth {depth} on {features}.{averages}
 *
{usage} */
",
        version = plain(&origin.tool_version),
        model_name = plain(&origin.model_name),
        sha256 = plain(&origin.model_sha256),
        trees = counted(model.forest.trees.len(), "tree"),
        depth = model.complete.layout.depth(),
        features = counted(model.forest.features.len(), "feature"),
    )
}

/// The features and the numbers that a program may need.
pub(crate) fn constants(model: &Checked<'_>) -> String {
    let (name, upper) = (&model.prefix, model.prefix.to_ascii_uppercase());
    let features: Vec<String> = model
        .origin
        .columns
        .iter()
        .enumerate()
        .map(|(at, column)| {
            format!(
                "    /* {definition}; unit: {unit} */\n    {upper}_FEATURE_{feature} = {at}",
                unit = plain(&column.unit),
                definition = plain(&column.definition),
                feature = identifier(&column.name).to_ascii_uppercase(),
            )
        })
        .collect();
    format!(
        "\
enum {name}_feature {{
{features}
}};

#define {upper}_N_FEATURES {n_features}
#define {upper}_N_TREES {trees}
#define {upper}_DEPTH {depth}
/* A drop is predicted if and only if the score is larger. */
#define {upper}_VOTE_THRESHOLD {vote}u
{average}{switch}#define {upper}_MODEL_SHA256 \"{sha256}\"
",
        features = features.join(",\n"),
        n_features = model.forest.features.len(),
        trees = model.forest.trees.len(),
        depth = model.complete.layout.depth(),
        vote = model.forest.vote_threshold,
        average = average(model),
        switch = switch(model),
        sha256 = plain(&model.origin.model_sha256),
    )
}

/// The switch that the model is for, so that the includer can check it.
fn switch(model: &Checked<'_>) -> String {
    let upper = model.prefix.to_ascii_uppercase();
    let mut text = String::new();
    if let Some(bytes) = model.origin.buffer_bytes {
        text += &format!(
            "/* The switch that the model is for: do not use it on another. */\n\
             #define {upper}_BUFFER_BYTES {bytes}u\n"
        );
    }
    if let Some(ports) = model.origin.ports {
        text += &format!("#define {upper}_PORTS {ports}u\n");
    }
    text
}

fn average(model: &Checked<'_>) -> String {
    let upper = model.prefix.to_ascii_uppercase();
    match model.average_ns {
        0 => String::new(),
        average_ns => format!("#define {upper}_AVERAGE_NS {average_ns}u\n"),
    }
}

fn counted(count: usize, what: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {what}{plural}")
}
