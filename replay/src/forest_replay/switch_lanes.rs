//! One switch in many lanes: LQD, and policies whose predictions differ from lane to lane.
//!
//! Credence's virtual LQD sees all arrivals, whatever is predicted, so one serves every lane. And a
//! lane's switch differs from one that always accepts only around its predicted drops. So a
//! [`CredenceLane`] has a switch of its own only from a prediction that changes a decision until
//! both switches are alike again.

use crate::arrival::{is_counted, is_predicted};
use crate::replay::{
    DynLane, Lane, PredictedLane, ReplayOptions, ReplayPolicy, Tally, predicted_drop,
};
use dropcast_data::SwitchSpec;
use dropcast_features::BufferView;
use dropcast_switch::{Buffer, Decision, Held, LineRate, Lqd, Packet, Policy, situation};
use dropcast_train::{Sent, VotePolicy};

/// One switch in the lanes of a group.
pub(super) struct SwitchLanes {
    /// The baseline, and Credence's thresholds.
    lqd: Lane<Lqd>,
    accepting: Lane<GivenThreshold>,
    follow_lqd: DynLane,
    lanes: Vec<VoteSwitch>,
    /// Whether the last packet counted.
    counted: bool,
}

/// One lane's switch.
enum VoteSwitch {
    Credence(CredenceLane),
    Followed(Box<PredictedLane>),
}

impl SwitchLanes {
    /// A switch with empty buffers that drain like `drain`, in lanes of these policies.
    pub(super) fn new(
        spec: &SwitchSpec,
        options: &ReplayOptions,
        drain: &LineRate,
        policies: impl Iterator<Item = VotePolicy>,
    ) -> Self {
        let lanes = policies.map(|policy| match policy {
            VotePolicy::Credence => VoteSwitch::Credence(CredenceLane::default()),
            VotePolicy::Followed => VoteSwitch::Followed(Box::default()),
        });
        SwitchLanes {
            lqd: Lane::of_switch(spec, options, drain, Lqd::new(options.victim)),
            accepting: Lane::of_switch(spec, options, drain, GivenThreshold::new(spec)),
            follow_lqd: DynLane::new(spec, options, drain, ReplayPolicy::FollowLqd),
            lanes: lanes.collect(),
            counted: false,
        }
    }

    /// A packet arrives, without a prediction; `predicts` tells each lane's.
    pub(super) fn arrive(
        &mut self,
        packet: &Packet,
        time_ns: u64,
        predicts: impl Fn(usize) -> bool,
    ) {
        let SwitchLanes { lqd, accepting, follow_lqd, lanes, counted } = self;
        let begins = is_counted(packet.id) && !*counted;
        *counted = is_counted(packet.id);
        if !*counted {
            for lane in lanes.iter_mut() {
                if let VoteSwitch::Credence(lane) = lane {
                    lane.rest(accepting);
                }
            }
        }
        lqd.arrive(packet, time_ns);
        let threshold_bytes = lqd.switch.buffer().shared_lengths()[packet.queue];
        accepting.switch.policy_mut().threshold_bytes = threshold_bytes;
        accepting.advance(time_ns);
        let asks = accepting.asks(packet);
        for (lane, of) in lanes.iter_mut().enumerate() {
            let predicted = predicts(lane);
            let arriving = if predicted { predicted_drop(packet) } else { *packet };
            match of {
                VoteSwitch::Credence(credence) => {
                    if begins {
                        credence.begin(packet, accepting);
                    }
                    credence.arrive(&arriving, time_ns, predicted && asks, accepting);
                }
                VoteSwitch::Followed(followed) => {
                    let before = || Some(follow_lqd.clone());
                    followed.arrive(&arriving, time_ns, predicted, before);
                }
            }
        }
        accepting.admit(packet, time_ns);
        for lane in lanes.iter_mut() {
            if let VoteSwitch::Credence(lane) = lane {
                lane.join(accepting, time_ns);
            }
        }
        if lanes.iter().any(|lane| matches!(lane, VoteSwitch::Followed(_))) {
            follow_lqd.arrive(packet, time_ns);
        }
    }

    /// Drains the buffers; returns what LQD and each lane transmitted.
    pub(super) fn finish(self) -> (Sent, Vec<Sent>) {
        let accepting = self.accepting.finish();
        let lanes = self.lanes.into_iter().map(|lane| match lane {
            VoteSwitch::Credence(lane) => lane.finish(&accepting),
            VoteSwitch::Followed(lane) => lane.finish().sent,
        });
        (self.lqd.finish().sent, lanes.collect())
    }
}

/// Credence (Algorithm 1) with a threshold that is computed elsewhere, and predictions that come
/// with the packets.
#[derive(Clone, Debug)]
struct GivenThreshold {
    /// Of the next packet's queue.
    threshold_bytes: u32,
    /// The switch's.
    slack_bytes: u32,
}

impl GivenThreshold {
    fn new(spec: &SwitchSpec) -> Self {
        GivenThreshold { threshold_bytes: 0, slack_bytes: spec.slack_bytes }
    }

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
        if self.accepts(buffer, packet, || is_predicted(packet.id)) {
            Decision::Accept
        } else {
            Decision::Reject
        }
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
    fn rest(&mut self, accepting: &Lane<GivenThreshold>) {
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

    /// Drops the lane's own switch if it is alike.
    fn join(&mut self, accepting: &Lane<GivenThreshold>, now_ns: u64) {
        if let Some(Stretch::Apart(lane)) = &self.stretch
            && lane.continues_like(accepting, now_ns)
        {
            self.stretch = Some(Stretch::Joined(Lead::new(&lane.tally, &accepting.tally)));
        }
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
