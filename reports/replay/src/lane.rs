//! Lanes: a policy's switch in a replay, and what it transmits.

use crate::arrival::{is_counted, is_dropped, number};
use crate::given_threshold::{GivenThreshold, Rule};
use dropcast_data::{Outcome, SwitchSpec, TraceMeta};
use dropcast_forest::{Confusion, Sent};
use dropcast_switch::{
    Buffer, Fit, FollowLqd, Held, LineRate, Observer, Packet, Policy, Removal, Switch, Victim,
};

/// Options of the replayed switches. The default is that of labels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReplayOptions {
    /// LQD's choice of victims.
    pub victim: Victim,
    /// When a packet fits, for every policy.
    pub fit: Fit,
}

impl ReplayOptions {
    /// The options that a trace's labels were made with.
    pub fn for_trace(meta: &TraceMeta) -> Self {
        let collect = meta.collect.unwrap_or_default();
        ReplayOptions { victim: collect.victim, fit: Fit::of(&collect) }
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
    pub(crate) labels: Confusion,
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
        Lane::of_switch(spec, fit, drain, policy)
    }
}

impl Lane<GivenThreshold> {
    /// An empty switch whose thresholds are given.
    pub(crate) fn of_rule(spec: &SwitchSpec, fit: Fit, drain: &LineRate, rule: Rule) -> Self {
        let policy = GivenThreshold { threshold_bytes: 0, slack_bytes: spec.slack_bytes, rule };
        Lane::of_switch(spec, fit, drain, policy)
    }
}

impl<P: Policy> Lane<P> {
    /// An empty switch with this policy; its ports drain like `drain`, which has served nothing.
    pub(crate) fn of_switch(spec: &SwitchSpec, fit: Fit, drain: &LineRate, policy: P) -> Self {
        let switch = Switch::new(spec, fit, policy, drain.clone());
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
