//! The optimum on the arrivals of a trace: a bound, and a schedule that can be had.

use crate::arrival::Arrival;
use crate::rival_switch::{RivalSent, RivalTally, Site, packet};
use dropcast_data::Threads;
use dropcast_data::{SwitchSpec, SwitchSpecs};
use dropcast_switch::{FluidOptimum, OfflineOptimum};
use std::collections::BTreeMap;

/// What an algorithm that knows all arrivals could transmit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OptimumSent {
    /// No algorithm transmits more bytes of the arrivals that count ([`FluidOptimum`]), even if the others did not come.
    pub most_bytes: u64,
    /// What the schedule of [`OfflineOptimum`] transmits.
    pub schedule: RivalSent,
}

/// All arrivals of a trace, by switch.
#[derive(Default)]
pub struct OptimumReplay {
    switches: BTreeMap<u16, Vec<Known>>,
    arrivals: usize,
}

/// An arrival in 16 bytes.
#[derive(Clone, Copy)]
struct Known {
    time_ns: u64,
    size_bytes: u32,
    /// Its queue, and the highest bit if it counts.
    queue: u32,
}

const COUNTS: u32 = 1 << 31;

impl Known {
    fn queue(self) -> usize {
        (self.queue & !COUNTS) as usize
    }

    fn counts(self) -> bool {
        self.queue & COUNTS != 0
    }
}

impl OptimumReplay {
    /// The optimum of longer traces is not computed. An arrival takes up to 50 bytes.
    pub const MOST_ARRIVALS: usize = 8_000_000;

    /// The next arrivals; false if they are too many.
    pub(crate) fn add(&mut self, arrivals: &[Arrival], specs: &SwitchSpecs) -> bool {
        self.arrivals += arrivals.len();
        if self.arrivals > Self::MOST_ARRIVALS {
            return false;
        }
        for arrival in arrivals {
            let Some(spec) = specs.get(arrival.switch_id) else { continue };
            let queue = spec.queue_index(arrival.port, arrival.queue) as u32;
            self.switches.entry(arrival.switch_id).or_default().push(Known {
                time_ns: arrival.time_ns,
                size_bytes: arrival.size_bytes,
                queue: if arrival.counted { queue | COUNTS } else { queue },
            });
        }
        true
    }

    pub(crate) fn finish(self, site: &Site<'_>, threads: &Threads) -> OptimumSent {
        let mut sum = OptimumSent::default();
        for (switch_id, arrivals) in self.switches {
            let Some(spec) = site.specs.get(switch_id) else { continue };
            let halves = threads.map(vec![true, false], |bounds| {
                if bounds {
                    let most_bytes = most_bytes(spec, &arrivals);
                    OptimumSent { most_bytes, ..OptimumSent::default() }
                } else {
                    let schedule = schedule(switch_id, spec, site, &arrivals);
                    OptimumSent { schedule, ..OptimumSent::default() }
                }
            });
            for half in halves {
                sum.add(half);
            }
        }
        sum
    }
}

impl OptimumSent {
    /// Adds what is transmitted elsewhere.
    pub fn add(&mut self, more: OptimumSent) {
        self.most_bytes += more.most_bytes;
        self.schedule.add(more.schedule);
    }
}

/// Without the arrivals that do not count there is only more room for the others.
fn most_bytes(spec: &SwitchSpec, arrivals: &[Known]) -> u64 {
    let counted = || arrivals.iter().filter(|known| known.counts());
    let known = counted().map(|known| (known.time_ns, known.queue(), known.size_bytes));
    let mut fluid = FluidOptimum::new(spec, known);
    for known in counted() {
        fluid.arrive(known.time_ns, known.queue(), known.size_bytes);
    }
    fluid.most_bytes()
}

fn schedule(switch_id: u16, spec: &SwitchSpec, site: &Site<'_>, arrivals: &[Known]) -> RivalSent {
    let known = arrivals.iter().map(|known| (known.time_ns, known.queue(), known.size_bytes));
    let mut switch = site.switch(switch_id, spec, OfflineOptimum::line_rate(spec, known));
    let mut sent = RivalTally::default();
    for known in arrivals {
        switch.advance(known.time_ns, &mut sent);
        let packet = packet(known.queue(), known.size_bytes, known.counts());
        switch.admit(&packet, known.time_ns, &mut sent);
    }
    sent.drain(&mut switch);
    sent.sent()
}
