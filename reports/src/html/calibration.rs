//! Calibration: scores as probabilities of a drop.

use super::body::{Body, Data};
use super::table::Cell;
use crate::{figures, numbers};
use dropcast_measure::CalibrationRange;
use dropcast_measure::{Report, ScoreBin};

pub(super) fn write(page: &mut Body, report: &Report) {
    let of = &report.calibration;
    page.heading("Calibration of scores");
    page.paragraph(
        "A score is a sum of leaf weights. Divided by the highest score, it can be read as the \
         probability of a drop. Only the vote threshold decides, so a model can predict well and \
         be badly calibrated. Class weights in training raise the scores on purpose.",
    );
    page.table(
        "Calibration. Smaller is better; 0 is perfect.",
        &["measure", "definition", "value"],
        &[
            measure("Brier score", "mean of (score / highest - drop)\u{B2}", of.brier),
            measure(
                "Brier score of a constant forecast of the share of drops",
                "share (1 - share)",
                of.brier_of_share,
            ),
            measure(
                "expected calibration error",
                "mean distance between score and share of drops over 10 ranges, weighted by rows",
                of.expected_calibration_error,
            ),
        ],
    );
    page.open("figures");
    page.figure(
        &figures::reliability(report),
        &format!(
            "Each point is a range of scores. On the dotted line, the score equals the share of \
             packets dropped. Above it, drops are more frequent than the score says; below it, \
             rarer. Brier score {}, expected calibration error {}.",
            numbers::optional(of.brier, 4),
            numbers::optional(of.expected_calibration_error, 4)
        ),
        &Data {
            heads: &["lowest score", "highest", "packets", "drops", "mean score", "share dropped"],
            groups: vec![("", of.ranges.iter().map(range).collect())],
        },
    );
    page.figure(
        &figures::scores(report),
        "Distribution of scores within each class, on a logarithmic scale. Drops right of the \
         vote threshold and transmitted packets left of it are predicted correctly. Empty ranges \
         have no point.",
        &Data {
            heads: &["lowest score", "highest", "transmitted by LQD", "dropped by LQD"],
            groups: vec![("", report.score_histogram.iter().map(bin).collect())],
        },
    );
    page.close();
}

fn measure(name: &str, definition: &str, value: Option<f64>) -> Vec<Cell> {
    vec![Cell::text(name), Cell::text(definition), Cell::Ratio(value, 4)]
}

fn range(range: &CalibrationRange) -> Vec<Cell> {
    vec![
        Cell::whole(range.from),
        Cell::whole(range.to),
        Cell::Count(Some(range.rows)),
        Cell::Count(Some(range.drops)),
        Cell::Ratio(range.mean_score, 4),
        Cell::Ratio(range.drop_share, 4),
    ]
}

fn bin(bin: &ScoreBin) -> Vec<Cell> {
    let count = |count| Cell::Count(Some(count));
    vec![Cell::whole(bin.from), Cell::whole(bin.to), count(bin.transmitted), count(bin.dropped)]
}
