//! Where and when packets are dropped, in lines of text.

use crate::drop_words::{better_alpha, dropped, own_name};
use crate::numbers::{at_clock, count, duration};
use crate::verdict_figures::{port_name, switch_name};
use dropcast_measure::verdict::{DropCounts, EpisodeSection, QueueDrops, Verdict};
use std::cmp::Reverse;

/// Episodes and queues that are listed, at most.
const MOST_LISTED: usize = 8;

/// The queues and the episodes with the most drops, a line each; none if nothing is dropped.
pub(crate) fn place_lines(verdict: &Verdict) -> Vec<String> {
    let listed = |title: &str, lines: Vec<String>| {
        let title = (!lines.is_empty()).then(|| title.to_owned());
        let lines = lines.into_iter().take(MOST_LISTED).map(|line| format!("  {line}"));
        title.into_iter().chain(lines).collect::<Vec<_>>()
    };
    let queues = queues(verdict).into_iter().map(|queue| queue_line(verdict, queue));
    let episodes = verdict.episodes.iter().map(|episode| episode_line(verdict, episode));
    [
        listed("Queues with the most drops:", queues.collect()),
        listed("Episodes with the most drops:", episodes.collect()),
    ]
    .concat()
}

/// Queues at which something is dropped, the worst first.
fn queues(verdict: &Verdict) -> Vec<&QueueDrops> {
    let mut queues: Vec<&QueueDrops> =
        verdict.queues.iter().filter(|queue| dropped(&queue.counts) != [0, 0]).collect();
    queues.sort_by_key(|queue| Reverse(dropped(&queue.counts)));
    queues
}

fn episode_line(verdict: &Verdict, episode: &EpisodeSection) -> String {
    let begin_ns = verdict.timelines.get(episode.trace).map_or(0, |timeline| timeline.begin_ns);
    format!(
        "from {} after the first of these arrivals on{}, for {}, at {}: {}",
        duration(episode.first_ns.saturating_sub(begin_ns)),
        at_clock(episode.first_ns, verdict),
        duration(episode.last_ns - episode.first_ns),
        switch_name(verdict, episode.trace, episode.switch_id),
        dropped_words(verdict, &episode.counts)
    )
}

fn queue_line(verdict: &Verdict, queue: &QueueDrops) -> String {
    format!(
        "{}, queue {} of {}: {}",
        port_name(verdict, (queue.trace, queue.switch_id), queue.port),
        queue.queue,
        switch_name(verdict, queue.trace, queue.switch_id),
        dropped_words(verdict, &queue.counts)
    )
}

/// What the switch's own policy drops, and what of it the best alpha and LQD avoid.
pub(crate) fn dropped_words(verdict: &Verdict, counts: &DropCounts) -> String {
    let DropCounts { own, lqd, best_alpha, real, only_real, .. } = *counts;
    let alpha = better_alpha(verdict).zip(best_alpha);
    let others = alpha.into_iter().chain([("LQD".to_owned(), lqd)]);
    let others: Vec<String> =
        others.map(|(name, sent)| saving(&name, own.packets, sent.packets)).collect();
    let real = real.zip(only_real).map(|(real, only_real)| {
        format!(
            "; the real switch drops {}; LQD transmits {} of these",
            count(real.packets),
            count(only_real.packets)
        )
    });
    format!(
        "{} drops {} packet{} ({} bytes); {}{}",
        own_name(verdict),
        count(own.packets),
        if own.packets == 1 { "" } else { "s" },
        count(own.bytes),
        others.join(", "),
        real.unwrap_or_default()
    )
}

/// How many packets fewer another policy drops.
fn saving(name: &str, own: u64, other: u64) -> String {
    match own.checked_sub(other) {
        Some(0) => format!("{name} saves none"),
        Some(saved) => format!("{name} saves {}", count(saved)),
        None => format!("{name} drops {} more", count(other - own)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_another_policy_saves_in_words() {
        assert_eq!(saving("LQD", 4_000, 1_000), "LQD saves 3,000");
        assert_eq!(saving("LQD", 4, 4), "LQD saves none");
        assert_eq!(saving("alpha 8", 4, 7), "alpha 8 drops 3 more");
    }
}
