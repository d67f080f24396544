//! Headings of help: options that few need are behind the others.

use clap::Arg;

/// What options are about, and their names in code.
const HEADINGS: [(&str, &[&str]); 5] = [
    ("How events are read", &["columns", "time_unit", "drops", "drop_window_ms", "on_bad_row"]),
    ("How virtual LQD runs", &["departures", "victim", "strict_fit", "max_waiting_rows"]),
    (
        "How trees grow",
        &[
            "trainer",
            "max_features",
            "min_samples_leaf",
            "min_samples_split",
            "criterion",
            "class_weight",
            "monotone",
            "max_bins",
            "no_bootstrap",
            "max_samples",
            "refit_leaves",
        ],
    ),
    (
        "How rows are divided",
        &[
            "split",
            "train_share",
            "validation_share",
            "guard_ns",
            "test_switches",
            "validation_switches",
        ],
    ),
    ("Several models", &["cross_validate", "model_per"]),
];

/// The option under its heading, if it has one.
pub(super) fn under_heading(option: Arg) -> Arg {
    let is_of = |(_, names): &(&str, &[&str])| names.contains(&option.get_id().as_str());
    match HEADINGS.into_iter().find(is_of) {
        Some((heading, _)) => option.help_heading(heading),
        None => option,
    }
}
