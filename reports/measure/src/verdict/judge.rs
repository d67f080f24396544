//! Makes a verdict in one pass over labelled rows.

use super::advice::Advice;
use super::against_now::Known;
use super::asked_policies::{AskedPolicies, LEAST_GAIN};
use super::checks::Checked;
use super::congestion::{Congestion, Met};
use super::drop_counts::{Counted, Tally};
use super::episodes::Episodes;
use super::hours::Hours;
use super::level_thresholds::{LevelThresholds, TraceLevels};
use super::pauses::PauseSection;
use super::places::Places;
use super::real_drops::Reasons;
use super::rivals::{Rivals, TraceRivals};
use super::timeline::Timeline;
use super::value::{Conclusion, FlowCounts, VERDICT_SCHEMA_VERSION, Verdict};
use crate::{ReplayTotals, common_dt_alpha, common_own_policy, common_slack_bytes, ratio};
use dropcast_data::{InputProvenance, LabelledBatch, SwitchSpecs, Threads, TraceMeta};
use dropcast_pipeline::ReportError;
use dropcast_pipeline::wall_clock::UtcOffset;
use dropcast_replay::{Arrival, Replay, ReplayOptions, ReplayPolicy, Replayed, Sent};
use dropcast_train::TrainedModel;
use std::collections::BTreeMap;
use std::num::NonZeroUsize;

/// Replays labelled rows without a model, and counts what LQD, the real switch and, if there is one, a
/// model do with them. As much memory as the buffers hold packets, and the arrivals of a trace for the optimum.
pub struct Judge {
    count_of_threads: NonZeroUsize,
    threads: Threads,
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
    flows: FlowCounts,
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

/// Dynamic Thresholds as the Credence paper has them, as the registry names them.
const PAPER_ALPHA: &str = "dt:alpha=0.5";

/// What was replayed, by trace and switch.
pub(crate) type ReplayedSwitches = BTreeMap<(usize, u16), Replayed>;

/// What a model's replay does with rows.
#[derive(Clone, Debug, Default)]
pub(crate) struct ModelRows {
    /// Whether it predicts a drop of each.
    pub predicted: Vec<bool>,
    /// Whether the switch's own policy drops each.
    pub by_own: Vec<bool>,
    /// Whether Credence with the model drops each.
    pub by_credence: Vec<bool>,
    /// Whether FollowLQD loses each if it is fed with predicted accepts only: the denominator of `eta`.
    pub by_followed: Vec<bool>,
}

/// Rows that were replayed, and not counted yet.
#[derive(Default)]
pub(crate) struct ReplayedRows {
    arrivals: Vec<Arrival>,
    /// What each meets.
    met: Vec<Met>,
    /// Whether the switch's own policy drops each; empty if a model's replay runs beside this.
    by_own: Vec<bool>,
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
            count_of_threads: threads,
            threads: Threads::new(threads),
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
            flows: FlowCounts::default(),
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
        (model, file): (&TrainedModel, Option<&str>),
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
            .begin(meta, self.count_of_threads, self.is_beside_model)
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

    /// The next rows in order of arrival, and whether each counts (the others only take room in the
    /// buffers).
    ///
    /// # Errors
    /// If no trace was begun, or a row cannot be replayed.
    pub fn add(&mut self, batch: &LabelledBatch, counted: &[bool]) -> Result<(), ReportError> {
        let replayed = self.replay(batch, counted)?;
        self.count(batch, replayed, None);
        Ok(())
    }

    /// Replays the next rows, before [`Self::count`].
    ///
    /// # Errors
    /// If no trace was begun, or a row cannot be replayed.
    pub(crate) fn replay(
        &mut self,
        batch: &LabelledBatch,
        counted: &[bool],
    ) -> Result<ReplayedRows, ReportError> {
        let Judge { congestion, rivals, threads, names, open, .. } = self;
        let trace = open.as_mut().ok_or(ReportError::NoTrace)?;
        let Some(columns) = &batch.arrivals else { return Ok(ReplayedRows::default()) };
        let name = names.last().cloned().unwrap_or_default();
        let of_row = |row, source| ReportError::Replay { trace: name.clone(), row, source };
        let rows = batch.drop.iter().enumerate();
        let arrivals = rows.map(|(at, &dropped)| {
            let known = Arrival::of(columns, at, dropped);
            Arrival { counted: counted[at], ..known }
        });
        let arrivals: Vec<Arrival> = arrivals.collect();
        let mut by_own = Vec::new();
        if let Some(replay) = &mut trace.replay {
            for (row, arrival) in (trace.rows..).zip(&arrivals) {
                by_own.push(replay.arrive(arrival).map_err(|source| of_row(row, source))?.by_own);
            }
        }
        if let (Some(first), Some(last)) = (arrivals.first(), arrivals.last()) {
            trace.times_ns.get_or_insert([first.time_ns; 2])[1] = last.time_ns;
        }
        let (specs, options) = (&trace.specs, &trace.options);
        let (levels, of_rivals) = (&mut trace.levels, &mut trace.rivals);
        let (replayed, met) = threads.join(
            || of_rivals.as_mut().map_or(Ok(()), |of| rivals.add(of, &arrivals)),
            || {
                let meets = |arrival| congestion.arrive(arrival, specs, options);
                let met: Vec<Met> = arrivals.iter().map(meets).collect();
                levels.add(batch, &met, counted).map(|()| met)
            },
        );
        replayed.map_err(|source| of_row(trace.rows, source))?;
        let met = met.map_err(|source| ReportError::Levels { trace: name.clone(), source })?;
        trace.rows += arrivals.len() as u64;
        Ok(ReplayedRows { arrivals, met, by_own })
    }

    /// Counts the rows that were replayed last, with what a model's replay does with each, if there is a model.
    pub(crate) fn count(
        &mut self,
        batch: &LabelledBatch,
        replayed: ReplayedRows,
        model: Option<&ModelRows>,
    ) {
        let Some(trace) = &self.open else { return };
        let place = self.names.len() - 1;
        let ReplayedRows { arrivals, met, by_own } = replayed;
        let by_own = model.map_or(&by_own, |model| &model.by_own);
        let mut by_alphas = vec![0; arrivals.len()];
        if let Some(rivals) = &trace.rivals {
            self.rivals.mark_drops(rivals, &mut by_alphas);
            let by_credence = model.map_or(&[][..], |model| &model.by_credence);
            self.rivals.count_drops(rivals, &arrivals, &trace.specs, [by_own, by_credence]);
        }
        for (at, (arrival, met)) in arrivals.iter().zip(&met).enumerate() {
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
        let model = self.rivals.model_policy().map(|name| (name, sent(ReplayPolicy::Credence)));
        let best_alpha = rivals.best_alpha;
        let (queues, queues_left_out) = self.places.queues(best_alpha);
        let counts = self.counts.counts(best_alpha);
        let alpha_is_assumed = self.replayed.values().any(|replayed| replayed.alpha_is_assumed);
        let known = Known {
            counts: &counts,
            rivals: &rivals,
            own: own_policy.as_deref(),
            perfect_oracle,
            paper_alpha: alpha_is_assumed.then_some(PAPER_ALPHA),
            model,
        };
        let against_now =
            known.against_now(|policy| self.rivals.gain_of_counted(policy, own_policy.as_deref()));
        let mut by_trace = self.places.traces(self.names.len(), best_alpha);
        let zip = self.names.iter().zip(&self.inputs).zip(&by_trace);
        let traces = zip.map(|((name, inputs), of)| (name.as_str(), inputs.as_slice(), of.counts));
        let labels = totals.lqd_agreement.confusion;
        let checked = Checked { traces: traces.collect(), counts, labels, alpha_is_assumed };
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
            against_now,
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
