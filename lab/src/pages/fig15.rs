//! Figure 15 of the Credence paper: prediction scores against the number of trees.

use crate::reproduce::fig15::{Fig15Row, Recipe};
use dropcast_forest::PartMetrics;
use dropcast_reports::figure15::{DEPTH, PAPER_AT_4_TREES};
use dropcast_reports::plot::{Axis, AxisScale, LineFigure, Point, Series};

/// The scores in the figure's order; undefined ones are `None`.
fn scores(row: &Fig15Row) -> [(&'static str, Option<f64>); 6] {
    let PartMetrics { accuracy, precision, recall, f1, eta_bound, .. } = row.metrics;
    [
        ("accuracy", accuracy),
        ("precision", precision),
        ("recall", recall),
        ("F1", f1),
        ("1/eta", row.eta.map(f64::recip)),
        ("1/eta bound", eta_bound.map(f64::recip)),
    ]
}

/// One figure for the rows of `recipe`, with the paper's values at 4 trees beside them.
pub fn figure(rows: &[Fig15Row], recipe: &Recipe) -> LineFigure {
    let rows: Vec<&Fig15Row> = rows.iter().filter(|row| row.recipe == recipe.name).collect();
    let names = rows.first().map_or([""; 6], |row| scores(row).map(|(name, _)| name));
    let series = names.iter().enumerate().map(|(score, &name)| Series {
        name: name.to_owned(),
        points: rows
            .iter()
            .filter_map(|row| {
                let expectation = expectation(name, row.trees);
                let y = scores(row)[score].1?;
                Some(Point { expectation, ..Point::new(f64::from(row.trees), y) })
            })
            .collect(),
        ..Series::default()
    });
    LineFigure {
        title: format!("Prediction scores against trees, depth {DEPTH} ({})", recipe.name),
        description: format!(
            "Accuracy, precision, recall, F1 and the inverse of eta on the test rows, for forests of 1 to 128 trees of depth {DEPTH}."
        ),
        x: Axis::new("trees").scale(AxisScale::Log2),
        y: Axis::new("score").range(0.0, 1.0),
        series: series.filter(|series| !series.points.is_empty()).collect(),
        notes: vec![
            trained_on(recipe),
            "Paper (Figure 15 and section 4.1), at 4 trees: accuracy 0.99, precision 0.65, \
             recall 0.35, F1 0.45, 1/eta 0.99; no significant improvement beyond 4 trees."
                .to_owned(),
        ],
    }
}

/// The features and the share of training rows of a recipe.
fn trained_on(recipe: &Recipe) -> String {
    let features = recipe.settings.features.names().join(", ");
    let share = recipe.settings.split.train_share;
    let share = share.map_or_else(String::new, |share| {
        format!("; {} % of the rows train, the others test", share * 100.0)
    });
    format!("Trained on {features}{share}.")
}

fn expectation(score: &str, trees: u16) -> Option<String> {
    if trees != 4 {
        return None;
    }
    let (_, value) = PAPER_AT_4_TREES.iter().find(|(name, _)| *name == score)?;
    Some(format!("{value} (paper, section 4.1)"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reproduce::fig15::recipes;
    use dropcast_forest::ScoreHistogram;

    #[test]
    fn undefined_scores_are_left_out_and_the_papers_stand_beside_ours() {
        let mut scores = ScoreHistogram::new(4);
        scores.add(0, false);
        scores.add(900, true);
        let row = |trees, threshold| Fig15Row {
            recipe: recipes(1)[0].name,
            trees,
            metrics: PartMetrics::measure(&scores, threshold, None),
            eta: Some(1.25),
        };
        // At 1020 no drop is predicted, so precision is undefined there.
        let [paper, _] = recipes(1);
        let figure = figure(&[row(4, 500), row(8, 1020)], &paper);
        let of = |name: &str| {
            let series = figure.series.iter().find(|series| series.name == name);
            series.map(|series| series.points.clone()).unwrap_or_default()
        };
        assert_eq!(of("precision").len(), 1);
        assert_eq!(of("precision")[0].expectation.as_deref(), Some("0.65 (paper, section 4.1)"));
        assert_eq!(of("1/eta").iter().map(|p| p.y).collect::<Vec<_>>(), [0.8, 0.8]);
        assert_eq!(of("recall")[1].y, 0.0);
        assert!(of("1/eta bound").is_empty(), "the number of ports is not known");
        assert_eq!(
            figure.notes[0],
            "Trained on queue_length, avg_queue_length, occupancy, avg_occupancy; 60 % of the rows \
             train, the others test."
        );
    }
}
