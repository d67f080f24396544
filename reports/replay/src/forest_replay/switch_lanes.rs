//! One switch in many lanes: LQD, and policies whose predictions differ from lane to lane.
//!
//! Credence's virtual LQD sees all arrivals, whatever is predicted, so one serves every lane. And a
//! lane's switch differs from one that always accepts only around its predicted drops. So a
//! lane leaves it only from a prediction that changes a decision until both switches are alike again,
//! and lanes whose predictions change the same decisions share one ([`CredenceLanes`]).

use super::credence_lanes::CredenceLanes;
use super::lanes_sent::{BaselinesSent, LanesSent};
use crate::arrival::{is_counted, predicted_drop};
use crate::given_threshold::{GivenThreshold, Rule};
use crate::lane::{Lane, PredictedLane, ReplayOptions};
use dropcast_data::SwitchSpec;
use dropcast_forest::{GainWindow, Sent, VotePolicy};
use dropcast_switch::{FollowLqd, LineRate, Lqd, Packet};

/// One switch in the lanes of a group.
pub(super) struct SwitchLanes {
    /// The baseline, and Credence's thresholds.
    lqd: Lane<Lqd>,
    accepting: Lane<GivenThreshold>,
    /// For lanes that follow predictions.
    follow_lqd: Option<Lane<FollowLqd<LineRate>>>,
    baselines: Option<Baselines>,
    /// Lanes of FollowLQD, each with its place among all.
    followed: Vec<(usize, PredictedLane<FollowLqd<LineRate>>)>,
    credence: CredenceLanes,
    /// Whether the last packet counted.
    counted: bool,
    /// Packets that have arrived.
    arrived: u64,
    switch_id: u16,
    /// Gains are counted by windows as long as the buffer takes to drain.
    window_ns: u64,
}

/// Comparing two switches takes longer than a packet.
const JOIN_EVERY: u64 = 8;

/// Policies without predictions, beside the switch that always accepts.
struct Baselines {
    follow_lqd: Lane<GivenThreshold>,
}

impl SwitchLanes {
    /// A switch with empty buffers that drain like `drain`, in lanes of these policies.
    pub(super) fn new(
        (switch_id, spec): (u16, &SwitchSpec),
        options: &ReplayOptions,
        drain: &LineRate,
        policies: impl Iterator<Item = VotePolicy>,
        has_baselines: bool,
    ) -> Self {
        let policies: Vec<VotePolicy> = policies.collect();
        let of = |policy| {
            let lanes = policies.iter().enumerate();
            lanes.filter(move |(_, of)| **of == policy).map(|(lane, _)| lane)
        };
        let followed: Vec<_> =
            of(VotePolicy::Followed).map(|lane| (lane, PredictedLane::default())).collect();
        let given = |rule| Lane::of_rule(spec, options.fit, drain, rule);
        SwitchLanes {
            lqd: Lane::of_switch(spec, options.fit, drain, Lqd::new(options.victim)),
            accepting: given(Rule::Credence),
            follow_lqd: (!followed.is_empty()).then(|| Lane::following_lqd(spec, options, drain)),
            baselines: has_baselines.then(|| Baselines { follow_lqd: given(Rule::FollowLqd) }),
            followed,
            credence: CredenceLanes::new(of(VotePolicy::Credence)),
            counted: false,
            arrived: 0,
            switch_id,
            window_ns: spec.drain_ns().max(1),
        }
    }

    /// A packet arrives, without a prediction; `predicts` returns each lane's, `is_predicted` whether
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
            self.credence.rest(&self.accepting, time_ns);
        }
        let SwitchLanes { lqd, accepting, follow_lqd, baselines, followed, credence, .. } = self;
        lqd.arrive(packet, time_ns);
        let threshold_bytes = lqd.switch.buffer().shared_lengths()[packet.queue];
        accepting.switch.policy_mut().threshold_bytes = threshold_bytes;
        for (lane, followed) in followed {
            let predicted = is_predicted && predicts(*lane);
            let arriving = if predicted { predicted_drop(packet) } else { *packet };
            followed.arrive(&arriving, time_ns, predicted, || follow_lqd.clone());
        }
        if begins {
            credence.begin(packet, accepting);
        }
        credence.arrive(packet, time_ns, accepting, |lane| is_predicted && predicts(lane));
        let accepted = accepting.admit(packet, time_ns);
        if self.counted {
            credence.compare(packet, accepted, time_ns / self.window_ns);
        }
        if let Some(follow_lqd) = follow_lqd {
            follow_lqd.arrive(packet, time_ns);
        }
        if let Some(Baselines { follow_lqd }) = baselines {
            follow_lqd.switch.policy_mut().threshold_bytes = threshold_bytes;
            follow_lqd.arrive(packet, time_ns);
        }
        self.arrived += 1;
        if self.arrived.is_multiple_of(JOIN_EVERY) {
            self.credence.join(&self.accepting, time_ns);
        }
    }

    /// Drains the buffers; returns what was transmitted.
    pub(super) fn finish(self) -> LanesSent {
        let accepting = self.accepting.finish();
        let mut lanes = vec![Sent::default(); self.followed.len() + self.credence.len()];
        for (lane, followed) in self.followed {
            lanes[lane] = followed.finish().sent;
        }
        let mut gains = vec![Vec::new(); lanes.len()];
        for (lane, sent, of_lane) in self.credence.finish(&accepting) {
            lanes[lane] = sent;
            let place = |window| GainWindow { run: 0, switch: self.switch_id, window };
            gains[lane] = of_lane.into_iter().map(|(window, gain)| (place(window), gain)).collect();
        }
        let baselines = |baselines: Baselines| BaselinesSent {
            always_accept: accepting.sent,
            follow_lqd: baselines.follow_lqd.finish().sent,
        };
        LanesSent {
            lqd: self.lqd.finish().sent,
            baselines: self.baselines.map(baselines),
            alphas: None,
            lanes,
            gains,
        }
    }
}
