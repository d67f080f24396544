//! The header comment of every emitted text file.

use crate::Origin;
use crate::checked::Checked;
use crate::ident::plain;

/// Lines of the comment at the top of an emitted file: its content and origin.
pub(crate) fn about(model: &Checked<'_>, what: &str) -> Vec<String> {
    let (origin, forest) = (model.origin, model.forest);
    let averages = match model.average_ns {
        0 => "The model states no time constant of moving averages.".to_owned(),
        average_ns => format!("Moving averages have a time constant of {average_ns} ns."),
    };
    let mut lines = vec![
        what.to_owned(),
        String::new(),
        format!(
            "Written by dropcast {} from model \"{}\",",
            plain(&origin.tool_version),
            plain(&origin.model_name)
        ),
        format!("SHA-256 of its model.json {}.", plain(&origin.model_sha256)),
        format!(
            "{} of depth {}; a drop is predicted if and only if the score is above {}.",
            counted(forest.trees.len(), "tree"),
            forest.depth(),
            forest.vote_threshold
        ),
        averages,
    ];
    lines.extend(features(origin));
    lines
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

pub(crate) fn counted(count: usize, what: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {what}{plural}")
}
