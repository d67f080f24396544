//! Throughput by policy.

use super::body::{Body, Data};
use super::table::Cell;
use crate::verdict_figures::switch_name;
use crate::{figures, numbers, rival_words, verdict_words};
use dropcast_measure::verdict::Verdict;
use dropcast_measure::{PolicySection, ReplaySection, ReplayTotals};
use dropcast_replay::{ReplayPolicy, Sent};

pub(super) fn write(page: &mut Body, replay: &ReplaySection, verdict: Option<&Verdict>) {
    page.section("policies", "What every policy transmits");
    if let [only] = replay.switches.as_slice() {
        page.paragraph(&format!(
            "There is one switch, number {}, with {} ports.",
            only.switch_id, only.ports
        ));
    }
    let rows = match verdict {
        Some(verdict) => {
            let mut rows = verdict_words::rows(verdict);
            let credence = |policy: &&PolicySection| policy.policy == ReplayPolicy::Credence;
            let model = replay.total.policies.iter().find(credence);
            rows.splice(1..1, model.map(|model| ("Credence, this model".to_owned(), model.sent)));
            rows
        }
        None => {
            let named = |of: &PolicySection| (of.policy.name().to_owned(), of.sent);
            replay.total.policies.iter().map(named).collect()
        }
    };
    page.figure(
        &figures::throughput(&rows),
        &format!(
            "The same arrivals through every policy. A bar is what the policy loses against \
             push-out LQD: no bar is as good as LQD, a bar to the left is better. Credence uses \
             this model; always accept is Credence without predictions; Dynamic Thresholds has {}. {}",
            verdict_words::alpha(replay.dynamic_thresholds_alpha.as_ref()),
            verdict_words::slack_sentence(replay.slack_bytes)
        ),
        &data(&rows),
    );
    if let Some(verdict) = verdict {
        with_and_without(page, verdict, &rows);
    } else {
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

/// The numbers of [`figures::throughput`].
pub(super) fn data(policies: &[(String, Sent)]) -> Data<'static> {
    let lqd = policies.first().map(|(_, sent)| *sent).unwrap_or_default();
    let row = |(name, sent): &(String, Sent)| {
        vec![
            Cell::text(name),
            Cell::Ratio(share(sent.packets, lqd.packets), 5),
            Cell::Ratio(share(sent.bytes, lqd.bytes), 5),
        ]
    };
    Data {
        heads: &["policy", "packets, as a share of LQD's", "bytes, as a share of LQD's"],
        groups: vec![("", policies.iter().map(row).collect())],
    }
}

/// What is transmitted with and without an oracle, by policies of which the first is LQD.
pub(super) fn with_and_without(page: &mut Body, verdict: &Verdict, all: &[(String, Sent)]) {
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
