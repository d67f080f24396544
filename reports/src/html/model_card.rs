//! The model card: purpose, training data, quality and limits of the model. Every sentence is a fact
//! of the report or of the model's file.

use super::body::Body;
use crate::numbers::{count, optional, ratio};
use crate::plot::escape;
use dropcast_features::Feature;
use dropcast_measure::Report;
use dropcast_train::{Provenance, Split};
use serde_json::Value;

/// Fewer drops than this get a warning.
const FEW_DROPS: u64 = 1_000;
/// A loss of F1 since training of at least this is reported.
const NOTABLE_LOSS: f64 = 0.05;

pub(super) fn write(page: &mut Body, report: &Report) {
    page.heading("Model card");
    let card = [
        ("Purpose", purpose(report)),
        ("Input", input(report)),
        ("Switch", switch(report)),
        ("Training data", made_from(report)),
        ("Training", made_by(report)),
        ("Quality here", quality(report)),
        ("Limits", limits(report)),
    ];
    page.html.push_str("<div class=\"wide\" tabindex=\"0\" role=\"group\" aria-label=\"Model card\"><table class=\"card\">\n<tbody>\n");
    for (name, facts) in card {
        let items: String =
            facts.iter().map(|fact| format!("<li>{}</li>\n", escape(fact))).collect();
        page.html.push_str(&format!(
            "<tr><th scope=\"row\">{name}</th><td><ul>\n{items}</ul></td></tr>\n"
        ));
    }
    page.html.push_str("</tbody>\n</table></div>\n");
}

fn purpose(report: &Report) -> Vec<String> {
    let model = &report.model;
    vec![
        "Predicts whether push-out LQD would drop a packet that arrives at a shared-buffer \
         switch. It is the oracle of Credence (NSDI '24, Algorithm 1), for switches that cannot \
         push packets out."
            .to_owned(),
        format!(
            "A forest of {} trees, {} splits deep. It predicts a drop when the sum of its leaf \
             weights is above {} of {}; a tie means accept.",
            model.trees, model.depth, model.vote_threshold, model.max_score
        ),
    ]
}

fn input(report: &Report) -> Vec<String> {
    let describe = |name: &String| {
        let known = name.parse::<Feature>().ok();
        known.map_or_else(
            || name.clone(),
            |feature| format!("{name}, {}: {}.", feature.unit(), feature.definition()),
        )
    };
    report.model.features.iter().map(describe).collect()
}

fn switch(report: &Report) -> Vec<String> {
    let switch = &report.model.switch;
    let known = [
        switch.ports.map(|ports| format!("{} output ports", count(u64::from(ports)))),
        switch.buffer_bytes.map(|bytes| format!("{} bytes of buffer", count(u64::from(bytes)))),
        switch.base_rtt_ns.map(|ns| format!("base round-trip time of {} ns", count(ns))),
    ];
    let known: Vec<String> = known.into_iter().flatten().collect();
    if known.is_empty() {
        return vec!["The model's file does not say for which switch it was trained.".to_owned()];
    }
    vec![format!("Made for {}.", known.join(", "))]
}

fn made_from(report: &Report) -> Vec<String> {
    let mut facts = Vec::new();
    if let Some(metrics) = &report.model.metrics {
        let train = &metrics.train;
        facts.push(format!("{} packets, {} of them drops.", count(train.rows), count(train.drops)));
    }
    if let Some(provenance) = &report.model.provenance {
        facts.extend(
            provenance
                .data
                .iter()
                .map(|origin| format!("{}, SHA-256 {}.", origin.name, origin.sha256)),
        );
    }
    if facts.is_empty() {
        facts.push("The model's file does not say.".to_owned());
    }
    facts
}

fn made_by(report: &Report) -> Vec<String> {
    let Some(provenance) = &report.model.provenance else {
        return vec!["The model's file does not say.".to_owned()];
    };
    let Provenance { tool, parameters, split, passed_over, vote, .. } = provenance;
    let validated = report.model.metrics.as_ref().is_some_and(|m| m.validation.is_some());
    let rows = if validated { "validation" } else { "training" };
    let why = dropcast_train::why_split(split, passed_over).map(|why| format!("Rows are {why}."));
    let facts = [
        format!("{tool}; the same data, parameters and seed give the same model."),
        format!("Parameters: {}.", fields(serde_json::to_value(parameters).ok())),
        format!("Rows that trained and tested: {}.", fields(serde_json::to_value(split).ok())),
        format!("Vote threshold chosen on the {rows} rows by the rule {vote}."),
    ];
    facts.into_iter().chain(why).collect()
}

/// The fields of an object in one line.
pub(super) fn fields(value: Option<Value>) -> String {
    let Some(Value::Object(fields)) = value else { return "not known".to_owned() };
    let text = |value: &Value| match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let fields = fields.iter().map(|(name, value)| format!("{name} {}", text(value)));
    fields.collect::<Vec<_>>().join(", ")
}

fn quality(report: &Report) -> Vec<String> {
    let (labels, prediction) = (&report.labels, &report.prediction);
    let mut facts = vec![
        format!(
            "On {} packets of {}, {} of them drops: F1 {}, precision {}, recall {}.",
            count(labels.rows),
            crate::trace_words::trace_names(report),
            count(labels.drops),
            optional(prediction.f1, 4),
            optional(prediction.precision, 4),
            optional(prediction.recall, 4)
        ),
        format!(
            "Over all vote thresholds: average precision {}; as probabilities of a drop: Brier score {}.",
            optional(report.curve.average_precision, 4),
            optional(report.calibration.brier, 4)
        ),
    ];
    facts.extend(crate::words::model::training_over_seeds(report));
    if let Some(replay) = &report.replay {
        let eta = &replay.total.eta;
        facts.push(format!(
            "Error \u{3B7} (Credence, Definition 1) by replay, in packets: {}; Theorem 2's \
             formula: {}.",
            optional(eta.packets, 4),
            optional(eta.bound, 4)
        ));
    }
    facts
}

fn limits(report: &Report) -> Vec<String> {
    let mut limits = vec![
        "Labels and replays use recorded arrivals, which do not react to drops. A network whose \
         hosts react is not measured here."
            .to_owned(),
        format!(
            "Measured on {} and no other trace: other loads, bursts and switches may do worse.",
            crate::trace_words::trace_names(report)
        ),
    ];
    if let Some(bytes) = report.model.switch.buffer_bytes.filter(|_| counts_bytes(report)) {
        limits.push(format!(
            "Its thresholds are in bytes of a buffer of {} bytes{}. For another buffer size, scale \
             them (dropcast rescale).",
            count(u64::from(bytes)),
            match crate::trace_words::scaling(report) {
                Some(_) => "",
                None => ", the only size it was measured with",
            }
        ));
    }
    if report.labels.drops < FEW_DROPS {
        limits.push(format!(
            "Only {} drops were scored, and drops come in bursts, so the scores are uncertain.",
            count(report.labels.drops)
        ));
    }
    limits.extend(flattery(report));
    limits.extend(crate::trace_words::unknown_training_rows(report));
    limits.extend(loss_since_training(report));
    if let Some(reason) = &report.replay_omitted {
        limits.push(format!("Its \u{3B7} is not known: not replayed, because {reason}."));
    }
    limits
}

/// Whether the model compares bytes.
fn counts_bytes(report: &Report) -> bool {
    let in_bytes = |name: &String| name.parse().is_ok_and(Feature::scales_with_buffer);
    report.model.features.iter().any(in_bytes)
}

/// Reasons why these scores may flatter the model.
fn flattery(report: &Report) -> Option<String> {
    let split = report.model.provenance.as_ref().map(|provenance| &provenance.split);
    let is_held_out = report.traces.iter().any(|trace| trace.held_out);
    if report.traces.iter().any(|trace| trace.in_training_data == Some(true)) {
        return Some(
            "It was trained on packets that are scored here, which flatters it.".to_owned(),
        );
    }
    let leaks = is_held_out && matches!(split, Some(Split::Random { .. }));
    leaks.then(|| {
        "The packets scored here were drawn at random from among those it was trained on. \
         Neighbouring packets are nearly equal, which flatters it."
            .to_owned()
    })
}

fn loss_since_training(report: &Report) -> Option<String> {
    let trained = report.model.metrics.as_ref()?.train.f1?;
    let here = report.prediction.f1?;
    (trained - here >= NOTABLE_LOSS).then(|| {
        format!("Its F1 fell from {} in training to {} here.", ratio(trained, 4), ratio(here, 4))
    })
}
