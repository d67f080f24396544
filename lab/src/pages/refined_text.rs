//! What was chosen in the loop, as text.

use super::experiment_text::aligned;
use crate::closed_loop::ModelAtThreshold;
use crate::refine::Refined;
use dropcast_fabric::Interval;
use dropcast_reports::numbers::{count, ratio};

/// The rounds as a table, and what came of them.
pub fn refined_text(refined: &Refined) -> String {
    let heading = ["round", "rows", "model", "vote", "predicted %", "value", "gain", ""];
    let mut rows = vec![heading.map(str::to_owned).to_vec()];
    for (number, round) in refined.rounds.iter().enumerate() {
        let of_round = |candidate: &str, value: String, gain: String, note: String| {
            vec![
                number.to_string(),
                round.rows.map_or_else(|| "-".to_owned(), count),
                candidate.to_owned(),
                String::new(),
                String::new(),
                value,
                gain,
                note,
            ]
        };
        let accepting = interval(round.choice.accepting);
        rows.push(of_round("always accept", accepting, String::new(), String::new()));
        for (place, candidate) in round.choice.candidates.iter().enumerate() {
            let is_chosen = round.choice.chosen == Some(place);
            let mut row = of_round(
                &candidate.model,
                interval(candidate.value),
                interval(candidate.gain),
                note(candidate, is_chosen),
            );
            row[3] = candidate.vote_threshold.to_string();
            row[4] = candidate.predicted_share.map_or_else(String::new, |s| ratio(100.0 * s, 3));
            rows.push(row);
        }
    }
    format!("By {}, under Credence:\n\n{}\n{}", refined.objective, aligned(&rows), verdict(refined))
}

fn note(candidate: &ModelAtThreshold, is_chosen: bool) -> String {
    if is_chosen {
        return "chosen".to_owned();
    }
    match &candidate.harms[..] {
        [] => String::new(),
        harms => format!("harms {}", harms.join(", ")),
    }
}

fn interval(value: Option<Interval>) -> String {
    let Some(Interval { mean, bounds, .. }) = value else { return "-".to_owned() };
    let number = |value: f64| format!("{value:.4}");
    match bounds {
        Some((low, high)) => format!("{} {}..{}", number(mean), number(low), number(high)),
        None => number(mean),
    }
}

fn verdict(refined: &Refined) -> String {
    let Some((round, confirmation)) = refined.best_round.zip(refined.confirmation.as_ref()) else {
        let problem = "No vote threshold is better than always accepting beyond noise without harm to a kind of flow.";
        return format!("{problem}\nThe model predicts no drop.\n");
    };
    let gain = interval(confirmation.gain);
    if refined.is_better {
        return format!(
            "Best in round {round}; on runs that it was not chosen on it gains {gain}.\n"
        );
    }
    format!(
        "Best in round {round}; on runs that it was not chosen on it gains {gain}, which is not \
         beyond noise or harms a kind of flow{}.\nThe model predicts no drop.\n",
        match &confirmation.harms[..] {
            [] => String::new(),
            harms => format!(" ({})", harms.join(", ")),
        }
    )
}
