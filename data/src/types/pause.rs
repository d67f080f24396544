//! Times in which queues may not send: priority flow control (PFC, IEEE 802.1Qbb).

use crate::SwitchSpec;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// A queue may not send: no transmission of it begins at `from_ns` or later and before `until_ns`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(from = "(u64, u64, u16, u16, u8)", into = "(u64, u64, u16, u16, u8)")]
pub struct Pause {
    /// Its beginning, nanoseconds.
    pub from_ns: u64,
    /// Its end, nanoseconds.
    pub until_ns: u64,
    /// The switch.
    pub switch_id: u16,
    /// The output port.
    pub port: u16,
    /// The queue within the port.
    pub queue: u8,
}

impl Pause {
    /// Pauses of an input, at most: a footer holds them all.
    pub const MOST: usize = 1 << 18;
}

impl From<(u64, u64, u16, u16, u8)> for Pause {
    fn from((from_ns, until_ns, switch_id, port, queue): (u64, u64, u16, u16, u8)) -> Self {
        Pause { from_ns, until_ns, switch_id, port, queue }
    }
}

impl From<Pause> for (u64, u64, u16, u16, u8) {
    fn from(pause: Pause) -> Self {
        let Pause { from_ns, until_ns, switch_id, port, queue } = pause;
        (from_ns, until_ns, switch_id, port, queue)
    }
}

/// What changes at one switch as queues are paused and resumed, in order of time. Cheap to copy.
#[derive(Clone, Debug)]
pub struct PauseSchedule {
    changes: Arc<[PauseChange]>,
    /// How many are over.
    passed: usize,
}

/// A queue is paused or resumed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PauseChange {
    /// When, nanoseconds.
    pub time_ns: u64,
    /// The queue's index among all queues of the switch.
    pub queue: usize,
    /// Whether it may not send from now on.
    pub is_paused: bool,
}

impl Default for PauseSchedule {
    fn default() -> Self {
        PauseSchedule { changes: Arc::new([]), passed: 0 }
    }
}

impl PauseSchedule {
    /// The pauses of this switch among these. Those of queues that it does not have are left out, and
    /// pauses of one queue that overlap count as one.
    pub fn new(pauses: &[Pause], switch_id: u16, spec: &SwitchSpec) -> Self {
        let is_own = |pause: &&Pause| {
            pause.switch_id == switch_id
                && usize::from(pause.port) < spec.ports()
                && pause.queue < spec.queues_per_port
                && pause.from_ns < pause.until_ns
        };
        let place = |pause: &Pause| {
            (spec.queue_index(pause.port, pause.queue), pause.from_ns, pause.until_ns)
        };
        let mut own: Vec<_> = pauses.iter().filter(is_own).map(place).collect();
        own.sort_unstable();
        own.dedup_by(|later, first| {
            let overlap = later.0 == first.0 && later.1 <= first.2;
            if overlap {
                first.2 = first.2.max(later.2);
            }
            overlap
        });
        let change = |time_ns, queue, is_paused| PauseChange { time_ns, queue, is_paused };
        let mut changes: Vec<_> = own
            .into_iter()
            .flat_map(|(queue, from, until)| {
                [change(from, queue, true), change(until, queue, false)]
            })
            .collect();
        changes.sort_unstable();
        PauseSchedule { changes: changes.into(), passed: 0 }
    }

    /// Adds a change, not before those that it has.
    pub fn push(&mut self, change: PauseChange) {
        let to_come = self.changes[self.passed..].iter().copied();
        self.changes = to_come.chain([change]).collect();
        self.passed = 0;
    }

    /// The next change.
    pub fn first(&self) -> Option<&PauseChange> {
        self.changes.get(self.passed)
    }

    /// Passes the next change.
    pub fn pass(&mut self) {
        self.passed += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pause(from_ns: u64, until_ns: u64, switch_id: u16, port: u16, queue: u8) -> Pause {
        Pause { from_ns, until_ns, switch_id, port, queue }
    }

    #[test]
    fn a_schedule_has_the_switchs_own_pauses_in_order_of_time() {
        let spec = SwitchSpec {
            queues_per_port: 2,
            pushable: vec![true; 2],
            shared: vec![true; 2],
            ..SwitchSpec::uniform(2, 1, 1, 1)
        };
        let pauses = [
            pause(10, 30, 0, 1, 1),
            pause(20, 40, 0, 1, 1),
            pause(15, 25, 0, 0, 0),
            pause(5, 6, 1, 0, 0),
            pause(5, 6, 0, 2, 0),
            pause(5, 6, 0, 0, 2),
            pause(6, 6, 0, 0, 0),
        ];
        let mut schedule = PauseSchedule::new(&pauses, 0, &spec);
        let mut changes = Vec::new();
        while let Some(&PauseChange { time_ns, queue, is_paused }) = schedule.first() {
            changes.push((time_ns, queue, is_paused));
            schedule.pass();
        }
        assert_eq!(changes, [(10, 3, true), (15, 0, true), (25, 0, false), (40, 3, false)]);
    }

    #[cfg(feature = "files")]
    #[test]
    fn a_pause_is_five_numbers_in_a_footer() {
        let json = serde_json::to_string(&pause(1, 2, 3, 4, 5)).expect("plain numbers");
        assert_eq!(json, "[1,2,3,4,5]");
        assert_eq!(serde_json::from_str::<Pause>(&json).expect("own output"), pause(1, 2, 3, 4, 5));
    }
}
