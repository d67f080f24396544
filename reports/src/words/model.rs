//! A model in words.

use crate::numbers::count;
use dropcast_forest::{Forest, Metrics, PartMetrics, ScoreRange, ScoreRanges, SeedMetrics};
use dropcast_measure::{Gain, GainSection, Report};
use dropcast_pipeline::table_cost::TableCost;
use dropcast_train::{Budget, ForestCost, TrainedModel};

/// What was decided about the forest, as a line.
pub fn forest_line(model: &TrainedModel) -> String {
    let TrainedModel { forest, features, provenance, .. } = model;
    let trees = forest.trees.len();
    let mut line = format!(
        "forest: {trees} {} of depth {}, vote threshold {} of {}",
        if trees == 1 { "tree" } else { "trees" },
        forest.depth(),
        forest.vote_threshold,
        trees * usize::from(u8::MAX)
    );
    if let Some(provenance) = provenance {
        line.push_str(&format!(" ({})", provenance.vote));
        let cost = TableCost::new(features);
        for &(resource, most) in provenance.budget.iter().flat_map(Budget::limits) {
            let taken = cost.cost(forest, resource);
            let taken = taken.map_or_else(|| "-".to_owned(), |taken| taken.to_string());
            let name = resource.name().replace('-', " ");
            line.push_str(&format!(", {taken} of {most} {name}"));
        }
    }
    line.push('\n');
    line
}

/// What Credence with a model loses against switches without one, in kB.
pub fn gain_line(gain: &GainSection) -> String {
    let against = |gain: Gain, other: &str| {
        let kilobytes = grouped_kilobytes(gain.bytes.unsigned_abs());
        match gain.bytes {
            0 => format!("as much as {other}"),
            1.. => format!("{kilobytes} kB less than {other}"),
            _ => format!("{kilobytes} kB more than {other}"),
        }
    };
    let mut others = vec![against(gain.always_accept, "without an oracle")];
    if let Some((best, alpha)) = gain.best_alpha.and_then(|best| Some((best, best.alpha?))) {
        others.push(against(best.gain, &format!("alpha {alpha}, the best")));
    }
    others.push(against(gain.complete_sharing, "Complete Sharing"));
    format!("on the test rows Credence with it loses {}", others.join(", "))
}

fn grouped_kilobytes(bytes: u64) -> String {
    let tenths = (bytes + 50) / 100;
    format!("{}.{}", count(tenths / 10), tenths % 10)
}

/// That a forest predicts the same for every packet, where it does.
pub fn constant_warning(forest: &Forest) -> Option<&'static str> {
    Some(match forest.constant()? {
        false => "it never predicts a drop, no score is above its threshold",
        true => "it always predicts a drop, every score is above its threshold",
    })
}

/// The metrics as a table, and what they are over seeds.
pub fn metrics_table(metrics: &Metrics) -> String {
    let mut text =
        "rows        drops  precision  recall      F1  avg. precision  1/eta bound\n".to_owned();
    text.push_str(&metrics_row("train", &metrics.train));
    let others = [("valid", &metrics.validation), ("test", &metrics.test)];
    for (name, part) in others.into_iter().filter_map(|(name, part)| Some((name, part.as_ref()?))) {
        text.push_str(&metrics_row(name, part));
    }
    match &metrics.over_seeds {
        Some(over) => {
            text.push_str(&format!("over {}, the median (lowest to highest):\n", seeds(over)));
            for (name, ranges) in [("valid", &over.validation), ("test", &over.test)] {
                let words =
                    ranges.as_ref().map(|ranges| format!("{name:5} {}\n", ranges_words(ranges)));
                text.push_str(&words.unwrap_or_default());
            }
        }
        None => text.push_str("One seed was trained: what another changes is not known.\n"),
    }
    text
}

/// What the model's training found over seeds, on the test rows if there were any; none if it was not over seeds.
pub(crate) fn training_over_seeds(report: &Report) -> Option<String> {
    let over = report.model.metrics.as_ref()?.over_seeds.as_ref()?;
    let (rows, ranges) = match (&over.test, &over.validation) {
        (Some(test), _) => ("test", test),
        (None, validation) => ("validation", validation.as_ref()?),
    };
    Some(format!(
        "When it was trained, on the {rows} rows, over {}, the median (lowest to highest): {}.",
        seeds(over),
        ranges_words(ranges)
    ))
}

/// Which seeds were trained.
fn seeds(over: &SeedMetrics) -> String {
    let [first, .., last] = over.seeds.as_slice() else { return "one seed".to_owned() };
    format!("{} seeds, {first} to {last} (the model is of seed {first})", over.seeds.len())
}

/// The scores of a part over seeds.
fn ranges_words(ranges: &ScoreRanges) -> String {
    let range = |of: Option<ScoreRange>| match of {
        Some(ScoreRange { lowest, median, highest }) => {
            format!("{median:.4} ({lowest:.4} to {highest:.4})")
        }
        None => "- (undefined for a seed)".to_owned(),
    };
    let ScoreRanges { precision, recall, f1 } = *ranges;
    format!("precision {}, recall {}, F1 {}", range(precision), range(recall), range(f1))
}

/// A line of the table.
pub fn metrics_row(name: &str, part: &PartMetrics) -> String {
    let score = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), |v| format!("{v:.4}"));
    format!(
        "{name:5} {:>10} {:>10} {:>7} {:>7} {:>15} {:>12}   ({} rows)\n",
        part.drops,
        score(part.precision),
        score(part.recall),
        score(part.f1),
        score(part.average_precision),
        score(part.eta_bound.map(|eta| 1.0 / eta)),
        part.rows
    )
}
