//! The training that asks workers.

use super::partition_spec::PartitionSpec;
use super::replay_task::{ReplayTask, ReplayedLanes};
use super::trace_summary::TraceSummary;
use crate::PipelineError;
use crate::progress::Progress;
use crate::settings::{TrainSettings, Trainer};
use crate::traces::LabelledTraces;
use crate::train::replays::Replays;
use crate::train::{Roles, vote_rule};
use dropcast_forest::{LaneSent, VoteLane};
use dropcast_train::{
    ChosenSplit, Fitted, ForestTask, Part, PartitionedFit, ReadTask, VoteError, VoteReplay,
    VoteRule,
};
use std::cell::RefCell;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;

/// A training on partitions of traces. First come questions, which every partition answers; then
/// replays, if the vote rule needs them. The model is that of [`train_on`](crate::train::train_on) on
/// the same files, to the byte.
#[derive(Debug)]
pub struct PartitionedTraining {
    settings: TrainSettings,
    files: Vec<TraceSummary>,
    traces: LabelledTraces,
    chosen: ChosenSplit,
    vote: VoteRule,
    stage: Stage,
}

#[derive(Debug)]
enum Stage {
    Growing(Box<PartitionedFit>),
    Replaying(Box<Replaying>),
    Trained(Box<Fitted>),
    Failed,
}

/// Forests whose vote thresholds are chosen by replays, one part after the other: one for each seed.
#[derive(Debug)]
struct Replaying {
    fitted: Vec<Fitted>,
    /// Rows of a part, by run and switch.
    rows: BTreeMap<Part, BTreeMap<(u64, u16), u64>>,
    /// What was replayed, in order.
    replayed: Vec<Vec<LaneSent>>,
    /// What is to be replayed next.
    part: Part,
    lanes: Vec<VoteLane>,
}

impl PartitionedTraining {
    /// Begins.
    ///
    /// # Errors
    /// If a setting is wrong or is not for partitions, and if traces do not fit together.
    pub fn new(
        roles: &Roles<TraceSummary>,
        settings: &TrainSettings,
        progress: &dyn Progress,
    ) -> Result<Self, PipelineError> {
        refuse_unpartitioned(settings)?;
        let files: Vec<TraceSummary> = roles.all().cloned().collect();
        let roles = roles.map(|files| {
            Ok::<_, PipelineError>(files.iter().map(|file| file.open(None)).collect())
        })?;
        // Rows are kept where the partitions are.
        let (traces, chosen) = roles.divided(settings, 0, progress)?;
        let replays = Replays {
            traces: &traces,
            split: &chosen.split,
            seed: settings.seed,
            threads: ONE_THREAD,
        };
        let vote = vote_rule(settings.vote, &replays, progress)?;
        let read = ReadTask {
            features: settings.features.clone(),
            split: chosen.split.clone(),
            seed: settings.seed,
            max_bins: settings.max_bins,
            switch: traces.switch_context(),
            data: traces.origins(),
            threads: ONE_THREAD,
        };
        let task = ForestTask {
            features: settings.features.clone(),
            params: settings.params()?,
            // Rules that replay choose when the forest is there.
            vote: if vote.replays() { VoteRule::F1 } else { vote },
        };
        let mut fit = PartitionedFit::over_seeds(read, &task, settings.seeds)?;
        let known: Option<u64> = files.iter().map(|file| file.rows).sum();
        if let Some(rows) = known {
            fit = fit.of_rows(rows);
        }
        let stage = Stage::Growing(Box::new(fit));
        Ok(PartitionedTraining { settings: settings.clone(), files, traces, chosen, vote, stage })
    }

    /// At most `count` partitions of equal size, which together have all rows.
    pub fn partitions(&self, count: NonZeroUsize) -> Vec<PartitionSpec> {
        PartitionSpec::cut(&self.traces, &self.files, count.get() as u64)
    }

    /// The next question to every partition; `None` once all are answered.
    pub fn question(&self) -> Option<Vec<u8>> {
        match &self.stage {
            Stage::Growing(fit) => fit.question(),
            _ => None,
        }
    }

    /// What is being done, in a few words.
    pub fn stage(&self) -> String {
        match &self.stage {
            Stage::Growing(fit) => fit.stage(),
            Stage::Replaying(_) => "replay".to_owned(),
            Stage::Trained(_) => "trained".to_owned(),
            Stage::Failed => "failed".to_owned(),
        }
    }

    /// Takes the merged answer of all partitions to the question.
    ///
    /// # Errors
    /// If these are not the bytes of such an answer, or no forest can be trained on these rows.
    pub fn receive(&mut self, answer: &[u8]) -> Result<(), PipelineError> {
        let stage = std::mem::replace(&mut self.stage, Stage::Failed);
        let Stage::Growing(mut fit) = stage else {
            return Err(PipelineError::unfit("an answer", "came without a question"));
        };
        fit.receive(answer).map_err(|error| self.traces.explain(error))?;
        if fit.question().is_some() {
            self.stage = Stage::Growing(fit);
            return Ok(());
        }
        let rows = [Part::Train, Part::Validation].map(|part| (part, fit.rows_of_part(part)));
        let mut fitted = fit.finish().expect("a training without questions is done");
        fitted.iter_mut().for_each(|fitted| fitted.record(&self.chosen));
        self.stage = self.choose_vote(fitted, BTreeMap::from(rows), Vec::new())?;
        Ok(())
    }

    /// Chooses the vote thresholds, or says what must be replayed first.
    fn choose_vote(
        &self,
        mut fitted: Vec<Fitted>,
        rows: BTreeMap<Part, BTreeMap<(u64, u16), u64>>,
        replayed: Vec<Vec<LaneSent>>,
    ) -> Result<Stage, PipelineError> {
        let trained = |fitted| {
            let first = Fitted::first_over_seeds(fitted).expect("at least one seed is trained");
            Ok(Stage::Trained(Box::new(first)))
        };
        if !self.vote.replays() {
            return trained(fitted);
        }
        let known =
            KnownReplays { asked: RefCell::default(), known: RefCell::new(replayed.iter()) };
        let chosen = Fitted::choose_votes(&mut fitted, self.vote, &known);
        match (chosen, known.asked.into_inner()) {
            (_, Some((part, lanes))) => {
                let replaying = Replaying { fitted, rows, replayed, part, lanes };
                Ok(Stage::Replaying(Box::new(replaying)))
            }
            (Ok(()), None) => trained(fitted),
            (Err(error), None) => Err(error.into()),
        }
    }

    /// The replays that the vote rule needs next, in about `count` tasks or one for each trace; none if
    /// it needs no more, or is not there yet.
    pub fn replays(&self, count: NonZeroUsize) -> Vec<ReplayTask> {
        let Stage::Replaying(replaying) = &self.stage else { return Vec::new() };
        let Replaying { fitted, lanes, part, rows, .. } = &**replaying;
        let replayed: Vec<(&TraceSummary, Vec<(u16, u64)>)> = self
            .files
            .iter()
            .map(|file| (file, at_switches(&rows[part], file.origin.run)))
            .filter(|(_, switches)| !switches.is_empty())
            .collect();
        let own: Vec<(usize, VoteLane)> = lanes.iter().copied().enumerate().collect();
        let models: Vec<String> = fitted.iter().map(|fitted| fitted.model.to_json()).collect();
        let per_trace = count.get().div_ceil(replayed.len().max(1));
        let mut tasks = Vec::new();
        for (trace, switches) in replayed {
            let shares = deal(&switches, per_trace);
            let groups = per_trace.div_ceil(shares.len()).min(lanes.len()).max(1);
            for switches in shares {
                for group in 0..groups {
                    tasks.push(ReplayTask {
                        trace: trace.clone(),
                        switches: switches.clone(),
                        features: self.settings.features.clone(),
                        buffer_bytes: self.traces.switch_context().buffer_bytes,
                        split: self.chosen.split.clone(),
                        seed: self.settings.seed,
                        part: *part,
                        models: models.clone(),
                        lanes: lanes.len(),
                        own: own.iter().copied().skip(group).step_by(groups).collect(),
                    });
                }
            }
        }
        tasks
    }

    /// Takes what all replays transmitted together.
    ///
    /// # Errors
    /// If they are not those of [`PartitionedTraining::replays`].
    pub fn receive_replayed(&mut self, sum: &ReplayedLanes) -> Result<(), PipelineError> {
        let stage = std::mem::replace(&mut self.stage, Stage::Failed);
        let wrong = || PipelineError::unfit("a replay", "is not of the lanes that were asked for");
        let Stage::Replaying(replaying) = stage else { return Err(wrong()) };
        let Replaying { fitted, rows, mut replayed, lanes, .. } = *replaying;
        if sum.0.len() != lanes.len() {
            return Err(wrong());
        }
        replayed.push(sum.0.clone());
        self.stage = self.choose_vote(fitted, rows, replayed)?;
        Ok(())
    }

    /// The model and its scores; `None` while there is something to ask or to replay.
    pub fn fitted(&self) -> Option<&Fitted> {
        match &self.stage {
            Stage::Trained(fitted) => Some(fitted),
            _ => None,
        }
    }
}

const ONE_THREAD: NonZeroUsize = NonZeroUsize::MIN;

/// Answers with what was replayed elsewhere, in order; notes what is asked for beyond that.
struct KnownReplays<'a> {
    known: RefCell<std::slice::Iter<'a, Vec<LaneSent>>>,
    asked: RefCell<Option<(Part, Vec<VoteLane>)>>,
}

impl VoteReplay for KnownReplays<'_> {
    type Error = VoteError;

    fn sent(&self, part: Part, lanes: &[VoteLane]) -> Result<Vec<LaneSent>, VoteError> {
        if let Some(sent) = self.known.borrow_mut().next() {
            return Ok(sent.clone());
        }
        self.asked.replace(Some((part, lanes.to_vec())));
        Err(VoteError::NeedsReplay)
    }
}

fn at_switches(rows: &BTreeMap<(u64, u16), u64>, run: u64) -> Vec<(u16, u64)> {
    rows.range((run, 0)..=(run, u16::MAX)).map(|(&(_, id), &rows)| (id, rows)).collect()
}

/// Deals switches into at most `most` shares of about as many rows.
fn deal(switches: &[(u16, u64)], most: usize) -> Vec<BTreeSet<u16>> {
    let mut shares = vec![(0, BTreeSet::new()); most.clamp(1, switches.len().max(1))];
    let mut switches = switches.to_vec();
    switches.sort_by_key(|&(id, rows)| (Reverse(rows), id));
    for (id, rows) in switches {
        let least = shares.iter_mut().min_by_key(|(rows, _)| *rows);
        if let Some((sum, share)) = least {
            *sum += rows;
            share.insert(id);
        }
    }
    shares.into_iter().map(|(_, share)| share).collect()
}

/// Refuses what needs all rows in one place.
fn refuse_unpartitioned(settings: &TrainSettings) -> Result<(), PipelineError> {
    let name = match settings {
        TrainSettings { budget: Some(_), .. } => "budget",
        TrainSettings { refit_leaves: Some(_), .. } => "refit_leaves",
        TrainSettings { trainer: Trainer::Linfa | Trainer::Smartcore, .. } => "trainer",
        _ => return Ok(()),
    };
    let problem = "needs all rows in one place; train with it on one machine";
    Err(PipelineError::setting(name, problem))
}
