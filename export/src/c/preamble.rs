//! A header's top comment and constants.

use crate::about::{about_code, commented, question};
use crate::checked::Checked;
use crate::ident::{identifier, plain};

/// The comment at the top of `file`; the lines of `usage` begin with ` * `.
pub(crate) fn about(model: &Checked<'_>, file: &str, usage: &str) -> String {
    let what = format!("{file}: {}", question(model));
    let lines = commented(&about_code(model, &what)[1..], " *");
    format!("/* {what}\n{lines}{usage} */\n")
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
