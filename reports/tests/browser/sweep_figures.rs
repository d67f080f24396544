//! What the figures of a sweep's page must show, computed from its JSON alone.

use crate::figures::Shown;
use serde_json::Value;

/// Every point that a figure may show.
pub(crate) fn expected(sweep: &Value) -> Shown {
    let mut shown = Shown::new();
    let rows = sweep["rows"].as_array().unwrap();
    for row in rows {
        let (x, eta) = (&row["ternary_entries"], &row["validation"]["eta_packets"]);
        let series = if row["pareto"] == true { "Pareto front" } else { recipe(row) };
        let point = (x.as_f64().unwrap().to_string(), eta.as_f64().unwrap());
        add(&mut shown, FRONT, series, point);
    }
    for summary in sweep["summary"].as_array().unwrap() {
        of_configuration(&mut shown, summary);
    }
    add(&mut shown, FRONT, "proposed", proposed(sweep));
    for recipe in ["weights none", "weights balanced"] {
        let figure = format!("Scores against trees at depth 4 ({recipe})");
        for score in [0.65, 0.35, 0.45, 0.99] {
            add(&mut shown, &figure, "the paper's text, 4 trees", ("4".to_owned(), score));
        }
    }
    shown
}

const FRONT: &str = "\u{3B7} against ternary entries";

fn recipe(setting: &Value) -> &'static str {
    if setting["class_weight"] == "none" { "weights none" } else { "weights balanced" }
}

fn proposed(sweep: &Value) -> (String, f64) {
    let row = &sweep["rows"][sweep["proposed"].as_u64().unwrap() as usize];
    let eta = row["validation"]["eta_packets"].as_f64().unwrap();
    (row["ternary_entries"].to_string(), eta)
}

fn of_configuration(shown: &mut Shown, summary: &Value) {
    let recipe = format!("({})", recipe(summary));
    let (trees, depth) = (summary["trees"].to_string(), summary["max_depth"].to_string());
    let mean = |field: &str| summary["test"][field]["mean"].as_f64();
    for (name, field) in [("F1", "f1"), ("\u{3B7}", "eta_packets")] {
        let Some(mean) = mean(field) else { continue };
        let figure = format!("{name} against trees {recipe}");
        add(shown, &figure, &format!("depth {depth}"), (trees.clone(), mean));
        let each = if trees == "1" { "1 tree".to_owned() } else { format!("{trees} trees") };
        let figure = format!("{name} against depth {recipe}");
        add(shown, &figure, &each, (depth.clone(), mean));
        let figure = format!("{name} by trees and depth {recipe}");
        add(shown, &figure, &format!("Depth {depth}"), (trees.clone(), mean));
    }
    if depth == "4" {
        let figure = format!("Scores against trees at depth 4 {recipe}");
        let inverse = mean("eta_packets").map(f64::recip);
        let scores = [
            ("precision", mean("precision")),
            ("recall", mean("recall")),
            ("F1", mean("f1")),
            ("1/\u{3B7}", inverse),
        ];
        for (name, score) in scores {
            if let Some(score) = score {
                add(shown, &figure, name, (trees.clone(), score));
            }
        }
    }
}

fn add(shown: &mut Shown, figure: &str, series: &str, point: (String, f64)) {
    shown.entry((figure.to_owned(), series.to_owned())).or_default().push(point);
}
