//! Switches whose packets carry no more than whether they count.

use crate::lane::ReplayOptions;
use dropcast_data::{Outcome, Pause, PauseSchedule, SwitchSpec, SwitchSpecs};
use dropcast_forest::Sent;
use dropcast_switch::{Buffer, LineRate, Observer, Packet, Policy, Removal, Switch};

/// What a policy transmits, apart for arrivals that count and those that do not: a setting can be chosen on these and
/// measured on those.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RivalSent {
    /// Arrivals that count.
    pub counted: Sent,
    /// The others.
    pub others: Sent,
}

impl RivalSent {
    /// Adds what is transmitted elsewhere.
    pub fn add(&mut self, more: RivalSent) {
        self.counted.add(more.counted);
        self.others.add(more.others);
    }

    /// What is left of this without packets that are among it.
    pub(crate) fn without(self, less: RivalSent) -> RivalSent {
        RivalSent {
            counted: self.counted.without(less.counted),
            others: self.others.without(less.others),
        }
    }

    pub(crate) fn count(&mut self, size_bytes: u32, counted: bool) {
        let sum = if counted { &mut self.counted } else { &mut self.others };
        sum.add(Sent { packets: 1, bytes: u64::from(size_bytes) });
    }
}

/// Counts what departs.
#[derive(Default)]
pub(crate) struct RivalTally(RivalSent);

impl Observer for RivalTally {
    fn removed(&mut self, removal: &Removal, _: &Buffer) {
        if removal.outcome == Outcome::Departed {
            let Removal { packet, .. } = removal;
            self.0.count(packet.size_bytes, packet.id == COUNTED);
        }
    }
}

impl RivalTally {
    /// Drains a switch. As labels count it, every packet that is held at the end of time is sent.
    pub(crate) fn drain<P: Policy>(&mut self, switch: &mut Switch<P, LineRate>) {
        switch.advance(u64::MAX, self);
        for held in switch.buffer().packets() {
            self.0.count(held.size_bytes, held.id == COUNTED);
        }
    }

    pub(crate) fn sent(&self) -> RivalSent {
        self.0
    }
}

/// The number of packets that count; a policy without predictions does not look at it.
const COUNTED: u64 = 1;

pub(crate) fn packet(queue: usize, size_bytes: u32, counted: bool) -> Packet {
    Packet::new(if counted { COUNTED } else { 0 }, queue, size_bytes)
}

/// The switches of a trace.
pub(crate) struct Site<'a> {
    pub(crate) specs: &'a SwitchSpecs,
    pub(crate) options: &'a ReplayOptions,
    pub(crate) pauses: &'a [Pause],
}

impl Site<'_> {
    /// A switch with this policy.
    pub(crate) fn switch<P: Policy>(
        &self,
        switch_id: u16,
        spec: &SwitchSpec,
        policy: P,
    ) -> Switch<P, LineRate> {
        Switch::new(spec, self.options.fit, policy, self.drain(switch_id, spec))
    }

    /// What serves the switch's queues, and virtual ones.
    pub(crate) fn drain(&self, switch_id: u16, spec: &SwitchSpec) -> LineRate {
        LineRate::new(spec).pausing(PauseSchedule::new(self.pauses, switch_id, spec))
    }
}
