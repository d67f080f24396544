//! Drops and errors by port and queue, and by switch.

use super::body::{Body, Data};
use super::table::{Cell, told};
use crate::numbers;
use crate::verdict_figures::{self, KINDS, switch_name};
use dropcast_pipeline::verdict::{DropCounts, QueueDrops, SwitchDrops, Verdict};
use std::cmp::Reverse;

/// Switches that are drawn.
const MOST_SWITCHES: usize = 4;
/// Queues in a table.
const MOST_QUEUES: usize = 200;

pub(super) fn by_port(page: &mut Body, verdict: &Verdict) {
    page.section("ports", "By port and queue");
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
        let caption = "Packets by port, the more the darker. False positives are predicted as drops, \
                       but LQD transmits them; false negatives are drops that were not predicted. \
                       \u{201C}Only\u{201D} is what one drops and the other transmits.";
        let (heads, rows) = numbers_of(verdict, trace, id);
        page.wide_figure(&figure, caption, &Data { heads: &heads, groups: vec![("", rows)] });
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
            Cell::Count(Some(queue.port.into())),
            Cell::Count(Some(queue.queue.into())),
            Cell::Count(Some(queue.counts.arrived.packets)),
            Cell::Count(Some(queue.counts.lqd.bytes)),
        ];
        row.extend(KINDS.map(|(_, of)| Cell::Count(of(&queue.counts))));
        row
    };
    told(&QUEUE_HEADS, own.take(MOST_QUEUES).map(row).collect())
}

const QUEUE_HEADS: [&str; 10] = [
    "port",
    "queue",
    "arrivals",
    "LQD drops, bytes",
    "LQD drops",
    "real drops",
    "only real",
    "only LQD",
    "false positives",
    "false negatives",
];

pub(super) fn by_switch(page: &mut Body, verdict: &Verdict) {
    page.section("switches", "By switch");
    let rows: Vec<Vec<Cell>> = verdict
        .switches
        .iter()
        .map(|switch| {
            let mut row = vec![Cell::text(switch_name(verdict, switch.trace, switch.switch_id))];
            row.push(Cell::Ratio(Some(switch.peak_occupancy), 3));
            row.extend(cells(&switch.counts));
            row
        })
        .collect();
    let mut heads = vec!["switch", "fullest"];
    heads.extend(HEADS);
    let (heads, rows) = told(&heads, rows);
    page.table("Packets and bytes at each switch.", &heads, &rows);
}

/// Packets and bytes of each kind.
const HEADS: [&str; 12] = [
    "arrivals",
    "bytes",
    "LQD drops",
    "bytes",
    "real drops",
    "bytes",
    "only real",
    "bytes",
    "only LQD",
    "bytes",
    "false positives",
    "false negatives",
];

fn cells(counts: &DropCounts) -> Vec<Cell> {
    let sent =
        [Some(counts.arrived), Some(counts.lqd), counts.real, counts.only_real, counts.only_lqd];
    let mut cells: Vec<Cell> = sent
        .into_iter()
        .flat_map(|sent| [sent.map(|sent| sent.packets), sent.map(|sent| sent.bytes)])
        .map(Cell::Count)
        .collect();
    cells.push(Cell::Count(counts.confusion.map(|confusion| confusion.fp)));
    cells.push(Cell::Count(counts.confusion.map(|confusion| confusion.fn_)));
    cells
}
