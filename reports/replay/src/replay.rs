//! Replays: the same arrivals through every policy, and the exact error `eta`.
//!
//! Streaming: one arrival at a time, with memory for the packets in the buffers. All switches run
//! in continuous time with packets of any size, drained at line rate.

use crate::arrival::{Arrival, ReplayError, is_counted, is_dropped, is_predicted, number};
use crate::given_threshold::{GivenThreshold, Rule};
use dropcast_data::{Outcome, Pause, PauseSchedule, SwitchSpec, SwitchSpecs, TraceMeta};
use dropcast_forest::{Confusion, Sent};
use dropcast_switch::{
    Alphas, Buffer, BuildError, DynamicThresholds, Fit, FollowLqd, Held, LineRate, Lqd, Observer,
    Packet, Policy, PolicySite, PolicySpec, Removal, Switch, Victim,
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

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

/// Options of the replayed switches. The default is that of labels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReplayOptions {
    /// LQD's choice of victims.
    pub victim: Victim,
    /// When a packet fits, for every policy.
    pub fit: Fit,
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

impl ReplayOptions {
    /// The options that a trace's labels were made with.
    pub fn for_trace(meta: &TraceMeta) -> Self {
        let collect = meta.collect.unwrap_or_default();
        ReplayOptions { victim: collect.victim, fit: Fit::of(&collect) }
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
        if !self.switches.contains_key(&switch_id) {
            let spec = self.specs.get(switch_id).ok_or(ReplayError::UnknownSwitch(switch_id))?;
            let schedule = PauseSchedule::new(&self.pauses, switch_id, spec);
            let drain = LineRate::new(spec).pausing(schedule);
            let switch = SwitchReplay::new(spec, &self.options, &drain, self.predicts);
            let switch = switch.map_err(|(policy, source)| ReplayError::Policy {
                policy,
                switch_id,
                source,
            })?;
            self.switches.insert(switch_id, switch);
        }
        match self.switches.get_mut(&switch_id) {
            Some(switch) => switch.arrive(arrival),
            None => Err(ReplayError::UnknownSwitch(switch_id)),
        }
    }

    /// Drains every buffer; returns the results of the switches where a packet counted.
    pub fn finish(self) -> BTreeMap<u16, Replayed> {
        let counts = |(_, switch): &(u16, SwitchReplay)| switch.arrived.packets > 0;
        let switches = self.switches.into_iter().filter(counts);
        switches.map(|(id, switch)| (id, switch.finish())).collect()
    }
}

/// The same packet with a predicted drop.
pub(crate) fn predicted_drop(packet: &Packet) -> Packet {
    Packet { id: packet.id | 1, ..*packet }
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
            Ok((row, Lane::of_switch(spec, options, drain, built)))
        };
        let others = ReplayPolicy::ALL.into_iter().filter(|row| !row.is_of_lqd());
        let given = |rule| Lane::given_thresholds(spec, options, drain, rule);
        Ok(SwitchReplay {
            spec: spec.clone(),
            lqd: Lane::of_switch(spec, options, drain, Lqd::new(victim)),
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
            followed: self
                .followed
                .map_or_else(Sent::default, |followed| followed.lane.finish().sent),
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

/// One policy's switch, and its transmitted packets.
#[derive(Clone)]
pub(crate) struct Lane<P> {
    pub(crate) switch: Switch<P, LineRate>,
    pub(crate) tally: Tally,
}

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tally {
    pub(crate) sent: Sent,
    /// The trace's labels against this policy's decisions.
    labels: Confusion,
    /// The number of the first packet that it may count.
    from: u64,
    /// Counted packets in the buffer.
    pub(crate) waiting: u64,
}

impl Tally {
    fn counts(&self, tag: u64) -> bool {
        is_counted(tag) && number(tag) >= self.from
    }

    /// A packet that was in the buffer has left it.
    #[inline(always)]
    fn settle(&mut self, packet: &Held, outcome: Outcome) {
        if !self.counts(packet.id) {
            return;
        }
        self.waiting -= 1;
        self.labels.add(is_dropped(packet.id), outcome.is_drop());
        if outcome == Outcome::Departed {
            self.sent.add(Sent { packets: 1, bytes: u64::from(packet.size_bytes) });
        }
    }
}

impl Observer for Tally {
    fn removed(&mut self, removal: &Removal, _: &Buffer) {
        self.settle(&removal.packet, removal.outcome);
    }
}

impl Lane<FollowLqd<LineRate>> {
    /// An empty switch with FollowLQD.
    pub(crate) fn following_lqd(
        spec: &SwitchSpec,
        options: &ReplayOptions,
        drain: &LineRate,
    ) -> Self {
        let ReplayOptions { victim, fit } = *options;
        let policy = FollowLqd::new(spec, victim, fit, drain.clone());
        Lane::of_switch(spec, options, drain, policy)
    }
}

impl Lane<GivenThreshold> {
    /// An empty switch whose thresholds are given.
    pub(crate) fn given_thresholds(
        spec: &SwitchSpec,
        options: &ReplayOptions,
        drain: &LineRate,
        rule: Rule,
    ) -> Self {
        let slack_bytes = spec.slack_bytes;
        let policy = GivenThreshold { threshold_bytes: 0, slack_bytes, rule };
        Lane::of_switch(spec, options, drain, policy)
    }
}

impl<P: Policy> Lane<P> {
    /// An empty switch with this policy; its ports drain like `drain`, which has served nothing.
    pub(crate) fn of_switch(
        spec: &SwitchSpec,
        options: &ReplayOptions,
        drain: &LineRate,
        policy: P,
    ) -> Self {
        let switch = Switch::new(spec, options.fit, policy, drain.clone());
        Lane { switch, tally: Tally::default() }
    }

    /// A packet arrives. Returns whether it is accepted.
    pub(crate) fn arrive(&mut self, packet: &Packet, time_ns: u64) -> bool {
        self.advance(time_ns);
        self.admit(packet, time_ns)
    }

    /// Serves the queues up to `time_ns`.
    pub(crate) fn advance(&mut self, time_ns: u64) {
        self.switch.advance(time_ns, &mut self.tally);
    }

    /// A packet arrives at the time that the lane has advanced to. Returns whether it is accepted.
    pub(crate) fn admit(&mut self, packet: &Packet, time_ns: u64) -> bool {
        let counts = self.tally.counts(packet.id);
        self.tally.waiting += u64::from(counts);
        let is_accepted = self.switch.admit(packet, time_ns, &mut self.tally);
        if !is_accepted && counts {
            self.tally.waiting -= 1;
            self.tally.labels.add(is_dropped(packet.id), true);
        }
        is_accepted
    }

    pub(crate) fn finish(mut self) -> Tally {
        self.advance(u64::MAX);
        // Labels count every packet that is held at the end as sent. One whose time of departure is beyond all
        // times is still here.
        for held in self.switch.buffer().packets() {
            self.tally.settle(held, Outcome::Departed);
        }
        self.tally
    }
}

impl<P: Clone> Lane<P> {
    /// A lane in the same state that counts only this packet and later ones.
    pub(crate) fn counting_from(&self, packet: &Packet) -> Self {
        let tally = Tally { from: number(packet.id), ..Tally::default() };
        Lane { switch: self.switch.clone(), tally }
    }
}

/// A lane that depends on predictions. It runs from the first of a stretch of counted packets until
/// all of these have left; each stretch starts from the state of the switch without predictions.
pub(crate) struct PredictedLane<P> {
    lane: Option<Lane<P>>,
    /// The totals of earlier stretches.
    before: Tally,
    /// Whether the last packet counted.
    goes_on: bool,
}

impl<P> Default for PredictedLane<P> {
    fn default() -> Self {
        PredictedLane { lane: None, before: Tally::default(), goes_on: false }
    }
}

impl<P: Policy + Clone> PredictedLane<P> {
    /// Its policy, while it runs.
    pub(crate) fn policy_mut(&mut self) -> Option<&mut P> {
        self.lane.as_mut().map(|lane| lane.switch.policy_mut())
    }

    /// The next packet, `removed` if the policy must not see it. `without_predictions` is a lane of
    /// the same policy that has seen all earlier packets, without predictions. Returns whether it accepts the packet; yes
    /// if it does not see it.
    pub(crate) fn arrive(
        &mut self,
        packet: &Packet,
        time_ns: u64,
        removed: bool,
        without_predictions: impl FnOnce() -> Option<Lane<P>>,
    ) -> bool {
        let counted = is_counted(packet.id);
        let begins = counted && !self.goes_on;
        self.goes_on = counted;
        if let Some(lane) = self.lane.as_mut().filter(|_| !counted) {
            lane.advance(time_ns);
            if lane.tally.waiting == 0 {
                self.rest();
            }
        }
        if begins && self.lane.is_none() {
            self.lane = without_predictions().map(|lane| lane.counting_from(packet));
        }
        let lane = self.lane.as_mut().filter(|_| !removed);
        lane.is_none_or(|lane| lane.arrive(packet, time_ns))
    }

    pub(crate) fn finish(mut self) -> Tally {
        self.rest();
        self.before
    }

    fn rest(&mut self) {
        if let Some(lane) = self.lane.take() {
            let Tally { sent, labels, .. } = lane.finish();
            self.before.sent.add(sent);
            self.before.labels.merge(&labels);
        }
    }
}

#[cfg(test)]
mod tests;
