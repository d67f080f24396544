//! Bursts of a leaf's queues, as Algorithm 1 of Smartbuf has them, under any policy.

use crate::reproduce::fabric::observed::Numbers;
use dropcast_features::BufferView;
use dropcast_switch::policies::edt::Edt;
use dropcast_switch::policies::smartbuf::Smartbuf;
use dropcast_switch::{Buffer, BuildError, Decision, Packet, Policy, PolicySite, PolicySpec};
use std::sync::{Arc, Mutex};

/// A burst is over when its queue falls below this share of its peak, Algorithm 1's beta.
const BETA: f64 = 0.5;
/// A queue that has held more than 1/sigma of the buffer is in a burst.
const SIGMA: f64 = 5.0;
/// After which known bursts are forgotten in one reading, nanoseconds.
const FORGOTTEN_NS: u64 = 10_000_000;

/// The memory of a leaf.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Memory {
    /// The buffer, under the policy.
    Shared,
    /// As good as endless: everything is accepted, and the policy only learns (section IV-E).
    Endless,
}

impl Memory {
    /// How many times as large as the buffer.
    pub(super) fn times(self) -> u32 {
        match self {
            Memory::Shared => 1,
            Memory::Endless => 16,
        }
    }
}

/// A burst that is over.
#[derive(Clone, Copy, Debug)]
struct Burst {
    switch_id: u16,
    queue: usize,
    began_ns: u64,
    ended_ns: u64,
    /// What the queue might hold when the burst was detected.
    threshold_bytes: f64,
    /// The limit that Smartbuf learned for it.
    limit_bytes: Option<u32>,
    peak_bytes: u32,
    /// Bursts that Smartbuf knows then.
    known: usize,
}

/// The bursts of a run.
#[derive(Clone, Default)]
pub(super) struct Bursts(Arc<Mutex<Vec<Burst>>>);

impl Bursts {
    /// The policy of a switch: of leaves this one, watched, of spines Dynamic Thresholds.
    pub(super) fn watch(
        &self,
        policy: &PolicySpec,
        memory: Memory,
        switch_id: u16,
        site: PolicySite<'_>,
    ) -> Result<Box<dyn Policy + Send>, BuildError> {
        if site.spec.role.as_deref() == Some("spine") {
            return PolicySpec::dt(1.0.try_into().expect("positive")).build(site);
        }
        let queues = vec![Queue::default(); site.spec.queues()];
        let watched = match policy {
            PolicySpec::Smartbuf(own) => {
                let mut own = own.clone();
                own.sigma *= f64::from(memory.times());
                let alpha = own.alpha.at(1);
                Inner::Smartbuf { policy: own.policy(site.spec)?, alpha }
            }
            PolicySpec::Edt(own) => {
                Inner::Edt { alpha: own.alpha.at(1), policy: own.policy(site.spec)? }
            }
            PolicySpec::DynamicThresholds(own) => {
                Inner::Other { alpha: own.alpha.at(1), policy: policy.build(site)? }
            }
            _ => Inner::Other { alpha: f64::INFINITY, policy: policy.build(site)? },
        };
        let bursts = self.clone();
        Ok(Box::new(Watched { policy: watched, memory, switch_id, queues, bursts }))
    }

    /// Of a run whose buffers have so many bytes.
    pub(super) fn numbers(&self, buffer_bytes: u32, leaves: u16) -> Numbers {
        let bursts = self.0.lock().expect("no run has failed").clone();
        let buffer = f64::from(buffer_bytes);
        let most = |values: &mut dyn Iterator<Item = f64>| values.reduce(f64::max);
        let mean = |values: Vec<f64>| {
            let count = values.len() as f64;
            (count > 0.0).then(|| values.iter().sum::<f64>() / count)
        };
        let thresholds = || bursts.iter().map(|burst| burst.threshold_bytes / buffer);
        let mut learned = bursts.iter().filter_map(|b| Some(f64::from(b.limit_bytes?) / buffer));
        let errors = || {
            bursts.iter().filter_map(|burst| {
                let limit_bytes = f64::from(burst.limit_bytes?);
                Some((limit_bytes / f64::from(burst.peak_bytes) - 1.0).abs())
            })
        };
        let overlapping = bursts.iter().map(|burst| f64::from(u8::from(burst.overlaps(&bursts))));
        [
            ("bursts_overlapping", mean(overlapping.collect())),
            ("bursts_of_a_leaf", Some(bursts.len() as f64 / f64::from(leaves))),
            ("burst_limit_most", most(&mut thresholds())),
            ("learned_limit_most", most(&mut learned)),
            ("burst_limit_mean", mean(thresholds().collect())),
            ("burst_peak_most", most(&mut bursts.iter().map(|b| f64::from(b.peak_bytes) / buffer))),
            ("known_bursts_most", most(&mut bursts.iter().map(|burst| burst.known as f64))),
            ("known_bursts_10_ms_most", most(&mut bursts.iter().map(|b| b.recent(&bursts)))),
            ("limit_error_most", most(&mut errors())),
            ("limit_error_mean", mean(errors().collect())),
        ]
        .into_iter()
        .filter_map(|(name, value)| Some((name.to_owned(), value?)))
        .collect()
    }
}

impl Burst {
    /// Whether another queue of the switch has a burst meanwhile.
    fn overlaps(&self, all: &[Burst]) -> bool {
        all.iter().any(|other| {
            other.switch_id == self.switch_id
                && other.queue != self.queue
                && other.began_ns <= self.ended_ns
                && self.began_ns <= other.ended_ns
        })
    }

    /// The switch's bursts that ended in the [`FORGOTTEN_NS`] before this one's end, and it.
    fn recent(&self, all: &[Burst]) -> f64 {
        let is_known = |other: &&Burst| {
            let age_ns = self.ended_ns.checked_sub(other.ended_ns);
            other.switch_id == self.switch_id && age_ns.is_some_and(|ns| ns < FORGOTTEN_NS)
        };
        all.iter().filter(is_known).count() as f64
    }
}

/// The policies whose limits are known.
enum Inner {
    Smartbuf { policy: Smartbuf, alpha: f64 },
    Edt { policy: Edt, alpha: f64 },
    Other { policy: Box<dyn Policy + Send>, alpha: f64 },
}

impl Inner {
    fn policy(&mut self) -> &mut dyn Policy {
        match self {
            Inner::Smartbuf { policy, .. } => policy,
            Inner::Edt { policy, .. } => policy,
            Inner::Other { policy, .. } => policy.as_mut(),
        }
    }

    fn limit_bytes(&self, queue: usize) -> Option<u32> {
        match self {
            Inner::Smartbuf { policy, .. } => policy.limit_bytes(queue),
            Inner::Edt { .. } | Inner::Other { .. } => None,
        }
    }

    /// What the queue may hold, at most the buffer.
    fn threshold_bytes(&self, buffer: &Buffer, queue: usize) -> f64 {
        let capacity = f64::from(buffer.capacity_bytes());
        let dynamic =
            |alpha: f64| (alpha * (capacity - f64::from(buffer.occupancy_bytes()))).min(capacity);
        match self {
            Inner::Smartbuf { policy, alpha } => policy.threshold_bytes(queue, dynamic(*alpha)),
            Inner::Edt { policy, .. } if policy.is_uncontrolled(queue) => {
                let uncontrolled =
                    (0..buffer.queues()).filter(|&each| policy.is_uncontrolled(each));
                capacity / uncontrolled.count() as f64
            }
            Inner::Edt { alpha, .. } => dynamic(*alpha),
            Inner::Other { alpha, .. } if alpha.is_infinite() => capacity,
            Inner::Other { alpha, .. } => dynamic(*alpha),
        }
    }

    fn known(&self) -> usize {
        match self {
            Inner::Smartbuf { policy, .. } => policy.known_bursts().count(),
            Inner::Edt { .. } | Inner::Other { .. } => 0,
        }
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct Queue {
    peak_bytes: u32,
    /// When its burst was detected, its threshold and its limit then.
    burst: Option<(u64, f64, Option<u32>)>,
}

struct Watched {
    policy: Inner,
    memory: Memory,
    switch_id: u16,
    queues: Vec<Queue>,
    bursts: Bursts,
}

impl Policy for Watched {
    fn advance(&mut self, now: u64) {
        self.policy.policy().advance(now);
    }

    fn arrives(&mut self, packet: &Packet, now: u64) {
        self.policy.policy().arrives(packet, now);
    }

    fn decide(&mut self, buffer: &Buffer, packet: &Packet, now: u64) -> Decision {
        match self.memory {
            Memory::Shared => self.policy.policy().decide(buffer, packet, now),
            Memory::Endless => Decision::Accept,
        }
    }

    fn settled(&mut self, buffer: &Buffer, packet: &Packet, accepted: bool, now: u64) {
        self.policy.policy().settled(buffer, packet, accepted, now);
    }

    fn departed(&mut self, buffer: &Buffer, queue: usize, size_bytes: u32, time: u64) {
        self.policy.policy().departed(buffer, queue, size_bytes, time);
        let length_bytes = buffer.lengths()[queue];
        let part_bytes =
            f64::from(buffer.capacity_bytes()) / f64::from(self.memory.times()) / SIGMA;
        let state = &mut self.queues[queue];
        state.peak_bytes = state.peak_bytes.max(length_bytes);
        if f64::from(length_bytes) < BETA * f64::from(state.peak_bytes) {
            let Queue { peak_bytes, burst } = std::mem::take(state);
            if let Some((began_ns, threshold_bytes, limit_bytes)) = burst {
                self.bursts.0.lock().expect("no run has failed").push(Burst {
                    switch_id: self.switch_id,
                    queue,
                    began_ns,
                    ended_ns: time,
                    threshold_bytes,
                    limit_bytes,
                    peak_bytes,
                    known: self.policy.known(),
                });
            }
        } else if state.burst.is_none() && f64::from(state.peak_bytes) > part_bytes {
            let threshold_bytes = self.policy.threshold_bytes(buffer, queue);
            state.burst = Some((time, threshold_bytes, self.policy.limit_bytes(queue)));
        }
    }
}
