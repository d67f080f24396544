//! Drops and errors by port and queue, and by switch.

use super::body::{Body, Data};
use super::table::{Cell, kept};
use crate::drop_words::policies_sentence;
use crate::numbers;
use crate::verdict_figures::{self, BEST_DROPS, KINDS, OWN_DROPS, port_name, switch_name};
use dropcast_measure::verdict::{DropCounts, QueueDrops, SwitchDrops, Verdict};
use std::cmp::Reverse;

/// Switches that are drawn.
const MOST_SWITCHES: usize = 4;
/// Queues in a table.
const MOST_QUEUES: usize = 200;

pub(super) fn write(page: &mut Body, verdict: &Verdict) {
    page.folded_section("ports", "Ports and queues");
    by_port(page, verdict);
    by_switch(page, verdict);
}

fn by_port(page: &mut Body, verdict: &Verdict) {
    let mut worst: Vec<&SwitchDrops> = verdict.switches.iter().collect();
    worst.sort_by_key(|switch| Reverse(switch.counts.badness()));
    let mut drawn = 0;
    for switch in worst {
        let (trace, id) = (switch.trace, switch.switch_id);
        let Some(figure) = verdict_figures::by_port(verdict, trace, id) else { continue };
        if drawn == MOST_SWITCHES {
            let rest = numbers::count((verdict.switches.len() - drawn) as u64);
            page.paragraph(&format!("{rest} more switches are in the table below."));
            break;
        }
        drawn += 1;
        let caption = format!(
            "Packets by port, the more the darker. {} False positives are predicted as \
             drops, but LQD transmits them; false negatives are drops that were not predicted. \
             \u{201C}Only\u{201D} is what one of LQD and the real switch drops and the other transmits.",
            policies_sentence(verdict)
        );
        let (heads, rows) = numbers_of(verdict, trace, id);
        page.wide_figure(&figure, &caption, &Data { heads: &heads, groups: vec![("", rows)] });
    }
    if drawn == 0 {
        page.paragraph("No packet is dropped, nor predicted to be.");
    }
}

fn numbers_of(
    verdict: &Verdict,
    trace: usize,
    switch_id: u16,
) -> (Vec<&'static str>, Vec<Vec<Cell>>) {
    let own = verdict.queues.iter().filter(|q| (q.trace, q.switch_id) == (trace, switch_id));
    let row = |queue: &QueueDrops| {
        let mut row = vec![
            Cell::text(
                port_name(verdict, (trace, switch_id), queue.port).trim_start_matches("port "),
            ),
            Cell::Count(Some(queue.queue.into())),
            Cell::Count(Some(queue.counts.arrived.packets)),
            Cell::Count(Some(queue.counts.own.bytes)),
            Cell::Count(queue.counts.best_alpha.map(|best| best.bytes)),
            Cell::Count(Some(queue.counts.lqd.bytes)),
        ];
        row.extend(KINDS.map(|(_, of)| Cell::Count(of(&queue.counts))));
        row
    };
    kept(&QUEUE_HEADS, own.take(MOST_QUEUES).map(row).collect())
}

const QUEUE_HEADS: [&str; 14] = [
    "port",
    "queue",
    "arrivals",
    "own drops, bytes",
    "best alpha, bytes",
    "LQD drops, bytes",
    OWN_DROPS,
    BEST_DROPS,
    "LQD drops",
    "real drops",
    "only real",
    "only LQD",
    "false positives",
    "false negatives",
];

fn by_switch(page: &mut Body, verdict: &Verdict) {
    page.heading("By switch");
    let named =
        |switch: &SwitchDrops| Cell::text(switch_name(verdict, switch.trace, switch.switch_id));
    let packets = |switch: &SwitchDrops| {
        let counts = &switch.counts;
        let mut row = vec![
            named(switch),
            Cell::Ratio(Some(switch.peak_occupancy), 3),
            match verdict.dynamic_thresholds_alpha {
                Some(_) => Cell::Count(None),
                None => Cell::text(switch.dynamic_thresholds_alpha.to_string()),
            },
            Cell::Count(Some(counts.arrived.packets)),
        ];
        row.extend(KINDS.map(|(_, of)| Cell::Count(of(counts))));
        row
    };
    let bytes = |switch: &SwitchDrops| {
        let DropCounts { arrived, own, best_alpha, lqd, real, only_real, only_lqd, .. } =
            switch.counts;
        let sent = [Some(arrived), Some(own), best_alpha, Some(lqd), real, only_real, only_lqd];
        let cells = sent.map(|sent| Cell::Count(sent.map(|sent| sent.bytes)));
        std::iter::once(named(switch)).chain(cells).collect()
    };
    let mut table = |caption: &str, heads: &[&str], rows: Vec<Vec<Cell>>| {
        let (heads, rows) = kept(heads, rows);
        page.table(caption, &heads, &rows);
    };
    let kinds = KINDS.map(|(name, _)| name);
    let heads = [&["switch", "fullest", "alpha", "arrivals"][..], &kinds].concat();
    let mut worst: Vec<&SwitchDrops> = verdict.switches.iter().collect();
    worst.sort_by_key(|switch| Reverse(switch.counts.badness()));
    let switches = || worst.iter().copied();
    table("Packets at each switch.", &heads, switches().map(packets).collect());
    let heads = [&["switch", "arrivals"][..], &kinds[..6]].concat();
    table("Bytes at each switch.", &heads, switches().map(bytes).collect());
}
