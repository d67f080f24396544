//! Dynamic Thresholds with several alphas.
//!
//! With any alpha a switch accepts what fits until a queue reaches its threshold. So alphas that have accepted the same
//! packets share a switch, until one drops a packet that another accepts; and two switches become one when they are alike
//! again.

use crate::rival_switch::Site;
use dropcast_data::SwitchSpec;
use dropcast_features::BufferView as _;
use dropcast_switch::{
    Alphas, Buffer, Decision, DynamicThresholds, Held, LineRate, NoObserver, Packet, Policy, Switch,
};
use std::collections::BTreeMap;

/// An alpha that is as good as infinity: a packet is accepted if it fits, as then some buffer is free.
pub(crate) const COMPLETE_SHARING: f64 = f64::MAX;

/// All alphas at all switches.
pub(crate) struct AlphaLanes {
    alphas: Vec<Alphas>,
    switches: BTreeMap<u16, SharedSwitches>,
}

/// All alphas at one switch.
struct SharedSwitches {
    shared: Vec<Shared>,
    /// Packets that have arrived.
    arrived: u64,
}

/// A switch, and the alphas that have accepted what it holds.
#[derive(Clone)]
struct Shared {
    /// Accepts what fits: what is dropped does not get here.
    switch: Switch<DynamicThresholds, LineRate>,
    lanes: Vec<usize>,
    /// The least of the alphas, by queue within a port: what it accepts all accept.
    least: Vec<f64>,
}

/// Comparing two switches takes longer than a packet.
const JOIN_EVERY: u64 = 8;

impl AlphaLanes {
    /// Empty switches.
    pub(crate) fn new(alphas: Vec<Alphas>) -> Self {
        AlphaLanes { alphas, switches: BTreeMap::new() }
    }

    /// A packet arrives at a switch of the site. `drops` hears of each alpha, by its number, that drops it.
    pub(crate) fn arrive(
        &mut self,
        site: &Site<'_>,
        (switch_id, spec): (u16, &SwitchSpec),
        packet: &Packet,
        time_ns: u64,
        drops: impl FnMut(usize),
    ) {
        let AlphaLanes { alphas, switches } = self;
        let switch = switches
            .entry(switch_id)
            .or_insert_with(|| SharedSwitches::new(site, (switch_id, spec), alphas));
        switch.arrive(alphas, packet, time_ns, drops);
    }
}

impl SharedSwitches {
    fn new(site: &Site<'_>, (switch_id, spec): (u16, &SwitchSpec), alphas: &[Alphas]) -> Self {
        let policy = DynamicThresholds::new(COMPLETE_SHARING);
        let switch = site.switch(switch_id, spec, policy);
        let least = vec![0.0; usize::from(spec.queues_per_port)];
        let mut all = Shared { switch, lanes: (0..alphas.len()).collect(), least };
        all.find_least(alphas);
        SharedSwitches { shared: vec![all], arrived: 0 }
    }

    fn arrive(
        &mut self,
        alphas: &[Alphas],
        packet: &Packet,
        time_ns: u64,
        mut drops: impl FnMut(usize),
    ) {
        let mut parted = Vec::new();
        for shared in &mut self.shared {
            shared.switch.advance(time_ns, &mut NoObserver);
            let dropping = shared.dropping(alphas, packet);
            dropping.iter().copied().for_each(&mut drops);
            if shared.lanes.is_empty() {
                // All drop it.
                shared.lanes = dropping;
                continue;
            }
            if !dropping.is_empty() {
                let mut apart = Shared { lanes: dropping, ..shared.clone() };
                apart.find_least(alphas);
                shared.find_least(alphas);
                parted.push(apart);
            }
            // A queue outside the shared buffer may be too long to count.
            if !shared.switch.admit(packet, time_ns, &mut NoObserver) {
                shared.lanes.iter().copied().for_each(&mut drops);
            }
        }
        self.shared.append(&mut parted);
        self.arrived += 1;
        if self.arrived.is_multiple_of(JOIN_EVERY) {
            self.join(alphas, time_ns);
        }
    }

    /// Makes one of switches that are alike.
    fn join(&mut self, alphas: &[Alphas], now_ns: u64) {
        for at in (1..self.shared.len()).rev() {
            let (before, rest) = self.shared.split_at_mut(at);
            let of = |held: &Held| held.size_bytes;
            let is_alike = |one: &&mut Shared| are_alike(&one.switch, &rest[0].switch, now_ns, of);
            if let Some(one) = before.iter_mut().find(is_alike) {
                one.lanes.append(&mut rest[0].lanes);
                one.find_least(alphas);
                self.shared.swap_remove(at);
            }
        }
    }
}

impl Shared {
    /// Takes the alphas that drop the packet.
    fn dropping(&mut self, alphas: &[Alphas], packet: &Packet) -> Vec<usize> {
        let buffer = self.switch.buffer();
        let queue = packet.queue % buffer.queues_per_port();
        if accepts(buffer, packet, self.least[queue]) {
            return Vec::new();
        }
        self.lanes
            .extract_if(.., |lane| !accepts(buffer, packet, alphas[*lane].at(queue)))
            .collect()
    }

    fn find_least(&mut self, alphas: &[Alphas]) {
        for (queue, least) in self.least.iter_mut().enumerate() {
            let of_lanes = self.lanes.iter().map(|&lane| alphas[lane].at(queue));
            *least = of_lanes.fold(COMPLETE_SHARING, f64::min);
        }
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

/// Whether two switches hold the same packets, of which `of` returns what matters, and transmit the same from now on.
pub(crate) fn are_alike<P: Policy, T: PartialEq>(
    a: &Switch<P, LineRate>,
    b: &Switch<P, LineRate>,
    now_ns: u64,
    of: impl Fn(&Held) -> T,
) -> bool {
    let (held_a, held_b) = (a.buffer(), b.buffer());
    held_a.occupancy_bytes() == held_b.occupancy_bytes()
        && held_a.lengths() == held_b.lengths()
        && a.service().continues_like(b.service(), now_ns)
        && held_a.packets().map(&of).eq(held_b.packets().map(&of))
}
