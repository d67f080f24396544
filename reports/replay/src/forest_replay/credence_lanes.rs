//! Credence with the predictions of many lanes.

use super::lanes_sent::Lead;
use crate::arrival::predicted_drop;
use crate::given_threshold::GivenThreshold;
use crate::lane::{Lane, Tally};
use dropcast_forest::{Sent, VoteGain};
use dropcast_switch::Packet;
use std::collections::BTreeMap;

/// Credence's lanes. Each runs from the first of a stretch of counted packets until all of these have left, and
/// starts from the state of the switch that always accepts. It is on that switch, or shares one with the lanes
/// whose predictions have changed the same decisions.
pub(super) struct CredenceLanes {
    lanes: Vec<CredenceLane>,
    /// Lanes in a stretch that are on the switch that always accepts.
    joined: Vec<usize>,
    apart: Vec<Apart>,
}

struct CredenceLane {
    /// Its place among all lanes.
    place: usize,
    /// What earlier stretches transmitted.
    before: Sent,
    /// By window of time, what it accepts more than the switch that always accepts.
    gains: BTreeMap<u64, VoteGain>,
    /// What this stretch has transmitted beyond the switch that it is on; `None` between stretches.
    lead: Option<Lead>,
}

/// A switch that differs from the one that always accepts, and the lanes on it.
struct Apart {
    switch: Lane<GivenThreshold>,
    lanes: Vec<usize>,
    /// Whether it has accepted the last packet.
    accepted: bool,
}

impl CredenceLanes {
    /// Lanes with these places among all.
    pub(super) fn new(places: impl Iterator<Item = usize>) -> Self {
        let lane = |place| CredenceLane {
            place,
            before: Sent::default(),
            gains: BTreeMap::new(),
            lead: None,
        };
        CredenceLanes { lanes: places.map(lane).collect(), joined: Vec::new(), apart: Vec::new() }
    }

    pub(super) fn len(&self) -> usize {
        self.lanes.len()
    }

    /// The first packet of counted ones, before it arrives: lanes between stretches begin one.
    pub(super) fn begin(&mut self, packet: &Packet, accepting: &Lane<GivenThreshold>) {
        let resting = self.lanes.iter_mut().enumerate().filter(|(_, lane)| lane.lead.is_none());
        let begin = |(lane, of): (usize, &mut CredenceLane)| {
            of.lead = Some(Lead::default());
            lane
        };
        let lanes: Vec<usize> = resting.map(begin).collect();
        if !lanes.is_empty() {
            let switch = accepting.counting_from(packet);
            self.apart.push(Apart { switch, lanes, accepted: true });
        }
    }

    /// A packet arrives, without a prediction, before the switch that always accepts has seen it; `predicts` returns
    /// each lane's prediction.
    pub(super) fn arrive(
        &mut self,
        packet: &Packet,
        time_ns: u64,
        accepting: &Lane<GivenThreshold>,
        predicts: impl Fn(usize) -> bool,
    ) {
        let CredenceLanes { lanes, joined, apart } = self;
        let predicts = &|lane: usize| predicts(lanes[lane].place);
        let mut parting: Vec<Apart> = Vec::new();
        for Apart { switch, lanes, accepted } in &mut *apart {
            switch.advance(time_ns);
            let threshold_bytes = accepting.switch.policy().threshold_bytes;
            switch.switch.policy_mut().threshold_bytes = threshold_bytes;
            *accepted = if lanes.iter().all(|&lane| predicts(lane)) {
                switch.admit(&predicted_drop(packet), time_ns)
            } else {
                parting.extend(part(switch, lanes, packet, predicts));
                switch.admit(packet, time_ns)
            };
        }
        parting.extend(part(accepting, joined, packet, predicts));
        for Apart { switch, accepted, .. } in &mut parting {
            *accepted = switch.admit(&predicted_drop(packet), time_ns);
        }
        apart.append(&mut parting);
    }

    /// The switch that always accepts has accepted the packet that counts, or not: what it arrives in is a gain
    /// or a loss of the lanes that have decided otherwise. What is accepted is transmitted in the end.
    pub(super) fn compare(&mut self, packet: &Packet, accepted: bool, window: u64) {
        for apart in self.apart.iter().filter(|apart| apart.accepted != accepted) {
            let more = VoteGain::of_packet(packet.size_bytes, apart.accepted);
            for &lane in &apart.lanes {
                self.lanes[lane].gains.entry(window).or_default().add(more);
            }
        }
    }

    /// Between counted packets: ends the stretches whose counted packets have all left.
    pub(super) fn rest(&mut self, accepting: &Lane<GivenThreshold>, time_ns: u64) {
        let CredenceLanes { lanes, joined, apart } = self;
        if accepting.tally.waiting == 0 {
            joined.drain(..).for_each(|lane| lanes[lane].rest(&accepting.tally));
        }
        apart.retain_mut(|apart| {
            apart.switch.advance(time_ns);
            let is_over = apart.switch.tally.waiting == 0;
            if is_over {
                apart.lanes.iter().for_each(|&lane| lanes[lane].rest(&apart.switch.tally));
            }
            !is_over
        });
    }

    /// Drops the switches that are like the one that always accepts.
    pub(super) fn join(&mut self, accepting: &Lane<GivenThreshold>, now_ns: u64) {
        let CredenceLanes { lanes, joined, apart } = self;
        apart.retain(|apart| {
            let is_alike = apart.switch.continues_like(accepting, now_ns);
            if is_alike {
                let more = Lead::new(&apart.switch.tally.sent, &accepting.tally.sent);
                for &lane in &apart.lanes {
                    lanes[lane].lead.get_or_insert_default().add(more);
                }
                joined.extend(&apart.lanes);
            }
            !is_alike
        });
    }

    /// What each lane has transmitted, with its place among all, and its gains by window; `accepting` is the final
    /// tally of the switch that always accepts.
    pub(super) fn finish(
        self,
        accepting: &Tally,
    ) -> impl Iterator<Item = (usize, Sent, BTreeMap<u64, VoteGain>)> {
        let CredenceLanes { mut lanes, joined, apart } = self;
        joined.into_iter().for_each(|lane| lanes[lane].rest(accepting));
        for Apart { switch, lanes: these, .. } in apart {
            let tally = switch.finish();
            these.into_iter().for_each(|lane| lanes[lane].rest(&tally));
        }
        lanes.into_iter().map(|lane| (lane.place, lane.before, lane.gains))
    }
}

/// Lanes that predict the drop of the packet leave `switch` if that changes its decision: for a copy of it that has
/// not seen the packet, either.
fn part(
    switch: &Lane<GivenThreshold>,
    lanes: &mut Vec<usize>,
    packet: &Packet,
    predicts: impl Fn(usize) -> bool,
) -> Option<Apart> {
    let first = lanes.iter().position(|&lane| predicts(lane))?;
    switch.asks(packet).then(|| {
        let lanes = lanes.extract_if(first.., |lane| predicts(*lane)).collect();
        Apart { switch: switch.clone(), lanes, accepted: true }
    })
}

impl CredenceLane {
    /// Its stretch ends; `tally` is that of the switch that it is on.
    fn rest(&mut self, tally: &Tally) {
        if let Some(lead) = self.lead.take() {
            self.before.add(lead.added_to(tally.sent));
        }
    }
}
