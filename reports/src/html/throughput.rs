//! Throughput by policy.

use super::body::Body;
use super::table::Cell;
use crate::verdict_figures::switch_name;
use crate::{numbers, rival_words, verdict_words};
use dropcast_measure::verdict::Verdict;
use dropcast_measure::{PolicySection, ReplaySection, ReplayTotals};
use dropcast_replay::{ReplayPolicy, Sent};

pub(super) fn write(page: &mut Body, replay: Option<&ReplaySection>, verdict: Option<&Verdict>) {
    page.folded_section("policies", "Every policy");
    page.paragraph(
        "The same arrivals through every policy. Always accept is Credence without predictions.",
    );
    if let Some(replay) = replay {
        page.paragraph(&verdict_words::slack_sentence(replay.slack_bytes));
    }
    if let Some(verdict) = verdict {
        let mut rows = verdict_words::rows(verdict);
        let credence = |policy: &&PolicySection| policy.policy == ReplayPolicy::Credence;
        let model = replay.and_then(|replay| replay.total.policies.iter().find(credence));
        rows.splice(1..1, model.map(|model| ("Credence, this model".to_owned(), model.sent)));
        with_and_without(page, verdict, &rows);
    }
    let Some(replay) = replay else { return };
    if verdict.is_none() {
        policies(page, "All switches together.", &replay.total);
    }
    if replay.switches.len() == 1 {
        return;
    }
    page.fold("Each switch by itself");
    for switch in &replay.switches {
        let named = verdict.map_or_else(
            || format!("switch {} of trace {}", switch.switch_id, switch.trace + 1),
            |verdict| switch_name(verdict, switch.trace, switch.switch_id),
        );
        let name = format!(
            "{named} ({} ports, alpha {}, slack {} bytes): \u{3B7} {} in packets, bound {}.",
            switch.ports,
            switch.dynamic_thresholds_alpha,
            numbers::count(switch.slack_bytes.into()),
            numbers::optional(switch.results.eta.packets, 4),
            numbers::optional(switch.results.eta.bound, 4)
        );
        policies(page, &name, &switch.results);
    }
    page.end_fold();
}

fn policies(page: &mut Body, caption: &str, results: &ReplayTotals) {
    let rows: Vec<Vec<Cell>> = results
        .policies
        .iter()
        .map(|policy| {
            vec![
                Cell::text(policy.policy.name()),
                Cell::Count(Some(policy.sent.packets)),
                Cell::Ratio(policy.packets_to_lqd, 5),
                Cell::Count(Some(policy.sent.bytes)),
                Cell::Ratio(policy.bytes_to_lqd, 5),
            ]
        })
        .collect();
    let arrived = results.arrived;
    let caption = format!(
        "{caption} {} packets, {} bytes arrived.",
        numbers::count(arrived.packets),
        numbers::count(arrived.bytes)
    );
    let heads = ["policy", "packets sent", "of LQD's", "bytes sent", "of LQD's"];
    page.table(&caption, &heads, &rows);
}

fn share(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

/// What is transmitted with and without an oracle, by policies of which the first is LQD.
fn with_and_without(page: &mut Body, verdict: &Verdict, all: &[(String, Sent)]) {
    let lqd = all.first().map(|(_, sent)| *sent).unwrap_or_default();
    let cells: Vec<Vec<Cell>> = all
        .iter()
        .map(|(name, sent)| {
            vec![
                Cell::text(name),
                Cell::Count(Some(sent.packets)),
                Cell::Ratio(share(sent.packets, lqd.packets), 5),
                Cell::Count(Some(sent.bytes)),
                Cell::Ratio(share(sent.bytes, lqd.bytes), 5),
            ]
        })
        .collect();
    let heads = ["policy", "packets sent", "of LQD's", "bytes sent", "of LQD's"];
    page.table("With and without an oracle.", &heads, &cells);
    page.fold("Each alpha of Dynamic Thresholds");
    let alphas = rival_words::alphas(verdict).map(|(alpha, rival)| {
        vec![
            Cell::text(&alpha),
            Cell::Count(Some(rival.sent.packets)),
            Cell::Ratio(share(rival.sent.packets, lqd.packets), 5),
            Cell::Count(Some(rival.sent.bytes)),
            Cell::Ratio(share(rival.sent.bytes, lqd.bytes), 5),
        ]
    });
    let heads = ["alpha", "packets sent", "of LQD's", "bytes sent", "of LQD's"];
    page.table(
        "One alpha for all queues; infinite is Complete Sharing.",
        &heads,
        &alphas.collect::<Vec<_>>(),
    );
    page.end_fold();
}
