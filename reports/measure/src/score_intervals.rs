//! How sure the scores of a model are: they vary from episode to episode of drops, not from row to row.

use super::verdict::ModelRows;
use dropcast_data::{ArrivalColumns, LabelledBatch, SwitchSpecs};
use dropcast_pipeline::traces::EPISODE_GAP_RTTS;
use serde::{Deserialize, Serialize};
use statrs::distribution::{ContinuousCDF, StudentsT};
use std::collections::BTreeMap;

/// Episodes below which there is no interval.
const LEAST_EPISODES: u64 = 8;

/// 95% intervals of scores, of ratios of sums over episodes (linearised, Student's t). An episode is a time at one
/// switch in which LQD drops packets or drops are predicted, at most 10 base round-trip times apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ScoreIntervals {
    /// Episodes.
    pub episodes: u64,
    /// Of the precision; null if there are fewer than 8 episodes.
    pub precision: Option<[f64; 2]>,
    /// Of the recall.
    pub recall: Option<[f64; 2]>,
    /// Of F1.
    pub f1: Option<[f64; 2]>,
    /// Of eta in packets.
    pub eta_packets: Option<[f64; 2]>,
}

/// Counts packets by episode. Memory: the open episode of each switch, and a few sums.
#[derive(Default)]
pub(super) struct EpisodeScores {
    open: BTreeMap<u16, Episode>,
    arrived: u64,
    episodes: u64,
    scores: [Ratio; 4],
}

#[derive(Clone, Copy, Default)]
struct Episode {
    last_ns: u64,
    gap_ns: u64,
    /// Drops that were predicted.
    found: u64,
    /// Predicted drops that were none.
    false_drops: u64,
    /// Drops that were not predicted.
    missed: u64,
    /// What FollowLQD loses, fed with predicted accepts only.
    lost_following: u64,
}

/// Sums over episodes of a numerator and a denominator.
#[derive(Clone, Copy, Default)]
struct Ratio {
    count: f64,
    x: f64,
    y: f64,
    xx: f64,
    xy: f64,
    yy: f64,
}

impl EpisodeScores {
    /// The next rows of a trace, and which of them count.
    pub(super) fn add(
        &mut self,
        batch: &LabelledBatch,
        counted: &[bool],
        model: &ModelRows,
        specs: &SwitchSpecs,
    ) {
        let Some(ArrivalColumns { time_ns, switch_id, .. }) = &batch.arrivals else { return };
        for (row, &dropped) in batch.drop.iter().enumerate().filter(|(row, _)| counted[*row]) {
            self.arrived += 1;
            let (predicted, lost) = (model.predicted[row], model.by_followed[row]);
            if !(dropped || predicted || lost) {
                continue;
            }
            let (switch, now_ns) = (switch_id[row], time_ns[row]);
            if let Some(open) = self.open.get(&switch).copied()
                && now_ns.saturating_sub(open.last_ns) > open.gap_ns
            {
                self.open.remove(&switch);
                self.end(open);
            }
            let open = self.open.entry(switch).or_insert_with(|| {
                let rtt_ns = specs.get(switch).map_or(0, |spec| spec.base_rtt_ns);
                Episode { gap_ns: rtt_ns.saturating_mul(EPISODE_GAP_RTTS), ..Episode::default() }
            });
            open.last_ns = now_ns;
            open.found += u64::from(dropped && predicted);
            open.false_drops += u64::from(!dropped && predicted);
            open.missed += u64::from(dropped && !predicted);
            open.lost_following += u64::from(lost);
        }
    }

    /// The trace has no more rows.
    pub(super) fn end_trace(&mut self) {
        for episode in std::mem::take(&mut self.open).into_values() {
            self.end(episode);
        }
    }

    fn end(&mut self, episode: Episode) {
        let Episode { found, false_drops, missed, lost_following, .. } = episode;
        self.episodes += 1;
        let errors = false_drops + missed;
        let parts = [
            (found, found + false_drops),
            (found, found + missed),
            (2 * found, 2 * found + errors),
            (found + missed, lost_following),
        ];
        for (ratio, (x, y)) in self.scores.iter_mut().zip(parts) {
            ratio.add(x as f64, y as f64);
        }
    }

    pub(super) fn finish(mut self) -> ScoreIntervals {
        self.end_trace();
        let share = |ratio: Ratio| {
            let [low, high] = ratio.interval(ratio.x, ratio.y)?;
            Some([low.max(0.0), high.min(1.0)])
        };
        let [precision, recall, f1, mut lost] = self.scores;
        // Eta is of what is transmitted: all arrivals without what is lost.
        let arrived = self.arrived as f64;
        let sent = [arrived - lost.x, arrived - lost.y];
        (lost.x, lost.y) = (-lost.x, -lost.y);
        ScoreIntervals {
            episodes: self.episodes,
            precision: share(precision),
            recall: share(recall),
            f1: share(f1),
            eta_packets: lost.interval(sent[0], sent[1]),
        }
    }
}

impl Ratio {
    fn add(&mut self, x: f64, y: f64) {
        self.count += 1.0;
        self.x += x;
        self.y += y;
        self.xx += x * x;
        self.xy += x * y;
        self.yy += y * y;
    }

    /// The interval of a ratio of totals that vary as the sums do.
    fn interval(&self, numerator: f64, denominator: f64) -> Option<[f64; 2]> {
        if self.count < LEAST_EPISODES as f64 || denominator <= 0.0 {
            return None;
        }
        let ratio = numerator / denominator;
        // Of x - ratio * y by episode.
        let squares = self.xx - 2.0 * ratio * self.xy + ratio * ratio * self.yy;
        let sum = self.x - ratio * self.y;
        let variance = (squares - sum * sum / self.count).max(0.0) / (self.count - 1.0);
        let error = (variance * self.count).sqrt() / denominator;
        let student = StudentsT::new(0.0, 1.0, self.count - 1.0).ok()?;
        let half = student.inverse_cdf(0.975) * error;
        Some([ratio - half, ratio + half])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_cover_the_truth_of_episodes_that_vary() {
        // Episodes have 1 to 40 drops, all of which are found or missed together: rows of one are no evidence apart.
        let mut state = 7_u64;
        let mut draw = |end: u64| {
            state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
            (state >> 33) % end
        };
        let (mut covered, mut by_rows) = (0, 0);
        for _ in 0..1_000 {
            let mut scores = EpisodeScores::default();
            for _ in 0..40 {
                let drops = 1 + draw(40);
                let is_found = draw(10) < 7;
                let found = if is_found { drops } else { 0 };
                scores.end(Episode { found, missed: drops - found, ..Episode::default() });
            }
            let ratio = scores.scores[1];
            let recall = ratio.x / ratio.y;
            let [low, high] = scores.finish().recall.expect("enough episodes");
            covered += u32::from((low..=high).contains(&0.7));
            let half = 1.96 * (recall * (1.0 - recall) / ratio.y).sqrt();
            by_rows += u32::from((recall - half..=recall + half).contains(&0.7));
        }
        assert!((900..=985).contains(&covered), "{covered}");
        assert!(by_rows < 600, "{by_rows}");
    }

    #[test]
    fn few_episodes_have_no_interval() {
        let mut scores = EpisodeScores::default();
        (0..7).for_each(|_| scores.end(Episode { found: 3, missed: 1, ..Episode::default() }));
        let intervals = scores.finish();
        assert_eq!((intervals.episodes, intervals.recall), (7, None));
    }
}
