//! Throughput by policy.

use super::body::Body;
use super::table::Cell;
use crate::verdict_figures::switch_name;
use crate::{numbers, rival_words, verdict_words};
use dropcast_measure::verdict::Verdict;
use dropcast_measure::{PolicySection, ReplaySection};
use dropcast_replay::{ReplayPolicy, Sent};

/// All policies, with Credence with a model if its replay is given.
pub(super) fn write(page: &mut Body, verdict: &Verdict, replay: Option<&ReplaySection>) {
    page.folded_section("policies", "Every policy");
    page.paragraph(
        "The same arrivals through every policy. Always accept is Credence without predictions.",
    );
    page.paragraph(&verdict_words::slack_sentence(verdict.slack_bytes));
    let mut rows = verdict_words::rows(verdict);
    let lqd = rows.first().map(|(_, sent)| *sent).unwrap_or_default();
    if let Some(replay) = replay {
        let credence = |policy: &&PolicySection| policy.policy == ReplayPolicy::Credence;
        let model = replay.total.policies.iter().find(credence);
        rows.splice(1..1, model.map(|model| ("Credence, this model".to_owned(), model.sent)));
    }
    sent_table(page, "With and without an oracle.", "policy", rows, lqd);
    page.fold("Each alpha of Dynamic Thresholds");
    let alphas = rival_words::alphas(verdict).map(|(alpha, rival)| (alpha, rival.sent)).collect();
    let caption = "One alpha for all queues; infinite is Complete Sharing.";
    sent_table(page, caption, "alpha", alphas, lqd);
    page.end_fold();
    let Some(replay) = replay.filter(|replay| replay.switches.len() > 1) else { return };
    page.fold("Each switch by itself");
    for switch in &replay.switches {
        let (results, of) = (&switch.results, |policy: &PolicySection| policy.sent);
        let caption = format!(
            "{} ({} ports, alpha {}, slack {} bytes): \u{3B7} {} in packets, bound {}. {} packets, {} bytes arrived.",
            switch_name(verdict, switch.trace, switch.switch_id),
            switch.ports,
            switch.dynamic_thresholds_alpha,
            numbers::count(switch.slack_bytes.into()),
            numbers::optional(results.eta.packets, 4),
            numbers::optional(results.eta.bound, 4),
            numbers::count(results.arrived.packets),
            numbers::count(results.arrived.bytes)
        );
        let rows = results.policies.iter().map(|one| (one.policy.name().to_owned(), of(one)));
        let lqd = results.policies.first().map(of).unwrap_or_default();
        sent_table(page, &caption, "policy", rows.collect(), lqd);
    }
    page.end_fold();
}

/// What is transmitted, and as a share of what LQD transmits.
fn sent_table(page: &mut Body, caption: &str, first: &str, rows: Vec<(String, Sent)>, lqd: Sent) {
    let share = |part: u64, whole: u64| (whole > 0).then(|| part as f64 / whole as f64);
    let row = |(name, sent): (String, Sent)| {
        vec![
            Cell::Text(name),
            Cell::Count(Some(sent.packets)),
            Cell::Ratio(share(sent.packets, lqd.packets), 5),
            Cell::Count(Some(sent.bytes)),
            Cell::Ratio(share(sent.bytes, lqd.bytes), 5),
        ]
    };
    let rows: Vec<Vec<Cell>> = rows.into_iter().map(row).collect();
    page.table(caption, &[first, "packets sent", "of LQD's", "bytes sent", "of LQD's"], &rows);
}
