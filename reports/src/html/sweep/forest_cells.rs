//! What the tables of the best forests and of the front have in common: sizes, and scores of unseen rows.

use crate::html::table::Cell;
use crate::sweep_view::Measure;
use dropcast_train::{ForestSize, FrontPart, SweepScores};

/// The heads of [`cells`].
pub(super) const HEADS: [&str; 8] = [
    "seed",
    "entries",
    "table, bytes",
    "thresholds",
    "\u{3B7}, validation",
    "\u{3B7}, test",
    "F1, validation",
    "F1, test",
];

/// The cells of a forest of this seed and size; `scores` are its scores of a part, if it has them.
pub(super) fn cells<'a>(
    seed: u64,
    size: &ForestSize,
    scores: impl Fn(FrontPart) -> Option<&'a SweepScores>,
) -> [Cell; 8] {
    let score = |part, measure: Measure| {
        Cell::Ratio(scores(part).and_then(|scores| measure.value(scores)), 4)
    };
    [
        Cell::Count(Some(seed)),
        Cell::Count(size.ternary_entries),
        Cell::Count(size.dct_bytes),
        Cell::Count(Some(size.thresholds)),
        score(FrontPart::Validation, Measure::Eta),
        score(FrontPart::Test, Measure::Eta),
        score(FrontPart::Validation, Measure::F1),
        score(FrontPart::Test, Measure::F1),
    ]
}
