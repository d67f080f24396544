//! The header comment of every emitted text file.

use crate::Origin;
use crate::checked::Checked;
use crate::ident::plain;
use crate::tracker;
use dropcast_features::{Feature, FeatureMemory};

/// What the model answers: of features of flows, whether others of the flow follow.
pub(crate) fn question(model: &Checked<'_>) -> &'static str {
    match tracker::of_flow(model) {
        Some(_) => "do others of its flow follow this packet, so that it may be dropped?",
        None => "would push-out Longest Queue Drop drop this packet?",
    }
}

/// Lines of the comment at the top of an emitted file: its content and origin.
pub(crate) fn about(model: &Checked<'_>, what: &str) -> Vec<String> {
    let forest = model.forest;
    let mut lines = origin(model, what);
    lines.push(format!(
        "{} of depth {}; a drop is predicted if and only if the score is above {}.",
        counted(forest.trees.len(), "tree"),
        forest.depth(),
        forest.vote_threshold
    ));
    lines.extend(time_constant(model));
    lines.extend(features(model.origin));
    lines
}

/// The same for code that describes its features itself, up to the empty line before what the file adds.
pub(crate) fn about_code(model: &Checked<'_>, what: &str) -> Vec<String> {
    let mut lines = origin(model, what);
    lines.push(format!(
        "{} of depth {} on {}.",
        counted(model.forest.trees.len(), "tree"),
        model.complete.layout.depth(),
        counted(model.forest.features.len(), "feature")
    ));
    lines.extend(time_constant(model));
    lines.push(String::new());
    lines
}

/// What the file is, and the model that it was written from.
fn origin(model: &Checked<'_>, what: &str) -> Vec<String> {
    let origin = model.origin;
    vec![
        what.to_owned(),
        String::new(),
        format!(
            "Written by dropcast {} from model \"{}\",",
            plain(&origin.tool_version),
            plain(&origin.model_name)
        ),
        format!("SHA-256 of its model.json {}.", plain(&origin.model_sha256)),
    ]
}

/// What the time constant of the model's features is, if any of them has one.
fn time_constant(model: &Checked<'_>) -> Option<String> {
    let features = model.origin.columns.iter().filter_map(|column| column.name.parse().ok());
    let memories: Vec<FeatureMemory> = features.map(|feature: Feature| feature.memory()).collect();
    let what = if memories.contains(&FeatureMemory::MovingAverages) {
        "moving averages"
    } else if memories.contains(&FeatureMemory::Flows) {
        "bursts and messages"
    } else if memories.iter().any(|&memory| memory != FeatureMemory::Nothing) {
        "arrival rates"
    } else {
        return None;
    };
    Some(match model.average_ns {
        0 => format!("The model states no time constant of {what}."),
        average_ns => format!("Time constant of {what}, the base RTT: {average_ns} ns."),
    })
}

/// The same for a file that is the same for every model of a layout.
pub(crate) fn about_layout(model: &Checked<'_>, what: &str, layout: &str) -> Vec<String> {
    let origin = model.origin;
    let mut lines = vec![
        what.to_owned(),
        String::new(),
        format!(
            "Written by dropcast {} for every model on these features",
            plain(&origin.tool_version)
        ),
        format!("that fits the layout {layout}: a model is entries only."),
    ];
    lines.extend(features(origin));
    lines
}

fn features(origin: &Origin) -> Vec<String> {
    let mut lines = vec!["Features, recorded before the packet is added to the buffer:".to_owned()];
    lines.extend(origin.columns.iter().map(|column| {
        format!(
            "  {} ({}): {}",
            plain(&column.name),
            plain(&column.unit),
            plain(&column.definition)
        )
    }));
    lines
}

/// The lines as a line comment.
pub(crate) fn commented(lines: &[String], opening: &str) -> String {
    lines.iter().map(|line| format!("{opening} {line}").trim_end().to_owned() + "\n").collect()
}

fn counted(count: usize, what: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {what}{plural}")
}
