//! The labelled rows of a sweep, and how forests are measured on them.

use crate::PipelineError;
use crate::traces::LabelledTraces;
use crate::train::replays::{Replays, alpha, best_alpha, sent_with};
use dropcast_forest::{PartMetrics, VoteLane, VotePolicy};
use dropcast_replay::{AlphasSent, Sent};
use dropcast_train::{ChosenSplit, Fitted, Part, Split, SweepAlpha, SweepScores, TrainedModel};
use std::num::NonZeroUsize;

/// The rows, and what is measured on them.
pub(super) struct SweptRows {
    /// Whether the exact `eta` is.
    pub(super) eta: bool,
    pub(super) traces: LabelledTraces,
    pub(super) chosen: ChosenSplit,
    pub(super) threads: NonZeroUsize,
}

/// Scores of a forest on each part.
pub(super) struct PartScores {
    pub(super) train: SweepScores,
    pub(super) validation: Option<SweepScores>,
    pub(super) test: Option<SweepScores>,
}

impl SweptRows {
    /// How the rows are divided.
    pub(super) fn split(&self) -> &Split {
        &self.chosen.split
    }

    /// The run and the SHA-256 of each file, in the order of runs.
    pub(super) fn hashes(&self) -> Vec<(u64, String)> {
        let origins = self.traces.origins().into_iter();
        origins.map(|origin| (origin.run, origin.sha256)).collect()
    }

    /// The seed of the split of a forest with this seed: only a random split has one.
    pub(super) fn split_seed(&self, seed: u64) -> u64 {
        if self.split().is_random() { seed } else { 0 }
    }

    /// The rows as they are replayed for forests with this seed.
    pub(super) fn replays(&self, seed: u64) -> Replays<'_> {
        let seed = self.split_seed(seed);
        Replays { traces: &self.traces, split: self.split(), seed, threads: self.threads }
    }

    /// The scores of every forest with each of its vote thresholds: by forest, then by threshold.
    /// Each of `by_vote` has all forests, in the same order.
    pub(super) fn measure(
        &self,
        by_vote: &[Vec<Fitted>],
        replays: &Replays<'_>,
    ) -> Result<Vec<PartScores>, PipelineError> {
        let forests = by_vote.first().map_or(0, Vec::len);
        let validation = self.eta(Part::Validation, by_vote, replays)?;
        let test = self.eta(Part::Test, by_vote, replays)?;
        let fitted = (0..forests).flat_map(|nth| by_vote.iter().map(move |fitted| &fitted[nth]));
        let etas = validation.into_iter().zip(test);
        Ok(fitted.zip(etas).map(|(fitted, etas)| part_scores(&fitted.model, etas)).collect())
    }

    /// What every switch could do without a forest, where `eta` is wanted and rows are kept to choose on; `seed` is that
    /// of the split.
    pub(super) fn best_alpha(&self, seed: u64) -> Result<Option<SweepAlpha>, PipelineError> {
        if !self.eta {
            return Ok(None);
        }
        let split = self.split();
        let replays = Replays { traces: &self.traces, split, seed, threads: self.threads };
        let kept = |part| split.keeps(part).then(|| replays.lqd_and_alphas(&[part])).transpose();
        let (validation, test) = (kept(Part::Validation)?, kept(Part::Test)?);
        let chosen_on = match &validation {
            Some((_, validation)) => validation.clone(),
            None => replays.alphas(&[Part::Train])?,
        };
        let place = best_alpha(&chosen_on, |sent| sent.packets);
        let to_lqd = |(lqd, sent): &(Sent, AlphasSent)| {
            let of_alpha = sent_with(sent, place).packets;
            (of_alpha > 0).then(|| lqd.packets as f64 / of_alpha as f64)
        };
        Ok(Some(SweepAlpha {
            alpha: alpha(place),
            validation: validation.as_ref().and_then(to_lqd),
            test: test.as_ref().and_then(to_lqd),
        }))
    }

    /// The exact `eta` of each forest with each threshold on the rows of `part`, where it is wanted
    /// and there are any.
    fn eta(
        &self,
        part: Part,
        by_vote: &[Vec<Fitted>],
        replays: &Replays<'_>,
    ) -> Result<Vec<Option<f64>>, PipelineError> {
        let forests: Vec<_> =
            by_vote.iter().take(1).flatten().map(|fitted| &fitted.model.forest).collect();
        if !self.eta || !self.split().keeps(part) {
            return Ok(vec![None; forests.len() * by_vote.len()]);
        }
        let lanes = (0..forests.len()).flat_map(|forest| {
            by_vote.iter().map(move |fitted| VoteLane {
                forest,
                threshold: fitted[forest].model.forest.vote_threshold,
                policy: VotePolicy::Followed,
            })
        });
        let lanes: Vec<VoteLane> = lanes.collect();
        let sent = replays.replay(part, &forests, &lanes)?;
        Ok((0..lanes.len()).map(|lane| sent.lqd_to_lane(lane)).collect())
    }
}

/// The scores of a model, with its `eta` on validation and on test rows.
fn part_scores(model: &TrainedModel, (validation, test): (Option<f64>, Option<f64>)) -> PartScores {
    let metrics = model.metrics.as_ref();
    let scores = |part: &Option<PartMetrics>, eta| {
        part.as_ref().map(|metrics| SweepScores::new(metrics, eta))
    };
    PartScores {
        train: metrics.map(|metrics| SweepScores::new(&metrics.train, None)).unwrap_or_default(),
        validation: metrics.and_then(|metrics| scores(&metrics.validation, validation)),
        test: metrics.and_then(|metrics| scores(&metrics.test, test)),
    }
}
