//! Makes a verdict in one pass over labelled rows.

use super::advice::Advice;
use super::asked_policies::{AskedPolicies, LEAST_GAIN};
use super::checks::Checked;
use super::congestion::Congestion;
use super::drop_counts::{Counted, Tally};
use super::episodes::Episodes;
use super::hours::Hours;
use super::level_thresholds::{LevelThresholds, TraceLevels};
use super::pauses::PauseSection;
use super::places::Places;
use super::real_drops::Reasons;
use super::rivals::{Rivals, TraceRivals};
use super::timeline::Timeline;
use super::value::{Conclusion, FlowsTold, VERDICT_SCHEMA_VERSION, Verdict};
use crate::{ReplayTotals, common_dt_alpha, common_own_policy, common_slack_bytes, ratio};
use dropcast_data::{InputProvenance, LabelledBatch, SwitchSpecs, TraceMeta};
use dropcast_pipeline::ReportError;
use dropcast_pipeline::wall_clock::UtcOffset;
use dropcast_replay::{Arrival, Replay, ReplayOptions, ReplayPolicy, Replayed, Sent};
use dropcast_train::Model;
use std::collections::BTreeMap;
use std::num::NonZeroUsize;

/// Replays labelled rows without a model, and counts what LQD, the real switch and, if there is one, a
/// model do with them. As much memory as the buffers hold packets, and the arrivals of a trace for the optimum.
pub struct Judge {
    threads: NonZeroUsize,
    names: Vec<String>,
    /// By trace: what it was made from, and its switches.
    inputs: Vec<Vec<InputProvenance>>,
    specs: Vec<SwitchSpecs>,
    open: Option<OpenTrace>,
    /// Whether a model's replay of the same rows runs beside this.
    is_beside_model: bool,
    replayed: ReplayedSwitches,
    congestion: Congestion,
    thresholds: LevelThresholds,
    rivals: Rivals,
    counts: Tally,
    flows: FlowsTold,
    reasons: Reasons,
    pauses: PauseSection,
    timelines: Vec<Timeline>,
    hours: Hours,
    episodes: Episodes,
    places: Places,
    least_gain: f64,
    /// From the first arrival to the last of each trace.
    length_ns: u64,
}

/// What was replayed, by trace and switch.
pub(crate) type ReplayedSwitches = BTreeMap<(usize, u16), Replayed>;

/// What a model's replay tells of rows.
#[derive(Clone, Debug, Default)]
pub struct ModelRows {
    /// Whether it predicts a drop of each.
    pub predicted: Vec<bool>,
    /// Whether the switch's own policy drops each.
    pub by_own: Vec<bool>,
    /// Whether Credence with the model drops each.
    pub by_credence: Vec<bool>,
    /// Whether FollowLQD loses each if it is fed with predicted accepts only: the denominator of `eta`.
    pub by_followed: Vec<bool>,
}

/// The trace that rows are read from.
struct OpenTrace {
    specs: SwitchSpecs,
    options: ReplayOptions,
    /// None if a model's replay runs beside this.
    replay: Option<Replay>,
    levels: TraceLevels,
    rivals: Option<TraceRivals>,
    rows: u64,
    /// When the first packet arrives, and the last.
    times_ns: Option<[u64; 2]>,
}

impl Judge {
    /// Without traces so far. `asked` are replayed, too.
    pub fn new(threads: NonZeroUsize, asked: &AskedPolicies) -> Self {
        Judge {
            threads,
            names: Vec::new(),
            inputs: Vec::new(),
            specs: Vec::new(),
            open: None,
            is_beside_model: false,
            replayed: BTreeMap::new(),
            congestion: Congestion::default(),
            thresholds: LevelThresholds::default(),
            rivals: Rivals::new(threads, asked),
            counts: Tally::default(),
            flows: FlowsTold::default(),
            reasons: Reasons::default(),
            pauses: PauseSection::default(),
            timelines: Vec::new(),
            hours: Hours::default(),
            episodes: Episodes::default(),
            places: Places::default(),
            least_gain: asked.least_gain.unwrap_or(LEAST_GAIN),
            length_ns: 0,
        }
    }

    /// Beside a model's replay of the same rows, whose results [`Self::finish_beside`] takes.
    pub(crate) fn beside_model(
        threads: NonZeroUsize,
        asked: &AskedPolicies,
        (model, file): (&Model, Option<&str>),
    ) -> Self {
        let rivals = Rivals::new(threads, asked).with_model(model, file);
        Judge { is_beside_model: true, rivals, ..Judge::new(threads, asked) }
    }

    /// The batches that follow belong to a trace of these switches, which begin with empty buffers.
    ///
    /// # Errors
    /// [`ReportError::Levels`] if they cannot be replayed, [`ReportError::Policy`] if they cannot have a policy that was
    /// asked for.
    pub fn begin_trace(
        &mut self,
        name: &str,
        meta: &TraceMeta,
        specs: &SwitchSpecs,
    ) -> Result<(), ReportError> {
        self.end_trace();
        let levels = self
            .thresholds
            .begin(meta, self.threads, self.is_beside_model)
            .map_err(|source| ReportError::Levels { trace: name.to_owned(), source })?;
        let options = ReplayOptions::for_trace(meta);
        let rivals = self.rivals.begin(name, meta, specs)?;
        let replay = Replay::new(specs.clone(), options).without_predictions();
        let replay = (!self.is_beside_model).then(|| replay.pausing(&meta.pauses));
        self.congestion.begin(&meta.pauses);
        self.names.push(name.to_owned());
        self.inputs.push(meta.inputs.clone());
        self.specs.push(specs.clone());
        self.pauses.add(&meta.pauses);
        let specs = specs.clone();
        self.open =
            Some(OpenTrace { specs, options, replay, levels, rivals, rows: 0, times_ns: None });
        Ok(())
    }

    /// The next rows in order of arrival, whether each counts (the others only take room in the
    /// buffers), and what a model's replay tells of each, if there is a model.
    ///
    /// # Errors
    /// If no trace was begun, or a row cannot be replayed.
    pub fn add(
        &mut self,
        batch: &LabelledBatch,
        counted: &[bool],
        model: Option<&ModelRows>,
    ) -> Result<(), ReportError> {
        let trace = self.open.as_mut().ok_or(ReportError::NoTrace)?;
        let Some(columns) = &batch.arrivals else { return Ok(()) };
        let place = self.names.len() - 1;
        let name = &self.names[place];
        let mut all_met = Vec::with_capacity(batch.len());
        let mut arrivals = Vec::with_capacity(batch.len());
        let mut by_own = model.map_or_else(Vec::new, |model| model.by_own.clone());
        for (at, &dropped) in batch.drop.iter().enumerate() {
            let known = Arrival::of(columns, at, dropped);
            let arrival = Arrival { counted: counted[at], ..known };
            if let Some(replay) = &mut trace.replay {
                by_own.push(
                    replay
                        .arrive(&arrival)
                        .map_err(|source| {
                            let row = trace.rows + at as u64;
                            ReportError::Replay { trace: name.clone(), row, source }
                        })?
                        .by_own,
                );
            }
            arrivals.push(arrival);
            all_met.push(self.congestion.arrive(&arrival, &trace.specs, &trace.options));
        }
        if let (Some(first), Some(last)) = (arrivals.first(), arrivals.last()) {
            trace.times_ns.get_or_insert([first.time_ns; 2])[1] = last.time_ns;
        }
        let mut by_alphas = vec![0; batch.len()];
        if let Some(rivals) = &mut trace.rivals {
            self.rivals.add(rivals, &arrivals).map_err(|source| ReportError::Replay {
                trace: name.clone(),
                row: trace.rows,
                source,
            })?;
            self.rivals.mark_drops(rivals, &mut by_alphas);
            let by_credence = model.map_or(&[][..], |model| &model.by_credence);
            self.rivals.count_drops(rivals, &arrivals, &trace.specs, [&by_own, by_credence]);
        }
        for (at, (arrival, met)) in arrivals.iter().zip(&all_met).enumerate() {
            let Some(spec) = trace.specs.get(arrival.switch_id).filter(|_| arrival.counted) else {
                continue;
            };
            let packet = Counted {
                size_bytes: arrival.size_bytes,
                by_lqd: arrival.dropped,
                by_own: by_own.get(at).is_some_and(|&by_own| by_own),
                by_alphas: by_alphas[at],
                by_real: batch.real_drop.as_ref().map(|reasons| reasons[at]),
                marked: batch.ecn_mark.as_ref().map(|marks| marks[at]),
                predicted: model.map(|model| model.predicted[at]),
            };
            let &Arrival { time_ns, switch_id, port, queue, .. } = arrival;
            if self.timelines.len() == place {
                self.timelines.push(Timeline::new(time_ns, spec.base_rtt_ns));
            }
            let permille = met.occupancy_permille;
            self.timelines[place].at(time_ns).add(&packet, permille);
            self.hours.add(time_ns, &packet);
            self.episodes.add((place, switch_id), spec, time_ns, &packet, permille);
            self.places.add((place, switch_id, port, queue), &packet, permille);
            self.counts.add(&packet);
            self.flows.add(arrival);
            if let Some(Some(reason)) = packet.by_real {
                self.reasons.add(reason, arrival.dropped, arrival.size_bytes);
            }
        }
        trace.rows += batch.len() as u64;
        trace
            .levels
            .add(batch, &all_met, counted)
            .map_err(|source| ReportError::Levels { trace: name.clone(), source })
    }

    /// The trace has no more rows: drains its buffers.
    pub fn end_trace(&mut self) {
        let Some(trace) = self.open.take() else { return };
        let place = self.names.len() - 1;
        self.length_ns += trace.times_ns.map_or(0, |[first, last]| last.saturating_sub(first));
        let replayed = trace.replay.map(Replay::finish).into_iter().flatten();
        self.replayed.extend(replayed.map(|(switch_id, replayed)| ((place, switch_id), replayed)));
        self.thresholds.end(trace.levels);
        if let Some(rivals) = trace.rivals {
            self.rivals.end(rivals);
        }
        self.episodes.end_trace();
        if self.timelines.len() < self.names.len() {
            // Nothing of it counts.
            self.timelines.push(Timeline::new(0, 1));
        }
    }

    /// The verdict on all rows so far, which a model's replay gave these results.
    pub(crate) fn finish_beside(self, replayed: ReplayedSwitches) -> Verdict {
        Judge { replayed, ..self }.finish()
    }

    /// The verdict on all rows so far.
    pub fn finish(mut self) -> Verdict {
        self.end_trace();
        let totals = ReplayTotals::from_switches(self.replayed.values());
        let sent = |policy: ReplayPolicy| {
            let section = totals.policies.iter().find(|section| section.policy == policy);
            section.map_or_else(Sent::default, |section| section.sent)
        };
        let lqd = sent(ReplayPolicy::Lqd);
        let mut perfect_oracle = Sent::default();
        self.replayed.values().for_each(|replayed| perfect_oracle.add(replayed.perfect_oracle));
        let (occupancy, congestion) = self.congestion.finish();
        let policies = totals.policies.iter().copied();
        let own_policy = common_own_policy(self.replayed.values());
        let how = (self.least_gain, self.length_ns);
        let (rivals, advice) = self.rivals.section(lqd, own_policy.as_deref(), how);
        let best_alpha = rivals.best_alpha;
        let (queues, queues_left_out) = self.places.queues(best_alpha);
        let counts = self.counts.counts(best_alpha);
        let alpha_is_assumed = self.replayed.values().any(|replayed| replayed.alpha_is_assumed);
        let mut by_trace = self.places.traces(self.names.len(), best_alpha);
        let told = self.names.iter().zip(&self.inputs).zip(&by_trace);
        let told = told.map(|((name, inputs), of)| (name.as_str(), inputs.as_slice(), of.counts));
        let labels = totals.lqd_agreement.confusion;
        let checked = Checked { traces: told.collect(), counts, labels, alpha_is_assumed };
        let checks = checked.all();
        let of_traces: Vec<_> =
            (0..self.names.len()).map(|trace| checked.of_trace(trace)).collect();
        by_trace.iter_mut().zip(of_traces).for_each(|(trace, checks)| trace.checks = checks);
        let mut verdict = Verdict {
            schema_version: VERDICT_SCHEMA_VERSION,
            traces: self.names,
            checks,
            lqd_agreement: totals.lqd_agreement,
            arrived: totals.arrived,
            flows: self.flows,
            dropped: counts.lqd,
            occupancy,
            congestion,
            dynamic_thresholds_alpha: common_dt_alpha(self.replayed.values()),
            alpha_is_assumed,
            advice,
            own_policy,
            slack_bytes: common_slack_bytes(self.replayed.values()),
            policies: policies.filter(|section| section.policy != ReplayPolicy::Credence).collect(),
            perfect_oracle,
            perfect_oracle_packets_to_lqd: ratio(perfect_oracle.packets, lqd.packets),
            perfect_oracle_bytes_to_lqd: ratio(perfect_oracle.bytes, lqd.bytes),
            level_threshold: self.thresholds.best(lqd),
            conclusion: Conclusion::new(&rivals, &totals, perfect_oracle, counts.lqd),
            rivals,
            counts,
            real_reasons: self.reasons.sections(),
            pauses: (self.pauses.pauses > 0).then_some(self.pauses),
            timelines: self.timelines.iter().map(|line| line.section(best_alpha)).collect(),
            hours: self.hours.sections(best_alpha),
            by_trace,
            episodes: self.episodes.finish(best_alpha),
            switches: self.places.switches(&self.replayed, &self.specs, best_alpha),
            queues,
            queues_left_out,
            utc_offset: UtcOffset::default(),
        };
        if !verdict.is_trusted() {
            verdict.advice = Advice::default();
        }
        verdict
    }
}
