//! Drops over time: each trace, then the worst episodes.

use super::body::{Body, Data};
use super::overview;
use super::table::{Cell, kept};
use crate::drop_words::{drop_sentences, dropped, policies_sentence};
use crate::numbers::TimeUnit;
use crate::place_words::dropped_words;
use crate::verdict_figures::{BEST_DROPS, OWN_DROPS};
use crate::{numbers, verdict_figures};
use dropcast_measure::verdict::{EpisodeSection, TimelineSection, Verdict};

/// Traces that are drawn.
const MOST_TRACES: usize = 6;

pub(super) fn write(page: &mut Body, verdict: &Verdict) {
    page.folded_section("timeline", "When");
    page.paragraph(&drop_sentences(verdict).join(" "));
    overview::write(page, verdict);
    let worst_first = verdict_figures::worst_first(verdict);
    if worst_first.len() > 1 {
        page.paragraph("The traces with the most drops come first.");
    }
    for &at in worst_first.iter().take(MOST_TRACES) {
        let Some(figure) = verdict_figures::timeline(verdict, at) else { continue };
        let timeline = &verdict.timelines[at];
        let caption = format!(
            "Each step is {}. {} Drops are shown when their packet arrived, also if it was \
             pushed out later.{}",
            numbers::duration(timeline.bin_ns),
            policies_sentence(verdict),
            if timeline.real.is_some() { "" } else { " No real drops are known." }
        );
        let (heads, rows) = numbers_of(timeline);
        let data = Data { heads: &heads, groups: vec![("", rows)] };
        page.wide_figure(&figure, &caption, &data);
    }
    if verdict.timelines.len() > MOST_TRACES {
        let rest = numbers::count((verdict.timelines.len() - MOST_TRACES) as u64);
        page.paragraph(&format!("{rest} more traces are in the JSON inside this page."));
    }
    if verdict.episodes.is_empty() {
        page.paragraph("Nothing is dropped, so there is no episode to look at.");
        return;
    }
    page.open("folds");
    page.heading("The worst episodes");
    page.paragraph(
        "An episode is drops at one switch, each at most 10 base round-trip times after the one \
         before. Open one to see it, with as much time before and after.",
    );
    let after = |episode: &EpisodeSection| after_ns(verdict, episode);
    let unit = numbers::time_unit(verdict.episodes.iter().map(after).max().unwrap_or(0));
    for (at, episode) in verdict.episodes.iter().enumerate() {
        write_episode(page, verdict, (at + 1, episode), unit);
    }
    page.close();
}

/// When an episode begins, after the first arrival of its trace.
fn after_ns(verdict: &Verdict, episode: &EpisodeSection) -> u64 {
    let begin_ns = verdict.timelines.get(episode.trace).map_or(0, |timeline| timeline.begin_ns);
    episode.first_ns.saturating_sub(begin_ns)
}

/// An episode of this rank; times of the list are in one unit.
fn write_episode(
    page: &mut Body,
    verdict: &Verdict,
    (rank, episode): (usize, &EpisodeSection),
    unit: TimeUnit,
) {
    let name = format!(
        "Episode {rank}: the switch drops {} packets at {} from {}{} on, for {}",
        numbers::count(dropped(&episode.counts)[0]),
        verdict_figures::switch_name(verdict, episode.trace, episode.switch_id),
        unit.shown(after_ns(verdict, episode)),
        numbers::at_clock(episode.first_ns, verdict),
        unit.shown(episode.last_ns - episode.first_ns),
    );
    page.fold(&name);
    let figure = verdict_figures::episode(verdict, rank, episode);
    let caption = format!(
        "{name}: {}. Each step is {}.",
        dropped_words(verdict, &episode.counts),
        numbers::duration(episode.timeline.bin_ns)
    );
    let (heads, rows) = numbers_of(&episode.timeline);
    page.wide_figure(&figure, &caption, &Data { heads: &heads, groups: vec![("", rows)] });
    page.end_fold();
}

/// The bins in which something happens.
pub(super) fn numbers_of(timeline: &TimelineSection) -> (Vec<&'static str>, Vec<Vec<Cell>>) {
    let happens = |&at: &usize| {
        let wrong = timeline.errors.as_ref().map_or(0, |errors| errors.false_positives[at]);
        let real = timeline.real.as_ref().map_or(0, |real| real.packets[at]);
        timeline.lqd_packets[at] + timeline.own_packets[at] + real + wrong > 0
    };
    let row = |at: usize| {
        let real = timeline.real.as_ref();
        let errors = timeline.errors.as_ref();
        vec![
            Cell::text((at + 1).to_string()),
            Cell::Count(Some(timeline.arrived_packets[at])),
            Cell::Ratio(timeline.peak_occupancy[at], 3),
            Cell::Count(Some(timeline.own_packets[at])),
            Cell::Count(Some(timeline.own_bytes[at])),
            Cell::Count(timeline.best_alpha_packets.as_ref().map(|best| best[at])),
            Cell::Count(timeline.best_alpha_bytes.as_ref().map(|best| best[at])),
            Cell::Count(Some(timeline.lqd_packets[at])),
            Cell::Count(Some(timeline.lqd_bytes[at])),
            Cell::Count(real.map(|real| real.packets[at])),
            Cell::Count(real.map(|real| real.only_real_packets[at])),
            Cell::Count(real.map(|real| real.only_real_bytes[at])),
            Cell::Count(real.map(|real| real.only_lqd_packets[at])),
            Cell::Count(real.map(|real| real.only_lqd_bytes[at])),
            Cell::Count(errors.map(|errors| errors.false_positives[at])),
            Cell::Count(errors.map(|errors| errors.false_negatives[at])),
        ]
    };
    let rows = (0..timeline.lqd_packets.len()).filter(happens).map(row);
    kept(&HEADS, rows.collect())
}

const HEADS: [&str; 16] = [
    "step",
    "arrivals",
    "fullest",
    OWN_DROPS,
    "bytes",
    BEST_DROPS,
    "bytes",
    "LQD drops",
    "bytes",
    "real drops",
    "only real",
    "bytes",
    "only LQD",
    "bytes",
    "false positives",
    "false negatives",
];
