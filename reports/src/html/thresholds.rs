//! Scores at every vote threshold.

use super::body::{Body, Data};
use super::table::Cell;
use crate::{figures, numbers};
use dropcast_measure::CurvePoint;
use dropcast_measure::Report;

pub(super) fn write(page: &mut Body, report: &Report) {
    page.heading("Other vote thresholds");
    let own = report.prediction.f1;
    if let Some(best) = report.curve.best_f1.filter(|best| own.is_none_or(|own| own < best.f1)) {
        page.paragraph(&format!(
            "The highest F1 on these packets is {}, at vote threshold {}. It was chosen with their \
             labels, so it is no score of the model.",
            numbers::ratio(best.f1, 4),
            best.vote_threshold
        ));
    } else if own.is_some() {
        page.paragraph("No other vote threshold has a higher F1 on these packets.");
    }
    page.open("figures");
    page.figure(
        &figures::precision_recall(report),
        &format!(
            "Each point is a vote threshold. Up and to the right is better: more of the drops \
             found, with fewer false alarms. Average precision, the area under the steps, is {}.",
            numbers::optional(report.curve.average_precision, 4)
        ),
        &data(report, &["recall", "precision", "vote threshold"], |point| {
            vec![
                Cell::Ratio(point.recall, 4),
                Cell::Ratio(point.precision, 4),
                Cell::whole(point.vote_threshold),
            ]
        }),
    );
    page.figure(
        &figures::by_threshold(report),
        "Further right, fewer drops are predicted: recall falls, and precision mostly rises. The \
         dotted line is the model's own threshold. If F1 is flat around it, the choice matters \
         little.",
        &data(report, &["vote threshold", "F1", "precision", "recall"], |point| {
            vec![
                Cell::whole(point.vote_threshold),
                Cell::Ratio(point.f1, 4),
                Cell::Ratio(point.precision, 4),
                Cell::Ratio(point.recall, 4),
            ]
        }),
    );
    page.close();
}

fn data<'a>(
    report: &Report,
    heads: &'a [&'a str],
    row: impl Fn(&CurvePoint) -> Vec<Cell>,
) -> Data<'a> {
    Data { heads, groups: vec![("", report.curve.points.iter().map(row).collect())] }
}
