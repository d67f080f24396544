//! AQMs that mark a packet as it leaves, by the time that it was in its queue: TCN, CoDel and ECN#.
//!
//! They mark packets that are capable of ECN and let others pass. CoDel that drops is not here.

use super::Aqm;
use crate::{Buffer, BuildError};
use dropcast_data::SwitchSpec;
use serde::{Deserialize, Serialize};

/// TCN (Bai et al., "Enabling ECN over Generic Packet Scheduling", CoNEXT 2016): marks what was in its queue for
/// longer than a threshold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Tcn {
    /// The threshold, nanoseconds: what 65 packets of 1,500 bytes take at 10 Gbps unless given.
    pub threshold_ns: u64,
}

impl Default for Tcn {
    fn default() -> Self {
        Tcn { threshold_ns: 78_000 }
    }
}

impl Aqm for Tcn {
    fn marks_leaving(&mut self, _: &Buffer, _: usize, sojourn_ns: u64, _: u64) -> bool {
        sojourn_ns > self.threshold_ns
    }
}

/// Parameters of [`CoDel`]; unless given those of the PRED paper (section 6.3.1), for round trips of 80 us.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CoDelParameters {
    /// The time in the queue that is accepted, nanoseconds.
    pub target_ns: u64,
    /// How long it may be exceeded, nanoseconds.
    pub interval_ns: u64,
}

impl Default for CoDelParameters {
    fn default() -> Self {
        CoDelParameters { target_ns: 10_000, interval_ns: 150_000 }
    }
}

impl CoDelParameters {
    /// CoDel for a switch.
    ///
    /// # Errors
    /// If the interval is 0.
    pub fn aqm(&self, spec: &SwitchSpec) -> Result<CoDel, BuildError> {
        check_interval(self.interval_ns)?;
        Ok(CoDel { queues: vec![Queue::new(self); spec.queues()] })
    }
}

/// CoDel (Nichols and Jacobson, "Controlling Queue Delay", 2012; RFC 8289) that marks: once the time in the queue was
/// above a target for an interval, it marks a packet, and then more and more often until it is below.
#[derive(Clone, Debug)]
pub struct CoDel {
    queues: Vec<Queue>,
}

/// A switch's largest packet, bytes: less than that in the queue is no queue (RFC 8289, section 4.4).
const LARGEST_PACKET_BYTES: u32 = 1_500;

impl Aqm for CoDel {
    /// RFC 8289, section 5.5, with a mark for a drop: at most one for each packet, as in Linux's `codel_dequeue`.
    fn marks_leaving(
        &mut self,
        buffer: &Buffer,
        queue: usize,
        sojourn_ns: u64,
        now_ns: u64,
    ) -> bool {
        let is_short = buffer.lengths()[queue] <= LARGEST_PACKET_BYTES;
        let queue = &mut self.queues[queue];
        let stands = queue.stands(is_short, sojourn_ns, now_ns);
        match (stands, queue.is_marking) {
            (false, _) => {
                queue.is_marking = false;
                false
            }
            (true, true) => queue.marks_if(now_ns >= queue.next_ns),
            (true, false) => {
                // Soon after the last time it goes on at nearly the rate that was enough then.
                let since_ns = now_ns.saturating_sub(queue.next_ns);
                let marks = queue.count - queue.first;
                let is_soon = marks > 1 && since_ns < 16 * queue.interval_ns;
                queue.count = if is_soon { marks } else { 1 };
                queue.first = queue.count;
                queue.next_ns = now_ns + pause_ns(queue.interval_ns, queue.count);
                queue.is_marking = true;
                true
            }
        }
    }
}

/// Parameters of [`EcnSharp`]; unless given those of the PRED paper (section 6.3.1), for round trips of 80 us.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct EcnSharpParameters {
    /// Time in the queue from which on each packet is marked, nanoseconds.
    pub instant_ns: u64,
    /// The time in the queue that may persist, nanoseconds.
    pub target_ns: u64,
    /// How long it may be exceeded, nanoseconds.
    pub interval_ns: u64,
}

impl Default for EcnSharpParameters {
    fn default() -> Self {
        let CoDelParameters { target_ns, interval_ns } = CoDelParameters::default();
        EcnSharpParameters { instant_ns: 80_000, target_ns, interval_ns }
    }
}

impl EcnSharpParameters {
    /// ECN# for a switch.
    ///
    /// # Errors
    /// If the interval is 0.
    pub fn aqm(&self, spec: &SwitchSpec) -> Result<EcnSharp, BuildError> {
        check_interval(self.interval_ns)?;
        let &EcnSharpParameters { instant_ns, target_ns, interval_ns } = self;
        let queue = Queue::new(&CoDelParameters { target_ns, interval_ns });
        Ok(EcnSharp {
            instant: Tcn { threshold_ns: instant_ns },
            queues: vec![queue; spec.queues()],
        })
    }
}

/// ECN# (Zhang, Bai and Chen, "Enabling ECN for Datacenter Networks with RTT Variations", CoNEXT 2019): marks what was
/// in its queue for too long, as [`Tcn`], and, if a queue stands, one packet now and then, as [`CoDel`] (section 3,
/// algorithm 1).
#[derive(Clone, Debug)]
pub struct EcnSharp {
    instant: Tcn,
    queues: Vec<Queue>,
}

impl Aqm for EcnSharp {
    fn marks_leaving(
        &mut self,
        buffer: &Buffer,
        queue: usize,
        sojourn_ns: u64,
        now_ns: u64,
    ) -> bool {
        let is_instant = self.instant.marks_leaving(buffer, queue, sojourn_ns, now_ns);
        let queue = &mut self.queues[queue];
        let stands = queue.stands(false, sojourn_ns, now_ns);
        let persists = match (stands, queue.is_marking) {
            (false, _) => false,
            (true, true) => queue.marks_if(now_ns > queue.next_ns),
            (true, false) => {
                queue.count = 1;
                queue.next_ns = now_ns + queue.interval_ns;
                true
            }
        };
        queue.is_marking = stands;
        is_instant || persists
    }
}

/// A queue that may stand: the time in it was above a target for an interval.
#[derive(Clone, Copy, Debug)]
struct Queue {
    target_ns: u64,
    interval_ns: u64,
    /// The end of the interval, while the target is exceeded.
    until_ns: Option<u64>,
    /// Whether it stands, and marks now and then.
    is_marking: bool,
    /// Marks since it stands, or with CoDel a few more: what it began with.
    count: u64,
    first: u64,
    /// When the next mark is due.
    next_ns: u64,
}

impl Queue {
    fn new(&CoDelParameters { target_ns, interval_ns }: &CoDelParameters) -> Self {
        Queue {
            target_ns,
            interval_ns,
            until_ns: None,
            is_marking: false,
            count: 0,
            first: 0,
            next_ns: 0,
        }
    }

    /// Whether it stands, now that a packet has left.
    fn stands(&mut self, is_short: bool, sojourn_ns: u64, now_ns: u64) -> bool {
        if is_short || sojourn_ns < self.target_ns {
            self.until_ns = None;
            return false;
        }
        now_ns >= *self.until_ns.get_or_insert(now_ns.saturating_add(self.interval_ns))
    }

    /// Counts a mark if it is due, and sets the time of the next: the n-th follows an interval divided by the root of
    /// n later.
    fn marks_if(&mut self, is_due: bool) -> bool {
        if is_due {
            self.count += 1;
            self.next_ns += pause_ns(self.interval_ns, self.count);
        }
        is_due
    }
}

/// `interval / sqrt(count)`, in integers.
fn pause_ns(interval_ns: u64, count: u64) -> u64 {
    // The root in 1/2^16; counts stay below 2^32.
    let root = (count.min(u64::from(u32::MAX)) << 32).isqrt();
    ((u128::from(interval_ns) << 16) / u128::from(root)) as u64
}

fn check_interval(interval_ns: u64) -> Result<(), BuildError> {
    match interval_ns {
        0 => Err(BuildError::parameter("interval_ns", "is 0, expected more")),
        1.. => Ok(()),
    }
}
