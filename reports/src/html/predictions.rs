//! Predictions at the model's own vote threshold, here and in training.

use super::body::Body;
use super::table::Cell;
use crate::text::interval_sentence;
use dropcast_forest::Confusion;
use dropcast_measure::Report;

pub(super) fn write(page: &mut Body, report: &Report) {
    page.folded_section("forest", "The forest");
    page.heading("Predictions at its vote threshold");
    if let Some(silent) = crate::trace_words::predicts_nothing(report) {
        page.warning(&silent);
    }
    if report.labels.drops == 0 {
        page.paragraph("Recall and average precision are undefined: there is no drop to predict.");
    }
    page.paragraph(&format!(
        "A drop is predicted when the sum of leaf weights is above {} (of at most {}).",
        report.model.vote_threshold, report.model.max_score
    ));
    page.paragraph(&interval_sentence(report));
    // The script puts the slider in here; it moves over the points of the curve in the JSON.
    page.html.push_str("<div id=\"votes\"></div>\n");
    page.open("tables");
    confusion(page, "Packets of this report, by what LQD did.", report.prediction.confusion);
    if let Some(metrics) = &report.model.metrics {
        let caption = "Packets that the model was trained on, by what LQD did (from its file).";
        confusion(page, caption, metrics.train.confusion);
        if let Some(validation) = &metrics.validation {
            let caption = "Packets on which its vote threshold was chosen (from its file).";
            confusion(page, caption, validation.confusion);
        }
    }
    scores(page, report);
    outcomes(page, report);
    page.close();
}

fn confusion(page: &mut Body, caption: &str, confusion: Confusion) {
    let row = |name: &str, predicted, accepted| {
        vec![Cell::text(name), Cell::Count(Some(predicted)), Cell::Count(Some(accepted))]
    };
    page.table(
        caption,
        &["", "predicted drop", "predicted accept"],
        &[
            row("dropped", confusion.tp, confusion.fn_),
            row("transmitted", confusion.fp, confusion.tn),
        ],
    );
}

fn scores(page: &mut Body, report: &Report) {
    let here = &report.prediction;
    let train = report.model.metrics.as_ref().map(|metrics| &metrics.train);
    let score = |name: &str, formula: &str, here, train: Option<Option<f64>>| {
        let mut row = vec![Cell::text(name), Cell::text(formula), Cell::Ratio(here, 4)];
        row.extend(train.map(|train| Cell::Ratio(train, 4)));
        row
    };
    let ap = report.curve.average_precision;
    let rows = [
        score("accuracy", "(TP + TN) / all", here.accuracy, train.map(|train| train.accuracy)),
        score("precision", "TP / (TP + FP)", here.precision, train.map(|train| train.precision)),
        score("recall", "TP / (TP + FN)", here.recall, train.map(|train| train.recall)),
        score("F1", "2 TP / (2 TP + FP + FN)", here.f1, train.map(|train| train.f1)),
        score(
            "average precision",
            "over all thresholds",
            ap,
            train.map(|train| train.average_precision),
        ),
    ];
    let heads = ["score", "definition", "here", "in training"];
    page.table(
        "Scores (Credence paper, appendix C). A score whose denominator is 0 is undefined.",
        &heads[..if train.is_some() { 4 } else { 3 }],
        &rows,
    );
}

fn outcomes(page: &mut Body, report: &Report) {
    let labels = &report.labels;
    let row = |name: &str, count| vec![Cell::text(name), Cell::Count(count)];
    page.table(
        "Outcomes of packets at LQD.",
        &["outcome", "packets"],
        &[
            row("all", Some(labels.rows)),
            row("dropped", Some(labels.drops)),
            row("pushed out after acceptance", labels.pushed_out),
            row("rejected on arrival", labels.rejected),
        ],
    );
}
