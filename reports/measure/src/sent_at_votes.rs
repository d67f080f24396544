//! What Credence transmits at other vote thresholds than the model's.

use super::Report;
use super::curve::thinned;
use dropcast_forest::{Forest, VoteLane, VotePolicy};
use dropcast_pipeline::PipelineError;
use dropcast_pipeline::resources::Resources;
use dropcast_pipeline::traces::LabelledTraces;
use dropcast_pipeline::train::replays::Replays;
use dropcast_train::{Part, Split};

/// Most vote thresholds that are replayed.
const MOST: usize = 48;
/// Of the packets, those of a threshold that predicts more drops are not replayed, unless LQD drops a tenth as many.
const MOST_PREDICTED: f64 = 0.01;

/// Points of the curve with what is transmitted there.
pub(super) struct SentAtVotes<'m> {
    forest: &'m Forest,
    /// Places of the points.
    places: Vec<usize>,
    lanes: Vec<VoteLane>,
    sent_bytes: Vec<u64>,
}

impl<'m> SentAtVotes<'m> {
    /// Those of a report that are replayed, the model's own and that with the best F1 among them; none without replays.
    pub(super) fn new(report: &Report, forest: &'m Forest) -> Self {
        let labels = &report.labels;
        let most = (MOST_PREDICTED * labels.rows as f64).max(10.0 * labels.drops as f64);
        let points = report.curve.points.iter();
        let is_own = |at: u32| at <= forest.vote_threshold;
        let own = points.clone().rposition(|point| is_own(point.vote_threshold)).unwrap_or(0);
        let best = report.curve.best_f1.map(|best| best.vote_threshold);
        let predicted = |tp: u64, fp: u64| (tp + fp) as f64 <= most;
        let kept = points.enumerate().filter(|(place, point)| {
            *place == own || predicted(point.confusion.tp, point.confusion.fp)
        });
        let kept: Vec<_> = kept.map(|(_, point)| *point).collect();
        let own_threshold = report.curve.points.get(own).map(|point| point.vote_threshold);
        let must = |at: u32| Some(at) == own_threshold || Some(at) == best;
        let chosen = thinned(kept, MOST, |point| must(point.vote_threshold));
        let is_chosen = |at: u32| chosen.iter().any(|point| point.vote_threshold == at);
        let is_replayed = report.replay.is_some();
        let places = report.curve.points.iter().enumerate();
        let places = places.filter(|(_, point)| is_replayed && is_chosen(point.vote_threshold));
        let (places, lanes): (Vec<usize>, Vec<VoteLane>) = places
            .map(|(place, point)| {
                let threshold = point.vote_threshold;
                (place, VoteLane { forest: 0, threshold, policy: VotePolicy::Credence })
            })
            .unzip();
        SentAtVotes { forest, sent_bytes: vec![0; lanes.len()], places, lanes }
    }

    /// Replays one trace, of which the rows of `part` count.
    ///
    /// # Errors
    /// If it cannot be read or replayed.
    pub(super) fn add(
        &mut self,
        trace: &LabelledTraces,
        (split, seed, part): (&Split, u64, Part),
    ) -> Result<(), PipelineError> {
        if self.lanes.is_empty() {
            return Ok(());
        }
        let threads = Resources::default().threads();
        let replays = Replays { traces: trace, split, seed, threads };
        let sent = replays.replay(part, &[self.forest], &self.lanes)?.lanes;
        self.sent_bytes.iter_mut().zip(sent).for_each(|(sum, sent)| *sum += sent.bytes);
        Ok(())
    }

    /// Sets what the points transmit.
    pub(super) fn set(self, report: &mut Report) {
        for (place, bytes) in self.places.into_iter().zip(self.sent_bytes) {
            report.curve.points[place].sent_bytes = Some(bytes);
        }
    }
}
