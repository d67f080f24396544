//! Policies by name on the same arrivals, and the optimum.

use crate::arrival::{Arrival, ArrivalChecker, ReplayError};
use crate::lane::ReplayOptions;
use crate::optimum::{OptimumReplay, OptimumSent};
use crate::rival_switch::{RivalSent, RivalTally, Site, packet};
use alphas::{AlphaRivals, alpha_of};
use dropcast_data::{Pause, SwitchSpec, SwitchSpecs, Threads};
use dropcast_forest::Model;
use dropcast_switch::{LineRate, Live, Policy, PolicyModel, PolicySite, PolicySpec, Switch};
use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::Arc;

/// Makes a policy of the caller's own for a switch, by its number and description.
pub type OwnPolicy = Arc<dyn Fn(u16, &SwitchSpec) -> Box<dyn Policy + Send> + Send + Sync>;

/// Oracles by the name that the parameters of policies give ([`PolicySpec::model`]).
pub type OraclesByName = BTreeMap<String, Arc<Model<()>>>;

/// What a policy asks at a switch: the model, with thresholds for the switch's buffer. Those of a model that does not say
/// its buffer are used as they are.
pub fn oracle_at<P: Clone>(model: &Model<P>, buffer_bytes: u32) -> PolicyModel {
    let model = model.for_buffer(buffer_bytes).unwrap_or_else(|_| model.clone());
    PolicyModel::Predictor(Box::new(Live { features: model.features, oracle: model.forest }))
}

/// Of random choices of policies.
const SEED: u64 = 1;

/// The result of a [`RivalReplay`], over all switches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RivalsSent {
    /// What each policy transmits, in the order in which they were given.
    pub policies: Vec<RivalSent>,
    /// The optimum; none if there are too many arrivals ([`OptimumReplay::MOST_ARRIVALS`]).
    pub optimum: Option<OptimumSent>,
}

impl RivalsSent {
    /// The same of the last `count` policies alone, without the optimum.
    #[must_use]
    pub fn of_last(self, count: usize) -> Self {
        let mut policies = self.policies;
        policies.drain(..policies.len().saturating_sub(count));
        RivalsSent { policies, optimum: None }
    }

    /// Adds what the same policies transmit of another trace.
    pub fn add(&mut self, more: &RivalsSent) {
        for (sum, sent) in self.policies.iter_mut().zip(&more.policies) {
            sum.add(*sent);
        }
        self.optimum = match (self.optimum, more.optimum) {
            (Some(mut sum), Some(sent)) => {
                sum.add(sent);
                Some(sum)
            }
            _ => None,
        };
    }
}

/// Replays of one trace through policies, each with a switch of its own, but for alphas, which share some. Memory: the packets in their
/// buffers, and the arrivals for the optimum.
pub struct RivalReplay {
    specs: SwitchSpecs,
    options: ReplayOptions,
    pauses: Vec<Pause>,
    checker: ArrivalChecker,
    /// Where each policy is, in the order in which they were given.
    places: Vec<ReplaySlot>,
    alphas: Vec<AlphaRivals>,
    lanes: Vec<RivalLane>,
    oracles: OraclesByName,
    optimum: Option<OptimumReplay>,
    threads: Threads,
}

/// Where a policy is replayed.
#[derive(Clone, Copy)]
enum ReplaySlot {
    /// Number `alpha` of a group.
    Alpha { group: usize, alpha: usize },
    /// In a lane of its own.
    Lane(usize),
}

/// What one thread replays.
enum Job<'a> {
    Alphas(&'a mut AlphaRivals),
    Lane(&'a mut RivalLane),
}

/// Fewer alphas are not divided among threads: they would share less.
const FEW_ALPHAS: usize = 4;

enum Rival {
    Registry(PolicySpec),
    Own(OwnPolicy),
}

impl Rival {
    fn at(
        &self,
        switch_id: u16,
        spec: &SwitchSpec,
        site: &Site<'_>,
        oracles: &OraclesByName,
    ) -> Result<Box<dyn Policy + Send>, ReplayError> {
        let policy = match self {
            Rival::Own(make) => return Ok(make(switch_id, spec)),
            Rival::Registry(policy) => policy,
        };
        let ReplayOptions { victim, fit } = *site.options;
        let oracle = policy.model().and_then(|name| oracles.get(name));
        let model = oracle.map(|model| oracle_at(model, spec.buffer_bytes));
        let at = PolicySite { victim, fit, model, ..PolicySite::new(spec, SEED) };
        policy
            .build(at.served_by(site.drain(switch_id, spec)))
            .map_err(|source| ReplayError::Policy { policy: policy.name(), switch_id, source })
    }
}

struct RivalLane {
    policy: Rival,
    switches: BTreeMap<u16, Switch<Box<dyn Policy + Send>, LineRate>>,
    sent: RivalTally,
    /// Which of the last arrivals it did not accept.
    rejected: Vec<bool>,
}

impl RivalReplay {
    /// A replay that starts with empty buffers, on up to `threads` threads.
    pub fn new(
        specs: SwitchSpecs,
        options: ReplayOptions,
        pauses: &[Pause],
        policies: &[PolicySpec],
        threads: NonZeroUsize,
    ) -> Self {
        let threads = Threads::new(threads);
        let (mut alphas, mut lanes) = (Vec::new(), Vec::new());
        let all = policies.iter().filter_map(alpha_of).count();
        let group = all.div_ceil(threads.count()).max(FEW_ALPHAS);
        let place = |policy: &PolicySpec| match alpha_of(policy) {
            Some(alpha) => {
                alphas.push(alpha);
                let number = alphas.len() - 1;
                ReplaySlot::Alpha { group: number / group, alpha: number % group }
            }
            None => {
                lanes.push(RivalLane::new(Rival::Registry(policy.clone())));
                ReplaySlot::Lane(lanes.len() - 1)
            }
        };
        let places = policies.iter().map(place).collect();
        let alphas = alphas.chunks(group).map(|alphas| AlphaRivals::new(alphas.to_vec()));
        RivalReplay {
            checker: ArrivalChecker::new(specs.clone()),
            specs,
            options,
            pauses: pauses.to_vec(),
            places,
            alphas: alphas.collect(),
            lanes,
            oracles: OraclesByName::new(),
            optimum: Some(OptimumReplay::default()),
            threads,
        }
    }

    /// With policies of the caller's own, after the others.
    #[must_use]
    pub fn with(mut self, own: &[OwnPolicy]) -> Self {
        for policy in own.iter().cloned() {
            self.places.push(ReplaySlot::Lane(self.lanes.len()));
            self.lanes.push(RivalLane::new(Rival::Own(policy)));
        }
        self
    }

    /// With the oracles that policies ask.
    #[must_use]
    pub fn asking(self, oracles: OraclesByName) -> Self {
        RivalReplay { oracles, ..self }
    }

    /// Without the optimum, for which all arrivals are kept.
    #[must_use]
    pub fn without_optimum(self) -> Self {
        RivalReplay { optimum: None, ..self }
    }

    /// The next arrivals, in order. Their own predictions are not looked at: policies ask their oracles.
    ///
    /// # Errors
    /// If one does not fit its switch or comes before the last one there, or a policy cannot be built.
    pub fn add(&mut self, arrivals: &[Arrival]) -> Result<(), ReplayError> {
        for arrival in arrivals {
            self.checker.check(arrival)?;
        }
        let (specs, options, pauses) = (&self.specs, &self.options, self.pauses.as_slice());
        let site = Site { specs, options, pauses };
        let (alphas, lanes) = (self.alphas.iter_mut(), self.lanes.iter_mut());
        let jobs = alphas.map(Job::Alphas).chain(lanes.map(Job::Lane)).collect();
        let done = self.threads.map(jobs, |job| match job {
            Job::Alphas(alphas) => alphas.add(arrivals, &site),
            Job::Lane(lane) => lane.add(arrivals, &site, &self.oracles),
        });
        done.into_iter().collect::<Result<(), ReplayError>>()?;
        if let Some(optimum) = &mut self.optimum
            && !optimum.add(arrivals, specs)
        {
            self.optimum = None;
        }
        Ok(())
    }

    /// Which of the arrivals of the last [`add`](Self::add) policy number `place` rejected: all that it drops of them,
    /// unless it pushes packets out.
    pub fn rejected(&self, place: usize) -> &[bool] {
        match self.places.get(place) {
            Some(&ReplaySlot::Alpha { group, alpha }) => self.alphas[group].rejected(alpha),
            Some(&ReplaySlot::Lane(lane)) => &self.lanes[lane].rejected,
            None => &[],
        }
    }

    /// Drains every buffer.
    pub fn finish(self) -> RivalsSent {
        let lanes = self.threads.map(self.lanes, RivalLane::finish);
        let alphas: Vec<Vec<RivalSent>> =
            self.alphas.into_iter().map(AlphaRivals::finish).collect();
        let sent = |place: &ReplaySlot| match *place {
            ReplaySlot::Alpha { group, alpha } => alphas[group][alpha],
            ReplaySlot::Lane(lane) => lanes[lane],
        };
        let policies = self.places.iter().map(sent).collect();
        let (specs, options, pauses) = (&self.specs, &self.options, self.pauses.as_slice());
        let site = Site { specs, options, pauses };
        let optimum = self.optimum.map(|optimum| optimum.finish(&site, &self.threads));
        RivalsSent { policies, optimum }
    }
}

impl RivalLane {
    fn new(policy: Rival) -> Self {
        let (switches, sent) = (BTreeMap::new(), RivalTally::default());
        RivalLane { policy, switches, sent, rejected: Vec::new() }
    }

    fn add(
        &mut self,
        arrivals: &[Arrival],
        site: &Site<'_>,
        oracles: &OraclesByName,
    ) -> Result<(), ReplayError> {
        self.rejected.clear();
        for arrival in arrivals {
            let switch_id = arrival.switch_id;
            let spec = site.specs.get(switch_id).ok_or(ReplayError::UnknownSwitch(switch_id))?;
            if !self.switches.contains_key(&switch_id) {
                let policy = self.policy.at(switch_id, spec, site, oracles)?;
                self.switches.insert(switch_id, site.switch(switch_id, spec, policy));
            }
            let Some(switch) = self.switches.get_mut(&switch_id) else { continue };
            switch.advance(arrival.time_ns, &mut self.sent);
            let queue = spec.queue_index(arrival.port, arrival.queue);
            let packet = packet(queue, arrival.size_bytes, arrival.counted);
            let packet = arrival.of_its_flow(packet);
            self.rejected.push(!switch.admit(&packet, arrival.time_ns, &mut self.sent));
        }
        Ok(())
    }

    fn finish(mut self) -> RivalSent {
        self.switches.values_mut().for_each(|switch| self.sent.drain(switch));
        self.sent.sent()
    }
}

mod alphas;
#[cfg(test)]
mod tests;
