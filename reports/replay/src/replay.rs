//! Replays: the same arrivals through every policy, and the exact error `eta`.
//!
//! Streaming: one arrival at a time, with memory for the packets in the buffers. All switches run
//! in continuous time with packets of any size, drained at line rate.

use crate::arrival::{Arrival, ReplayError, is_predicted};
use crate::given_threshold::{GivenThreshold, Rule};
use crate::lane::{Lane, PredictedLane, ReplayOptions, Tally};
use dropcast_data::{Pause, PauseSchedule, SwitchSpec, SwitchSpecs};
use dropcast_forest::{Confusion, Sent};
use dropcast_switch::{
    Alphas, BuildError, DynamicThresholds, FollowLqd, LineRate, Lqd, Packet, Policy, PolicySite,
    PolicySpec,
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

/// A row of every report: a policy of the registry, with or without predictions. Reports compute with these rows; any
/// other policy is a rival ([`crate::RivalReplay`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReplayPolicy {
    /// Push-out Longest Queue Drop, the baseline.
    Lqd,
    /// Credence (Algorithm 1) with the report's predictions.
    Credence,
    /// Credence without predictions: every packet is predicted to be accepted.
    AlwaysAccept,
    /// FollowLQD (Algorithm 2), without predictions.
    FollowLqd,
    /// Dynamic Thresholds.
    DynamicThresholds,
    /// Harmonic.
    Harmonic,
    /// Complete Sharing.
    CompleteSharing,
    /// Complete partitioning.
    CompletePartitioning,
}

impl ReplayPolicy {
    /// Every policy, in the order of reports.
    pub const ALL: [ReplayPolicy; 8] = [
        ReplayPolicy::Lqd,
        ReplayPolicy::Credence,
        ReplayPolicy::AlwaysAccept,
        ReplayPolicy::FollowLqd,
        ReplayPolicy::DynamicThresholds,
        ReplayPolicy::Harmonic,
        ReplayPolicy::CompleteSharing,
        ReplayPolicy::CompletePartitioning,
    ];

    /// Its display name.
    pub fn name(self) -> &'static str {
        match self {
            ReplayPolicy::AlwaysAccept => "Credence, always accept",
            policy => policy.spec().title(),
        }
    }

    /// The policy with its default parameters, as the registry has it.
    fn spec(self) -> PolicySpec {
        match self {
            ReplayPolicy::Lqd => PolicySpec::Lqd(Default::default()),
            ReplayPolicy::Credence | ReplayPolicy::AlwaysAccept => {
                PolicySpec::Credence(Default::default())
            }
            ReplayPolicy::FollowLqd => PolicySpec::FollowLqd(Default::default()),
            ReplayPolicy::DynamicThresholds => PolicySpec::DynamicThresholds(Default::default()),
            ReplayPolicy::Harmonic => PolicySpec::Harmonic(Default::default()),
            ReplayPolicy::CompleteSharing => PolicySpec::CompleteSharing(Default::default()),
            ReplayPolicy::CompletePartitioning => {
                PolicySpec::CompletePartitioning(Default::default())
            }
        }
    }

    /// The policy at a switch: Dynamic Thresholds with its alpha ([`dt_alpha`]).
    fn at(self, switch: &SwitchSpec) -> PolicySpec {
        match self {
            ReplayPolicy::DynamicThresholds => PolicySpec::dt(dt_alpha(switch)),
            policy => policy.spec(),
        }
    }

    /// Whether it follows LQD's queues, or is LQD.
    fn is_of_lqd(self) -> bool {
        use ReplayPolicy::{AlwaysAccept, Credence, FollowLqd, Lqd};
        matches!(self, Lqd | Credence | AlwaysAccept | FollowLqd)
    }
}

/// The `alpha` with which a switch replays Dynamic Thresholds: that of its description, else that of the
/// Credence paper.
///
/// # Panics
/// If the description has one that is not positive.
pub fn dt_alpha(spec: &SwitchSpec) -> Alphas {
    let alpha = match spec.dt_alpha.as_slice() {
        [] => vec![DynamicThresholds::PAPER_ALPHA],
        [first, others @ ..] if others.iter().all(|other| other == first) => vec![*first],
        by_queue => by_queue.to_vec(),
    };
    Alphas::new(alpha).expect("descriptions are checked")
}

/// What a switch does by itself: Dynamic Thresholds with the alpha of its description, or Complete Sharing if that has
/// none.
///
/// # Panics
/// If the description has an alpha that is not positive.
pub fn own_policy(spec: &SwitchSpec) -> PolicySpec {
    own_row(spec).at(spec)
}

fn own_row(spec: &SwitchSpec) -> ReplayPolicy {
    match spec.dt_alpha.as_slice() {
        [] => ReplayPolicy::CompleteSharing,
        _ => ReplayPolicy::DynamicThresholds,
    }
}

/// The result of one switch's replay.
#[derive(Clone, Debug, PartialEq)]
pub struct Replayed {
    /// Ports of the switch, the papers' `N`.
    pub ports: u16,
    /// The `alpha` of Dynamic Thresholds ([`dt_alpha`]).
    pub dt_alpha: Alphas,
    /// Whether that is the paper's, because the description has none.
    pub alpha_is_assumed: bool,
    /// What the switch does by itself ([`own_policy`]).
    pub own_policy: PolicySpec,
    /// How much longer than its threshold Credence lets a queue become, bytes ([`SwitchSpec::slack_bytes`]).
    pub slack_bytes: u32,
    /// All that arrived.
    pub arrived: Sent,
    /// What each policy transmitted, in the order of [`ReplayPolicy::ALL`].
    pub sent: [Sent; ReplayPolicy::ALL.len()],
    /// What Credence transmitted with a perfect oracle: every label is predicted.
    pub perfect_oracle: Sent,
    /// What FollowLQD transmitted on the arrivals without the predicted drops: the denominator of
    /// `eta` (Credence, Definition 1).
    pub followed: Sent,
    /// The trace's labels (truth) against the replay's own LQD (prediction).
    pub agreement: Confusion,
    /// The trace's labels against the replayed predictions.
    pub confusion: Confusion,
}

/// Which policies drop an arrival.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Dropped {
    /// Whether the switch's own ([`own_policy`]) does.
    pub by_own: bool,
    /// Whether Credence with the predictions does; not if the arrival does not count.
    pub by_credence: bool,
    /// Whether FollowLQD does, or the drop is predicted, so that it does not see the arrival (Credence, Definition 1);
    /// not if the arrival does not count.
    pub by_followed: bool,
}

/// The policies of all switches of one trace.
pub struct Replay {
    specs: SwitchSpecs,
    options: ReplayOptions,
    pauses: Vec<Pause>,
    predicts: bool,
    switches: BTreeMap<u16, SwitchReplay>,
}

impl Replay {
    /// A replay that starts with empty buffers.
    pub fn new(specs: SwitchSpecs, options: ReplayOptions) -> Self {
        Replay { specs, options, pauses: Vec::new(), predicts: true, switches: BTreeMap::new() }
    }

    /// Without predictions: what Credence and FollowLQD transmit with them stays 0.
    #[must_use]
    pub fn without_predictions(self) -> Self {
        Replay { predicts: false, ..self }
    }

    /// Pauses queues in every policy's switch.
    #[must_use]
    pub fn pausing(mut self, pauses: &[Pause]) -> Self {
        pauses.clone_into(&mut self.pauses);
        self
    }

    /// The next arrival, in order of arrival.
    ///
    /// # Errors
    /// If it does not fit the switch description, or comes before the last one at its switch.
    pub fn arrive(&mut self, arrival: &Arrival) -> Result<Dropped, ReplayError> {
        let switch_id = arrival.switch_id;
        let switch = match self.switches.entry(switch_id) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => {
                let spec =
                    self.specs.get(switch_id).ok_or(ReplayError::UnknownSwitch(switch_id))?;
                let schedule = PauseSchedule::new(&self.pauses, switch_id, spec);
                let drain = LineRate::new(spec).pausing(schedule);
                let switch = SwitchReplay::new(spec, &self.options, &drain, self.predicts);
                let failed = |(policy, source)| ReplayError::Policy { policy, switch_id, source };
                new.insert(switch.map_err(failed)?)
            }
        };
        switch.arrive(arrival)
    }

    /// Drains every buffer; returns the results of the switches where a packet counted.
    pub fn finish(self) -> BTreeMap<u16, Replayed> {
        let counts = |(_, switch): &(u16, SwitchReplay)| switch.arrived.packets > 0;
        let switches = self.switches.into_iter().filter(counts);
        switches.map(|(id, switch)| (id, switch.finish())).collect()
    }
}

struct SwitchReplay {
    spec: SwitchSpec,
    /// The baseline. Its queues are the thresholds of the next two, whatever these drop.
    lqd: Lane<Lqd>,
    always_accept: Lane<GivenThreshold>,
    follow_lqd: Lane<GivenThreshold>,
    others: Vec<(ReplayPolicy, Lane<Box<dyn Policy + Send>>)>,
    /// Which of these the switch has by itself.
    own: ReplayPolicy,
    perfect: PredictedLane<GivenThreshold>,
    credence: PredictedLane<GivenThreshold>,
    /// If there are predictions.
    followed: Option<Followed>,
    /// Packets so far, counted or not.
    packets: u64,
    arrived: Sent,
    confusion: Confusion,
    time_ns: u64,
}

impl SwitchReplay {
    fn new(
        spec: &SwitchSpec,
        options: &ReplayOptions,
        drain: &LineRate,
        predicts: bool,
    ) -> Result<Self, (&'static str, BuildError)> {
        let ReplayOptions { victim, fit } = *options;
        let other = |row: ReplayPolicy| {
            let site = PolicySite { fit, victim, ..PolicySite::new(spec, 0) };
            let policy = row.at(spec);
            let built = policy.build(site.served_by(drain.clone()));
            let built = built.map_err(|error| (policy.name(), error))?;
            Ok((row, Lane::of_switch(spec, fit, drain, built)))
        };
        let others = ReplayPolicy::ALL.into_iter().filter(|row| !row.is_of_lqd());
        let given = |rule| Lane::of_rule(spec, fit, drain, rule);
        Ok(SwitchReplay {
            spec: spec.clone(),
            lqd: Lane::of_switch(spec, fit, drain, Lqd::new(victim)),
            always_accept: given(Rule::Credence),
            follow_lqd: given(Rule::FollowLqd),
            others: others.map(other).collect::<Result<_, _>>()?,
            own: own_row(spec),
            perfect: PredictedLane::default(),
            credence: PredictedLane::default(),
            followed: predicts.then(|| Followed::new(spec, options, drain)),
            packets: 0,
            arrived: Sent::default(),
            confusion: Confusion::default(),
            time_ns: 0,
        })
    }

    fn arrive(&mut self, arrival: &Arrival) -> Result<Dropped, ReplayError> {
        arrival.check(&self.spec, self.time_ns)?;
        let &Arrival { time_ns, counted, dropped, predicted, .. } = arrival;
        self.time_ns = time_ns;
        let with =
            |predicted: bool| Arrival { predicted, ..*arrival }.packet(&self.spec, self.packets);
        let (unpredicted, perfect, packet) = (with(false), with(dropped), with(predicted));
        self.packets += 1;
        if counted {
            self.arrived.add(Sent { packets: 1, bytes: u64::from(arrival.size_bytes) });
            self.confusion.add(dropped, predicted);
        }
        let SwitchReplay { lqd, always_accept, follow_lqd, .. } = self;
        lqd.arrive(&unpredicted, time_ns);
        let threshold_bytes = lqd.switch.buffer().shared_lengths()[packet.queue];
        always_accept.switch.policy_mut().threshold_bytes = threshold_bytes;
        follow_lqd.switch.policy_mut().threshold_bytes = threshold_bytes;
        for lane in [&mut self.perfect, &mut self.credence] {
            lane.policy_mut().into_iter().for_each(|of| of.threshold_bytes = threshold_bytes);
        }
        self.perfect.arrive(&perfect, time_ns, false, || Some(always_accept.clone()));
        let mut by = Dropped::default();
        if let Some(followed) = &mut self.followed {
            let always_accept = || Some(always_accept.clone());
            let is_accepted = self.credence.arrive(&packet, time_ns, false, always_accept);
            by.by_credence = counted && !is_accepted;
            let is_accepted = followed.arrive(&packet, &unpredicted, time_ns);
            by.by_followed = counted && (predicted || !is_accepted);
        }
        always_accept.arrive(&unpredicted, time_ns);
        follow_lqd.arrive(&unpredicted, time_ns);
        for (row, lane) in &mut self.others {
            let is_dropped = !lane.arrive(&unpredicted, time_ns);
            by.by_own |= is_dropped && *row == self.own;
        }
        Ok(by)
    }

    fn finish(self) -> Replayed {
        let others: BTreeMap<ReplayPolicy, Tally> =
            self.others.into_iter().map(|(row, lane)| (row, lane.finish())).collect();
        let credence = self.credence.finish().sent;
        let always_accept = self.always_accept.finish().sent;
        let follow_lqd = self.follow_lqd.finish().sent;
        let followed = self.followed.map(|followed| followed.lane.finish().sent);
        let lqd = self.lqd.finish();
        let sent = |row: ReplayPolicy| match row {
            ReplayPolicy::Lqd => lqd.sent,
            ReplayPolicy::Credence => credence,
            ReplayPolicy::AlwaysAccept => always_accept,
            ReplayPolicy::FollowLqd => follow_lqd,
            other => others[&other].sent,
        };
        Replayed {
            ports: u16::try_from(self.spec.ports()).unwrap_or(u16::MAX),
            dt_alpha: dt_alpha(&self.spec),
            alpha_is_assumed: self.spec.dt_alpha.is_empty(),
            own_policy: own_policy(&self.spec),
            slack_bytes: self.spec.slack_bytes,
            arrived: self.arrived,
            sent: ReplayPolicy::ALL.map(sent),
            perfect_oracle: self.perfect.finish().sent,
            followed: followed.unwrap_or_default(),
            agreement: lqd.labels,
            confusion: self.confusion,
        }
    }
}

/// FollowLQD, fed with predicted accepts only: its virtual LQD sees no others.
struct Followed {
    /// Fed with all.
    follow_lqd: Lane<FollowLqd<LineRate>>,
    lane: PredictedLane<FollowLqd<LineRate>>,
}

impl Followed {
    fn new(spec: &SwitchSpec, options: &ReplayOptions, drain: &LineRate) -> Self {
        let follow_lqd = Lane::following_lqd(spec, options, drain);
        Followed { follow_lqd, lane: PredictedLane::default() }
    }

    /// Returns whether it accepts the packet; yes if it does not see it.
    fn arrive(&mut self, packet: &Packet, unpredicted: &Packet, time_ns: u64) -> bool {
        let Followed { follow_lqd, lane } = self;
        let is_removed = is_predicted(packet.id);
        let is_accepted = lane.arrive(packet, time_ns, is_removed, || Some(follow_lqd.clone()));
        follow_lqd.arrive(unpredicted, time_ns);
        is_accepted
    }
}

#[cfg(test)]
mod tests;
