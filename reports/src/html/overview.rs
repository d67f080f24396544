//! Many traces at a glance.

use super::body::{Body, Data};
use super::table::{Cell, kept};
use crate::drop_words::policies_sentence;
use crate::numbers::count;
use crate::overview;
use crate::verdict_figures::{self, BEST_DROPS, OWN_DROPS};
use dropcast_measure::verdict::{DropCounts, Verdict};

/// Each trace in a row, and all of them by the hour; nothing for one trace.
pub(super) fn write(page: &mut Body, verdict: &Verdict) {
    let (traces, left_out) = overview::traces(verdict);
    if traces.is_empty() {
        return;
    }
    page.heading("All traces");
    if let Some(figure) = verdict_figures::by_hour(verdict) {
        let rows = overview::hours(verdict).iter().map(|hour| {
            let begin = Cell::text(overview::begin(verdict, hour));
            std::iter::once(begin).chain(dropped(&hour.counts)).collect()
        });
        let begin = format!("begin, {}", verdict.utc_offset);
        let (heads, rows) = kept(&[&[begin.as_str()][..], &HEADS].concat(), rows.collect());
        let caption = format!(
            "Packets dropped by the hour in which they arrive, over all traces. {}",
            policies_sentence(verdict)
        );
        page.wide_figure(&figure, &caption, &Data { heads: &heads, groups: vec![("", rows)] });
    }
    let rows = traces.iter().map(|(name, trace)| {
        let peak = Cell::Ratio(trace.peak_occupancy, 3);
        let name = Cell::text(*name);
        std::iter::once(name).chain(dropped(&trace.counts)).chain([peak]).collect()
    });
    let (heads, rows) = kept(&[&["trace"][..], &HEADS, &["fullest"]].concat(), rows.collect());
    page.table("Packets of each trace, those with the most drops first.", &heads, &rows);
    if left_out > 0 {
        page.paragraph(&format!(
            "{} more traces are in the JSON inside this page.",
            count(left_out as u64)
        ));
    }
}

const HEADS: [&str; 5] = ["arrivals", OWN_DROPS, BEST_DROPS, "LQD drops", "real drops"];

fn dropped(counts: &DropCounts) -> impl Iterator<Item = Cell> + use<> {
    let DropCounts { arrived, own, best_alpha, lqd, real, .. } = *counts;
    let sent = [Some(arrived), Some(own), best_alpha, Some(lqd), real];
    sent.into_iter().map(|sent| Cell::Count(sent.map(|sent| sent.packets)))
}
