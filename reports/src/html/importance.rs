//! Feature importance.

use super::body::{Body, Data};
use super::table::Cell;
use crate::{figures, numbers};
use dropcast_measure::Report;
use dropcast_measure::{FeatureImportance, Loss};

pub(super) fn write(page: &mut Body, report: &Report) {
    let (features, sample) = (&report.importance.features, &report.importance.sample);
    page.heading("Importance");
    page.open("figures");
    if features.iter().any(|feature| feature.average_precision_loss.is_some()) {
        page.figure(
            &figures::permutation_loss(features),
            &format!(
                "Loss when a feature's values are replaced by those of random packets, mean of {} \
                 repetitions, on {} transmitted and {} dropped packets of this report, weighted to \
                 represent all of them. Two correlated features can both look unimportant here.",
                sample.repetitions,
                numbers::count(sample.transmitted),
                numbers::count(sample.dropped)
            ),
            &losses(features),
        );
    } else {
        page.paragraph("There are no drops, so there is no permutation importance.");
    }
    if features.iter().any(|feature| feature.gini_share.is_some()) {
        page.figure(
            &figures::gini_shares(features),
            "Share of the decrease of Gini impurity by a feature's splits, mean over trees. It is \
             measured on this report's packets, not on those the model was trained on.",
            &gini(features),
        );
    } else {
        page.paragraph("No split lowers the Gini impurity here, so there is no Gini importance.");
    }
    page.close();
}

fn losses(features: &[FeatureImportance]) -> Data<'static> {
    let rows = |of: fn(&FeatureImportance) -> Option<Loss>| -> Vec<Vec<Cell>> {
        let row = |feature: &FeatureImportance| {
            let loss = of(feature);
            let number = |part: fn(Loss) -> f64| Cell::Ratio(loss.map(part), 4);
            let name = Cell::text(feature.name.clone());
            vec![name, number(|loss| loss.mean), number(|loss| loss.min), number(|loss| loss.max)]
        };
        features.iter().map(row).collect()
    };
    Data {
        heads: &["feature", "mean loss", "minimum", "maximum"],
        groups: vec![
            ("of average precision", rows(|feature| feature.average_precision_loss)),
            ("of F1", rows(|feature| feature.f1_loss)),
        ],
    }
}

fn gini(features: &[FeatureImportance]) -> Data<'static> {
    let row = |feature: &FeatureImportance| {
        vec![
            Cell::text(feature.name.clone()),
            Cell::Count(Some(feature.splits)),
            Cell::Ratio(feature.gini_decrease, 6),
            Cell::Ratio(feature.gini_share, 4),
        ]
    };
    Data {
        heads: &["feature", "splits", "Gini decrease", "share"],
        groups: vec![("", features.iter().map(row).collect())],
    }
}
