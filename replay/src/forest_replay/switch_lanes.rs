//! One switch in many lanes: LQD, and policies whose predictions differ from lane to lane.
//!
//! Credence's virtual LQD sees all arrivals, whatever is predicted, so one serves every lane. And a
//! lane's switch differs from one that always accepts only around its predicted drops. So a
//! [`CredenceLane`] has a switch of its own only from a prediction that changes a decision until
//! both switches are alike again.

use super::lanes_sent::{BaselinesSent, LanesSent};
use crate::arrival::{is_counted, is_predicted};
use crate::replay::{Lane, PredictedLane, ReplayOptions, Tally, predicted_drop};
use dropcast_data::SwitchSpec;
use dropcast_features::BufferView;
use dropcast_switch::{
    Buffer, CompleteSharing, Decision, FollowLqd, Held, LineRate, Lqd, Packet, Policy, situation,
};
use dropcast_train::{Sent, VotePolicy};

/// One switch in the lanes of a group.
pub(super) struct SwitchLanes {
    /// The baseline, and Credence's thresholds.
    lqd: Lane<Lqd>,
    accepting: Lane<GivenThreshold>,
    /// For lanes that follow predictions.
    follow_lqd: Option<Lane<FollowLqd<LineRate>>>,
    baselines: Option<Baselines>,
    lanes: Vec<VoteSwitch>,
    /// Lanes that need every packet: all but Credence while it is like the switch that always accepts.
    apart: Vec<usize>,
    every: Vec<usize>,
    /// Whether the last packet counted.
    counted: bool,
    /// Packets that have arrived.
    arrived: u64,
}

/// Comparing two switches takes longer than a packet.
const JOIN_EVERY: u64 = 8;

/// Policies without predictions, beside the switch that always accepts.
struct Baselines {
    follow_lqd: Lane<GivenThreshold>,
    complete_sharing: Lane<CompleteSharing>,
}

/// One lane's switch.
enum VoteSwitch {
    Credence(CredenceLane),
    Followed(Box<PredictedLane<FollowLqd<LineRate>>>),
}

impl SwitchLanes {
    /// A switch with empty buffers that drain like `drain`, in lanes of these policies.
    pub(super) fn new(
        spec: &SwitchSpec,
        options: &ReplayOptions,
        drain: &LineRate,
        policies: impl Iterator<Item = VotePolicy>,
        has_baselines: bool,
    ) -> Self {
        let lanes = policies.map(|policy| match policy {
            VotePolicy::Credence => VoteSwitch::Credence(CredenceLane::default()),
            VotePolicy::Followed => VoteSwitch::Followed(Box::default()),
        });
        let lanes: Vec<VoteSwitch> = lanes.collect();
        let given = |rule| {
            let slack_bytes = spec.slack_bytes;
            let policy = GivenThreshold { threshold_bytes: 0, slack_bytes, rule };
            Lane::of_switch(spec, options, drain, policy)
        };
        let follows = lanes.iter().any(|lane| matches!(lane, VoteSwitch::Followed(_)));
        let mut switch = SwitchLanes {
            lqd: Lane::of_switch(spec, options, drain, Lqd::new(options.victim)),
            accepting: given(Rule::Credence),
            follow_lqd: follows.then(|| Lane::following_lqd(spec, options, drain)),
            baselines: has_baselines.then(|| Baselines {
                follow_lqd: given(Rule::FollowLqd),
                complete_sharing: Lane::of_switch(spec, options, drain, CompleteSharing),
            }),
            every: (0..lanes.len()).collect(),
            lanes,
            apart: Vec::new(),
            counted: false,
            arrived: 0,
        };
        switch.find_apart();
        switch
    }

    /// Finds the lanes that need every packet.
    fn find_apart(&mut self) {
        let needs_all = |lane: &VoteSwitch| match lane {
            VoteSwitch::Followed(_) => true,
            VoteSwitch::Credence(lane) => matches!(lane.stretch, Some(Stretch::Apart(_))),
        };
        self.apart.clear();
        self.apart.extend((0..self.lanes.len()).filter(|&lane| needs_all(&self.lanes[lane])));
    }

    /// A packet arrives, without a prediction; `predicts` tells each lane's, `is_predicted` whether
    /// there may be a lane that predicts a drop.
    pub(super) fn arrive(
        &mut self,
        packet: &Packet,
        time_ns: u64,
        is_predicted: bool,
        predicts: impl Fn(usize) -> bool,
    ) {
        let begins = is_counted(packet.id) && !self.counted;
        self.counted = is_counted(packet.id);
        self.accepting.advance(time_ns);
        if !self.counted {
            self.rest(time_ns);
        }
        let SwitchLanes { lqd, accepting, follow_lqd, baselines, lanes, apart, every, .. } = self;
        lqd.arrive(packet, time_ns);
        let threshold_bytes = lqd.switch.buffer().shared_lengths()[packet.queue];
        accepting.switch.policy_mut().threshold_bytes = threshold_bytes;
        let asks = is_predicted && accepting.asks(packet);
        let all = begins || asks;
        for &lane in if all { &*every } else { &*apart } {
            let of = &mut lanes[lane];
            let predicted = is_predicted && predicts(lane);
            let arriving = if predicted { predicted_drop(packet) } else { *packet };
            match of {
                VoteSwitch::Credence(credence) => {
                    if begins {
                        credence.begin(packet, accepting);
                    }
                    credence.arrive(&arriving, time_ns, predicted && asks, accepting);
                }
                VoteSwitch::Followed(followed) => {
                    followed.arrive(&arriving, time_ns, predicted, || follow_lqd.clone());
                }
            }
        }
        accepting.admit(packet, time_ns);
        if let Some(follow_lqd) = follow_lqd {
            follow_lqd.arrive(packet, time_ns);
        }
        if let Some(Baselines { follow_lqd, complete_sharing }) = baselines {
            follow_lqd.switch.policy_mut().threshold_bytes = threshold_bytes;
            follow_lqd.arrive(packet, time_ns);
            complete_sharing.arrive(packet, time_ns);
        }
        if all {
            self.find_apart();
        }
        self.arrived += 1;
        if self.arrived.is_multiple_of(JOIN_EVERY) {
            self.join(time_ns);
        }
    }

    /// Ends the stretches of Credence's lanes whose counted packets have all left.
    fn rest(&mut self, time_ns: u64) {
        for lane in &mut self.lanes {
            if let VoteSwitch::Credence(lane) = lane {
                lane.rest(&self.accepting, time_ns);
            }
        }
        self.find_apart();
    }

    /// Drops the switches of lanes that are like the one that always accepts.
    fn join(&mut self, now_ns: u64) {
        let SwitchLanes { accepting, lanes, apart, .. } = self;
        apart.retain(|&lane| match &mut lanes[lane] {
            VoteSwitch::Credence(lane) => !lane.join(accepting, now_ns),
            VoteSwitch::Followed(_) => true,
        });
    }

    /// Drains the buffers; returns what was transmitted.
    pub(super) fn finish(self) -> LanesSent {
        let accepting = self.accepting.finish();
        let lanes = self.lanes.into_iter().map(|lane| match lane {
            VoteSwitch::Credence(lane) => lane.finish(&accepting),
            VoteSwitch::Followed(lane) => lane.finish().sent,
        });
        let baselines = |baselines: Baselines| BaselinesSent {
            always_accept: accepting.sent,
            follow_lqd: baselines.follow_lqd.finish().sent,
            complete_sharing: baselines.complete_sharing.finish().sent,
        };
        LanesSent {
            lqd: self.lqd.finish().sent,
            baselines: self.baselines.map(baselines),
            lanes: lanes.collect(),
        }
    }
}

/// A policy whose threshold is computed elsewhere, and whose predictions come with the packets.
#[derive(Clone, Debug)]
struct GivenThreshold {
    /// Of the next packet's queue.
    threshold_bytes: u32,
    /// The switch's.
    slack_bytes: u32,
    rule: Rule,
}

#[derive(Clone, Copy, Debug)]
enum Rule {
    /// Algorithm 1.
    Credence,
    /// Algorithm 2.
    FollowLqd,
}

impl GivenThreshold {
    /// Algorithm 1.
    fn accepts(
        &self,
        buffer: &Buffer,
        packet: &Packet,
        predicts_drop: impl FnOnce() -> bool,
    ) -> bool {
        let mut situation = situation(buffer, self.threshold_bytes, packet);
        situation.slack_bytes = self.slack_bytes;
        situation.decide(predicts_drop).accepts()
    }
}

impl Policy for GivenThreshold {
    fn decide(&mut self, buffer: &Buffer, packet: &Packet, _: u64) -> Decision {
        let accepts = match self.rule {
            Rule::Credence => self.accepts(buffer, packet, || is_predicted(packet.id)),
            Rule::FollowLqd => {
                let situation = situation(buffer, self.threshold_bytes, packet);
                situation.fits && situation.is_below_threshold()
            }
        };
        if accepts { Decision::Accept } else { Decision::Reject }
    }
}

impl Lane<GivenThreshold> {
    /// Whether the decision about a packet depends on its prediction.
    fn asks(&self, packet: &Packet) -> bool {
        let buffer = self.switch.buffer();
        let mut asks = false;
        let size_bytes = buffer.shared_part(packet.queue, packet.size_bytes);
        if size_bytes > 0 {
            let packet = Packet { size_bytes, ..*packet };
            self.switch.policy().accepts(buffer, &packet, || {
                asks = true;
                false
            });
        }
        asks
    }

    /// Whether both transmit and count the same from now on, given the same packets and thresholds.
    fn continues_like(&self, other: &Self, now_ns: u64) -> bool {
        let (a, b) = (self.switch.buffer(), other.switch.buffer());
        let held = |held: &Held| (held.size_bytes, is_counted(held.id));
        a.occupancy_bytes() == b.occupancy_bytes()
            && self.tally.waiting == other.tally.waiting
            && a.lengths() == b.lengths()
            && self.switch.service().continues_like(other.switch.service(), now_ns)
            && a.packets().map(held).eq(b.packets().map(held))
    }
}

/// Credence with one lane's predictions. It runs from the first of a stretch of counted packets
/// until all of these have left; each stretch starts from the state of the switch that always
/// accepts.
#[derive(Default)]
struct CredenceLane {
    /// What earlier stretches transmitted.
    before: Sent,
    stretch: Option<Stretch>,
}

enum Stretch {
    /// Like the switch that always accepts.
    Joined(Lead),
    Apart(Box<Lane<GivenThreshold>>),
}

/// What a lane has transmitted beyond the switch that always accepts; negative if less.
#[derive(Clone, Copy)]
struct Lead {
    packets: i128,
    bytes: i128,
}

impl Lead {
    fn new(lane: &Tally, accepting: &Tally) -> Self {
        let beyond = |a: u64, b: u64| i128::from(a) - i128::from(b);
        Lead {
            packets: beyond(lane.sent.packets, accepting.sent.packets),
            bytes: beyond(lane.sent.bytes, accepting.sent.bytes),
        }
    }

    fn added_to(self, accepting: &Tally) -> Sent {
        let sum = |sent: u64, lead: i128| (i128::from(sent) + lead) as u64;
        let Sent { packets, bytes } = accepting.sent;
        Sent { packets: sum(packets, self.packets), bytes: sum(bytes, self.bytes) }
    }
}

impl CredenceLane {
    /// Ends the stretch if all its packets have left.
    fn rest(&mut self, accepting: &Lane<GivenThreshold>, time_ns: u64) {
        if let Some(Stretch::Apart(lane)) = &mut self.stretch {
            lane.advance(time_ns);
        }
        let sent = match &self.stretch {
            Some(Stretch::Joined(lead)) if accepting.tally.waiting == 0 => {
                lead.added_to(&accepting.tally)
            }
            Some(Stretch::Apart(lane)) if lane.tally.waiting == 0 => lane.tally.sent,
            _ => return,
        };
        self.before.add(sent);
        self.stretch = None;
    }

    /// The first packet of counted ones, before it arrives.
    fn begin(&mut self, packet: &Packet, accepting: &Lane<GivenThreshold>) {
        if self.stretch.is_none() {
            let lane = accepting.counting_from(packet);
            self.stretch = Some(Stretch::Apart(Box::new(lane)));
        }
    }

    /// A packet arrives; `diverges` if a prediction changes what the switch that always accepts,
    /// and has not seen the packet, decides.
    fn arrive(
        &mut self,
        packet: &Packet,
        time_ns: u64,
        diverges: bool,
        accepting: &Lane<GivenThreshold>,
    ) {
        let Some(stretch) = &mut self.stretch else { return };
        if let Stretch::Joined(lead) = stretch
            && diverges
        {
            let mut lane = accepting.clone();
            lane.tally.sent = lead.added_to(&accepting.tally);
            *stretch = Stretch::Apart(Box::new(lane));
        }
        if let Stretch::Apart(lane) = stretch {
            lane.switch.policy_mut().threshold_bytes = accepting.switch.policy().threshold_bytes;
            lane.arrive(packet, time_ns);
        }
    }

    /// Drops the lane's own switch if it is alike; returns whether it has none.
    fn join(&mut self, accepting: &Lane<GivenThreshold>, now_ns: u64) -> bool {
        let Some(Stretch::Apart(lane)) = &self.stretch else { return true };
        let is_alike = lane.continues_like(accepting, now_ns);
        if is_alike {
            self.stretch = Some(Stretch::Joined(Lead::new(&lane.tally, &accepting.tally)));
        }
        is_alike
    }

    /// `accepting` is the final tally of the switch that always accepts.
    fn finish(mut self, accepting: &Tally) -> Sent {
        match self.stretch {
            None => {}
            Some(Stretch::Joined(lead)) => self.before.add(lead.added_to(accepting)),
            Some(Stretch::Apart(lane)) => self.before.add(lane.finish().sent),
        }
        self.before
    }
}
