//! Comparisons of models, by folds and by groups of switches, in words.

use super::model::metrics_row;
use dropcast_forest::Confusion;
use dropcast_pipeline::train::cross_validation::CrossValidation;
use dropcast_pipeline::train::model_per::{GroupModel, GroupModels, GroupScores};
use dropcast_train::Spread;

/// The folds as a table, and their means.
pub fn folds_table(result: &CrossValidation) -> String {
    let mut text =
        "fold        drops  precision  recall      F1  avg. precision  1/eta bound\n".to_owned();
    for (nth, fold) in result.folds.iter().enumerate() {
        let line = metrics_row(&nth.to_string(), &fold.test);
        text.push_str(&format!("{}  {}\n", line.trim_end(), fold.files.join(", ")));
    }
    if result.folds_without_drops > 0 {
        let (without, all) = (result.folds_without_drops, result.folds.len());
        let means = "without drops to find, not in the means:";
        text.push_str(&format!("{means} {without} of {all} folds\n"));
    }
    let Some(test) = &result.test else { return text };
    let named = [
        ("precision", test.precision),
        ("recall", test.recall),
        ("F1", test.f1),
        ("avg. precision", test.average_precision),
    ];
    for (name, spread) in named {
        let spread = match spread {
            Some(Spread { mean, sd: Some(sd), .. }) => format!("{mean:.4} +- {sd:.4}"),
            Some(Spread { mean, sd: None, .. }) => format!("{mean:.4}"),
            None => "undefined in a fold".to_owned(),
        };
        text.push_str(&format!("{name:14} {spread}\n"));
    }
    text
}

/// The models of groups beside the pooled one, as a table.
pub fn groups_table(models: &GroupModels) -> String {
    let score = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), |v| format!("{v:.4}"));
    let inverse =
        |eta: Option<f64>| eta.map_or_else(|| "-".to_owned(), |eta| format!("{:.5}", 1.0 / eta));
    let bytes = |measured: Option<&GroupScores>| {
        let bytes = measured.and_then(|measured| measured.dct_bytes);
        bytes.map_or_else(|| "-".to_owned(), |bytes| bytes.to_string())
    };
    let mut text = format!(
        "On {} rows, the model of each by itself (own) and the one of all (pooled):\n\n\
         {:<16} {:>10} {:>8} {:>8} {:>9} {:>10} {:>12} {:>9} {:>12}\n",
        models.rows,
        "model",
        "rows",
        "drops",
        "own F1",
        "pooled F1",
        "own 1/eta",
        "pooled 1/eta",
        "own bytes",
        "pooled bytes"
    );
    for GroupModel { name, own, pooled, problem, .. } in &models.models {
        let own = own.as_ref();
        text.push_str(&format!(
            "{name:<16} {:>10} {:>8} {:>8} {:>9} {:>10} {:>12} {:>9} {:>12}{}\n",
            pooled.scores.rows,
            pooled.scores.drops,
            score(own.and_then(|own| own.scores.f1)),
            score(pooled.scores.f1),
            inverse(own.and_then(|own| own.eta_packets)),
            inverse(pooled.eta_packets),
            bytes(own),
            bytes(Some(pooled)),
            problem.as_ref().map_or_else(String::new, |problem| format!("  {problem}")),
        ));
    }
    let GroupModels { own, all_pooled, .. } = models;
    let Confusion { tp, fn_, .. } = all_pooled.confusion;
    text.push_str(&format!(
        "{:<16} {:>10} {:>8} {:>8} {:>9} {:>10} {:>12}\n",
        "all",
        all_pooled.confusion.total(),
        tp + fn_,
        score(own.f1),
        score(all_pooled.f1),
        inverse(own.eta_packets),
        inverse(all_pooled.eta_packets),
    ));
    text
}
