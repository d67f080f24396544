//! An alpha of Dynamic Thresholds for each queue of a port, where ports have several.

use super::contrasts::Contrasts;
use dropcast_data::{Pause, SwitchSpec, SwitchSpecs, TraceMeta};
use dropcast_replay::{Arrival, ReplayError, ReplayOptions, RivalReplay, RivalSent};
use dropcast_switch::{Alphas, PolicySpec};
use std::collections::BTreeSet;
use std::num::NonZeroUsize;

/// Traces with more arrivals are not searched: an arrival takes 24 bytes.
const MOST_ARRIVALS: usize = 4_000_000;

/// Ports with more queues are not searched: each takes a replay for each alpha.
const MOST_QUEUES: usize = 8;

/// Arrivals that are replayed at once to compare policies.
const BATCH: usize = 1 << 16;

/// No search goes through the queues more often.
const MOST_ROUNDS: usize = 3;

/// Searches by coordinate descent: one queue's alpha at a time, while that transmits more.
#[derive(Default)]
pub(super) struct ClassAlphas {
    traces: Vec<KnownTrace>,
    arrivals: usize,
    /// The most queues that a port has.
    queues: usize,
    /// Queues within a port at which something arrives.
    used: BTreeSet<usize>,
}

struct KnownTrace {
    specs: SwitchSpecs,
    options: ReplayOptions,
    pauses: Vec<Pause>,
    arrivals: Vec<Arrival>,
}

/// What was found.
pub(super) struct FoundAlphas {
    pub(super) alphas: Vec<f64>,
    pub(super) sent: RivalSent,
}

impl FoundAlphas {
    pub(super) fn spec(alphas: &[f64]) -> Option<PolicySpec> {
        let alpha = Alphas::new(alphas.to_vec()).ok()?;
        Some(PolicySpec::dt(alpha))
    }
}

impl ClassAlphas {
    pub(super) fn begin(&mut self, meta: &TraceMeta, specs: &SwitchSpecs) {
        let queues = |spec: &SwitchSpec| usize::from(spec.queues_per_port);
        let most = match specs {
            SwitchSpecs::Same(spec) => queues(spec),
            SwitchSpecs::Each(specs) => specs.values().map(queues).max().unwrap_or(0),
        };
        self.queues = self.queues.max(most);
        self.traces.push(KnownTrace {
            specs: specs.clone(),
            options: ReplayOptions::for_trace(meta),
            pauses: meta.pauses.clone(),
            arrivals: Vec::new(),
        });
    }

    pub(super) fn add(&mut self, arrivals: &[Arrival]) {
        self.arrivals += arrivals.len();
        if !self.is_searched() {
            self.traces.iter_mut().for_each(|trace| trace.arrivals = Vec::new());
            return;
        }
        self.used.extend(arrivals.iter().map(|arrival| usize::from(arrival.queue)));
        if let Some(trace) = self.traces.last_mut() {
            trace.arrivals.extend_from_slice(arrivals);
        }
    }

    fn is_searched(&self) -> bool {
        (2..=MOST_QUEUES).contains(&self.queues) && self.arrivals <= MOST_ARRIVALS
    }

    /// Alphas that are better than one `common` alpha, which transmits `sent`.
    pub(super) fn search(
        &self,
        (common, sent): (f64, RivalSent),
        grid: &[f64],
        threads: NonZeroUsize,
    ) -> Result<Option<FoundAlphas>, ReplayError> {
        if !self.is_searched() || self.used.len() < 2 {
            return Ok(None);
        }
        let bytes = |sent: &RivalSent| sent.counted.bytes + sent.others.bytes;
        let mut best = FoundAlphas { alphas: vec![common; self.queues], sent };
        // Queues that were tried since the last change: trying them again changes nothing.
        let mut settled = 0;
        for &queue in self.used.iter().cycle().take(MOST_ROUNDS * self.used.len()) {
            if settled == self.used.len() {
                break;
            }
            settled += 1;
            let own = best.alphas[queue];
            let with = |alpha: &f64| {
                let mut alphas = best.alphas.clone();
                alphas[queue] = *alpha;
                alphas
            };
            let tried: Vec<Vec<f64>> =
                grid.iter().filter(|&&alpha| alpha != own).map(with).collect();
            let all_sent = self.sent(&tried, threads)?;
            for (alphas, sent) in tried.into_iter().zip(all_sent) {
                if bytes(&sent) > bytes(&best.sent) {
                    best = FoundAlphas { alphas, sent };
                    settled = 1;
                }
            }
        }
        Ok((bytes(&best.sent) > bytes(&sent)).then_some(best))
    }

    /// How many settings a search chooses among: one of `grid` alphas for each queue.
    pub(super) fn settings(&self, grid: usize) -> u64 {
        let queues = u32::try_from(self.used.len()).unwrap_or(u32::MAX);
        (grid as u64).saturating_pow(queues)
    }

    /// Compares policies without predictions on the arrivals that were searched.
    pub(super) fn contrasts(
        &self,
        policies: &[PolicySpec],
        threads: NonZeroUsize,
    ) -> Result<Contrasts, ReplayError> {
        let mut contrasts = Contrasts::new(vec![false; policies.len()]);
        for KnownTrace { specs, options, pauses, arrivals } in &self.traces {
            let replay = RivalReplay::new(specs.clone(), *options, pauses, policies, threads);
            let mut replay = replay.without_optimum();
            for arrivals in arrivals.chunks(BATCH) {
                replay.add(arrivals)?;
                let rejected = (0..policies.len()).map(|place| replay.rejected(place));
                contrasts.add(arrivals, specs, rejected);
            }
            contrasts.end();
        }
        Ok(contrasts)
    }

    fn sent(
        &self,
        tried: &[Vec<f64>],
        threads: NonZeroUsize,
    ) -> Result<Vec<RivalSent>, ReplayError> {
        let policies: Vec<PolicySpec> =
            tried.iter().filter_map(|alphas| FoundAlphas::spec(alphas)).collect();
        let mut sums = vec![RivalSent::default(); policies.len()];
        for KnownTrace { specs, options, pauses, arrivals } in &self.traces {
            let replay = RivalReplay::new(specs.clone(), *options, pauses, &policies, threads);
            let mut replay = replay.without_optimum();
            replay.add(arrivals)?;
            let sent = replay.finish().policies;
            sums.iter_mut().zip(sent).for_each(|(sum, sent)| sum.add(sent));
        }
        Ok(sums)
    }
}
