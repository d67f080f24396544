//! Where and when packets are dropped, in lines of text.

use crate::numbers::{at_utc, count, duration};
use crate::verdict_figures::switch_name;
use dropcast_pipeline::report::verdict::{EpisodeSection, QueueDrops, Verdict};
use std::cmp::Reverse;

/// Episodes and queues that are listed, at most.
const MOST_LISTED: usize = 8;

/// The episodes and the queues with the most drops, a line each; none if nothing is dropped.
pub(crate) fn place_lines(verdict: &Verdict) -> Vec<String> {
    let mut lines = Vec::new();
    let episodes: Vec<String> = verdict
        .episodes
        .iter()
        .take(MOST_LISTED)
        .map(|episode| episode_line(verdict, episode))
        .collect();
    if !episodes.is_empty() {
        lines.push("Episodes with the most drops, of LQD or the real switch:".to_owned());
        lines.extend(episodes);
    }
    let mut queues: Vec<&QueueDrops> =
        verdict.queues.iter().filter(|queue| dropped(queue) > 0).collect();
    queues.sort_by_key(|queue| Reverse(dropped(queue)));
    if !queues.is_empty() {
        lines.push("Queues with the most drops:".to_owned());
        lines.extend(queues.into_iter().take(MOST_LISTED).map(|queue| queue_line(verdict, queue)));
    }
    lines
}

fn episode_line(verdict: &Verdict, episode: &EpisodeSection) -> String {
    let begin_ns = verdict.timelines.get(episode.trace).map_or(0, |timeline| timeline.begin_ns);
    format!(
        "  {} packets at {}, from {} after the first arrival on{}, in {}",
        count(episode.drops),
        switch_name(verdict, episode.trace, episode.switch_id),
        duration(episode.first_ns.saturating_sub(begin_ns)),
        at_utc(episode.first_ns),
        duration(episode.last_ns - episode.first_ns)
    )
}

fn queue_line(verdict: &Verdict, queue: &QueueDrops) -> String {
    let lqd = queue.counts.lqd;
    let real = queue.counts.real.zip(queue.counts.only_real).map(|(real, only_real)| {
        format!(
            "; the real switch {}, of which LQD transmits {}",
            count(real.packets),
            count(only_real.packets)
        )
    });
    format!(
        "  port {}, queue {} of {}: LQD drops {} packets ({} bytes){}",
        queue.port,
        queue.queue,
        switch_name(verdict, queue.trace, queue.switch_id),
        count(lqd.packets),
        count(lqd.bytes),
        real.unwrap_or_default()
    )
}

/// Packets that LQD or the real switch drops there.
fn dropped(queue: &QueueDrops) -> u64 {
    queue.counts.lqd.packets.max(queue.counts.real.map_or(0, |real| real.packets))
}
