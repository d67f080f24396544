//! A sweep in words.

use crate::numbers::optional;
use dropcast_train::{
    FrontMeasure, Split, Spread, SweepRow, SweepScores, SweepSummary, SweepTable,
};
use std::collections::BTreeMap;

/// The rows by part, and the front, as tables.
pub fn sweep_tables(table: &SweepTable) -> String {
    let part = table.front.part;
    let measure = match table.front.measure {
        FrontMeasure::EtaPackets => "eta",
        FrontMeasure::F1 => "F1",
    };
    let mut text = String::new();
    for (name, size) in table.parts.named() {
        let episodes = size.episodes.map_or_else(String::new, |n| {
            format!(" in {n} {}", if n == 1 { "episode" } else { "episodes" })
        });
        text.push_str(&format!("{name}: {} rows, {} drops{episodes}\n", size.rows, size.drops));
        if size.has_few_episodes() {
            let by_blocks = if matches!(table.split, Split::Time { .. }) {
                ", or split by time-blocks"
            } else {
                ""
            };
            text.push_str(&format!(
                "  Scores on so few episodes are mostly luck: sweep over longer or more \
                 traces{by_blocks}.\n"
            ));
        }
    }
    if let Some(sentence) = alpha_sentence(table) {
        text.push_str(&format!("{sentence}\n"));
    }
    text.push_str(&format!(
        "{} {}; the Pareto-optimal ones by {measure} on {} rows and by ternary entries, each the median of its seeds:\n\n\
         {:>7} {:>8} {:>8} {:>8} {:>8}  configuration\n",
        table.rows.len(),
        if table.rows.len() == 1 { "forest" } else { "forests" },
        format!("{part:?}").to_lowercase(),
        "entries",
        "eta",
        "F1",
        "test eta",
        "test F1",
    ));
    text.push_str(&front_rows(table));
    text.push_str(&within_noise(table));
    text.push_str(&best_models(table));
    text.push_str(&proposed(table));
    text
}

/// What every switch could do without a forest, if that is known.
pub(crate) fn alpha_sentence(table: &SweepTable) -> Option<String> {
    let best = table.best_alpha.as_ref()?;
    let to_lqd = |part: &str, of: Option<f64>| of.map(|of| format!("{of:.5} on {part} rows"));
    let known = [to_lqd("validation", best.validation), to_lqd("test", best.test)];
    let known: Vec<String> = known.into_iter().flatten().collect();
    let alpha = best.alpha.map_or_else(|| "infinite".to_owned(), |alpha| alpha.to_string());
    (!known.is_empty()).then(|| {
        format!(
            "Without a forest: LQD transmits {} times as many packets as Dynamic Thresholds with the best alpha \
             ({alpha}); compare eta.",
            known.join(", ")
        )
    })
}

/// The Pareto-optimal forests, one on each line.
fn front_rows(table: &SweepTable) -> String {
    let mut text = String::new();
    let part = table.front.part;
    let mut front: BTreeMap<u64, &SweepRow> = BTreeMap::new();
    for row in table.rows.iter().filter(|row| row.pareto) {
        front.insert(row.size.ternary_entries.unwrap_or_default(), row);
    }
    for (entries, row) in front {
        let scores = scores(row.scores(part), row.test.as_ref());
        let setting = &row.setting;
        text.push_str(&format!(
            "{entries:>7} {scores}  {} x {}, {}, {} bins, {} drawn, {}, weights {}, leaves \
             of {}, vote {}, seed {}\n",
            setting.trees,
            setting.max_depth,
            setting.features.join(","),
            setting.max_bins,
            setting.max_features,
            setting.criterion,
            setting.class_weight,
            setting.min_samples_leaf,
            setting.vote,
            row.seed,
        ));
    }
    text
}

/// Configurations within noise of the best that are listed, at most.
const MOST_LISTED: usize = 12;

/// The proposed forest.
fn proposed(table: &SweepTable) -> String {
    let Some(row) = table.proposed.and_then(|at| table.rows.get(at)) else { return String::new() };
    let mut text = format!(
        "\nProposed: {}\n  {} x {}, {}, vote {}, seed {}, {} entries: the cheapest of the front within noise of the best.\n",
        row.model.as_deref().unwrap_or("no model"),
        row.setting.trees,
        row.setting.max_depth,
        row.setting.features.join(","),
        row.setting.vote,
        row.seed,
        row.size.ternary_entries.unwrap_or_default()
    );
    for (name, scores) in [("validation", &row.validation), ("test", &row.test)] {
        let Some(scores) = scores else { continue };
        text.push_str(&format!(
            "  on {name} rows: precision {}, recall {}, F1 {}\n",
            optional(scores.precision, 4),
            optional(scores.recall, 4),
            optional(scores.f1, 4)
        ));
    }
    text
}

/// Which configurations are as good as the best one within noise; nothing where none is proposed.
fn within_noise(table: &SweepTable) -> String {
    if table.proposed.is_none() {
        return String::new();
    }
    let mut text = String::new();
    let mut within: Vec<&SweepSummary> =
        table.summary.iter().filter(|summary| summary.within_noise).collect();
    let entries = |summary: &SweepSummary| table.rows[summary.row].size.ternary_entries;
    within.sort_by_key(|summary| (entries(summary).is_none(), entries(summary)));
    text.push_str(&format!(
        "\n{} of {} configurations are no worse than the best one beyond noise (seed by seed, {} seeds):\n",
        within.len(),
        table.summary.len(),
        within.first().map_or(0, |summary| summary.seeds)
    ));
    for summary in within.iter().take(MOST_LISTED) {
        let f1 = match summary.test.as_ref().or(summary.validation.as_ref()).and_then(|of| of.f1) {
            Some(Spread { lowest, median, highest, .. }) => {
                format!("{median:.4} ({lowest:.4} to {highest:.4})")
            }
            None => "-".to_owned(),
        };
        text.push_str(&format!(
            "{:>7} entries, F1 {f1}: {} x {}, {}, vote {}\n",
            entries(summary).map_or_else(|| "-".to_owned(), |entries| entries.to_string()),
            summary.setting.trees,
            summary.setting.max_depth,
            summary.setting.features.join(","),
            summary.setting.vote
        ));
    }
    if within.len() > MOST_LISTED {
        text.push_str(&format!("        and {} more\n", within.len() - MOST_LISTED));
    }
    text
}

/// The saved model of each feature set, one on each line.
fn best_models(table: &SweepTable) -> String {
    let budget = match &table.budget {
        Some(budget) => format!(", squeezed into {budget}"),
        None => String::new(),
    };
    if table.best.is_empty() {
        return "\nNo forest has both a size and a score, so no model is saved as the best.\n"
            .into();
    }
    let mut text = format!(
        "\nThe best model of each feature set{budget}:\n\n{:>7} {:>8} {:>8} {:>8} {:>8}  file\n",
        "entries", "eta", "F1", "test eta", "test F1",
    );
    for best in &table.best {
        let entries = best.size.ternary_entries.map_or_else(|| "-".to_owned(), |n| n.to_string());
        let scores = scores(best.scores(table.front.part), best.test.as_ref());
        text.push_str(&format!("{entries:>7} {scores}  {}\n", best.model));
    }
    text
}

/// `eta` and F1 on the rows compared on, then on test rows.
fn scores(own: Option<&SweepScores>, test: Option<&SweepScores>) -> String {
    let number = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), |v| format!("{v:.4}"));
    // Where few packets drop, rows differ in the last digits.
    let eta = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), |v| format!("{v:.6}"));
    format!(
        "{:>8} {:>8} {:>8} {:>8}",
        eta(own.and_then(|scores| scores.eta_packets)),
        number(own.and_then(|scores| scores.f1)),
        eta(test.and_then(|scores| scores.eta_packets)),
        number(test.and_then(|scores| scores.f1)),
    )
}
