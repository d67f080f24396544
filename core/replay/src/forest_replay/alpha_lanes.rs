//! Dynamic Thresholds with several alphas.
//!
//! With any alpha a switch does what Complete Sharing does until a queue reaches its threshold. So a lane is on the switch
//! of Complete Sharing, and leaves it from a packet that it alone drops until both switches are alike again.

use super::lanes_sent::{AlphasSent, Lead};
use super::pending::{Arrived, ReadyRows};
use crate::replay::{Lane, ReplayOptions};
use dropcast_data::{Pause, PauseSchedule, SwitchSpec, SwitchSpecs};
use dropcast_switch::{Buffer, Decision, DynamicThresholds, LineRate, Packet};
use dropcast_train::Sent;
use std::collections::BTreeMap;

/// All alphas at all switches.
pub(super) struct AlphaLanes {
    alphas: Vec<f64>,
    switches: BTreeMap<u16, Lanes>,
}

/// All alphas at one switch.
struct Lanes {
    complete_sharing: Lane<DynamicThresholds>,
    /// What each has transmitted beyond the switch that it is on.
    leads: Vec<Lead>,
    /// Those on the switch of Complete Sharing.
    joined: Vec<usize>,
    /// The others, each on its own.
    apart: Vec<(usize, Lane<DynamicThresholds>)>,
    /// Packets that have arrived.
    arrived: u64,
}

/// Comparing two switches takes longer than a packet.
const JOIN_EVERY: u64 = 8;

impl AlphaLanes {
    pub(super) fn new(alphas: &[f64]) -> Self {
        AlphaLanes { alphas: alphas.to_vec(), switches: BTreeMap::new() }
    }

    pub(super) fn least(&self) -> Option<f64> {
        self.alphas.iter().copied().reduce(f64::min)
    }

    /// The next rows.
    pub(super) fn arrive(
        &mut self,
        rows: &ReadyRows,
        specs: &SwitchSpecs,
        options: &ReplayOptions,
        pauses: &[Pause],
    ) {
        let AlphaLanes { alphas, switches } = self;
        for same in rows.packets.chunk_by(|a, b| a.switch_id == b.switch_id) {
            let switch_id = same[0].switch_id;
            let Some(spec) = specs.get(switch_id) else { continue };
            let lanes = switches.entry(switch_id).or_insert_with(|| {
                let schedule = PauseSchedule::new(pauses, switch_id, spec);
                let drain = LineRate::new(spec).pausing(schedule);
                Lanes::new(spec, options, &drain, alphas.len())
            });
            for Arrived { packet, time_ns, .. } in same {
                lanes.arrive(packet, *time_ns, alphas);
            }
        }
    }

    /// Drains the buffers.
    pub(super) fn finish(self) -> AlphasSent {
        let by_alpha = vec![Sent::default(); self.alphas.len()];
        let mut sum = AlphasSent { by_alpha, ..AlphasSent::default() };
        for lanes in self.switches.into_values() {
            let Lanes { complete_sharing, leads, joined, apart, .. } = lanes;
            let shared = complete_sharing.finish().sent;
            sum.complete_sharing.add(shared);
            joined.iter().for_each(|&lane| sum.by_alpha[lane].add(leads[lane].added_to(shared)));
            for (lane, switch) in apart {
                sum.by_alpha[lane].add(leads[lane].added_to(switch.finish().sent));
            }
        }
        sum
    }
}

impl Lanes {
    fn new(spec: &SwitchSpec, options: &ReplayOptions, drain: &LineRate, alphas: usize) -> Self {
        // With the largest alpha a packet is accepted if it fits: then some buffer is free.
        let most = DynamicThresholds::new(f64::MAX);
        Lanes {
            complete_sharing: Lane::of_switch(spec, options, drain, most),
            leads: vec![Lead::default(); alphas],
            joined: (0..alphas).collect(),
            apart: Vec::new(),
            arrived: 0,
        }
    }

    fn arrive(&mut self, packet: &Packet, time_ns: u64, alphas: &[f64]) {
        let Lanes { complete_sharing, joined, apart, .. } = self;
        complete_sharing.advance(time_ns);
        for (_, switch) in apart.iter_mut() {
            switch.arrive(packet, time_ns);
        }
        let buffer = complete_sharing.switch.buffer();
        if accepts(buffer, packet, f64::MAX) {
            for lane in joined.extract_if(.., |lane| !accepts(buffer, packet, alphas[*lane])) {
                let mut switch = complete_sharing.clone();
                *switch.switch.policy_mut() = DynamicThresholds::new(alphas[lane]);
                switch.admit(packet, time_ns);
                apart.push((lane, switch));
            }
        }
        complete_sharing.admit(packet, time_ns);
        self.arrived += 1;
        if self.arrived.is_multiple_of(JOIN_EVERY) {
            self.join(time_ns);
        }
    }

    /// Drops the switches that are like that of Complete Sharing.
    fn join(&mut self, now_ns: u64) {
        let Lanes { complete_sharing, leads, joined, apart, .. } = self;
        apart.retain(|(lane, switch)| {
            let is_alike = switch.continues_like(complete_sharing, now_ns);
            if is_alike {
                leads[*lane].add(Lead::new(&switch.tally.sent, &complete_sharing.tally.sent));
                joined.push(*lane);
            }
            !is_alike
        });
    }
}

/// Whether Dynamic Thresholds accept a packet.
fn accepts(buffer: &Buffer, packet: &Packet, alpha: f64) -> bool {
    let size_bytes = buffer.shared_part(packet.queue, packet.size_bytes);
    // What needs no shared buffer is no matter of thresholds.
    size_bytes == 0
        || DynamicThresholds::decide_at(alpha, buffer, &Packet { size_bytes, ..*packet })
            == Decision::Accept
}
