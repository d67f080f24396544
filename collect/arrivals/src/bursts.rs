//! Slotted bursts: the arrivals of the Credence paper's custom simulator (Figure 14).

use crate::leaf::WorkloadError;
use crate::rng::{StreamPurpose, stream};
use rand::Rng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, Exp};
use std::collections::VecDeque;

/// Keeps a slot within memory.
const MAX_BURSTS_PER_SLOT: f64 = 1000.0;

/// Unit packets in slots: bursts as large as the buffer, each to one uniformly chosen port, arrive
/// as a Poisson process (Credence, appendix D). The paper names neither ports, nor buffer, nor
/// rate; the defaults are ours.
#[derive(Clone, Debug, PartialEq)]
pub struct BurstTraffic {
    /// Output ports `N`.
    pub ports: u16,
    /// Packets of a burst: the buffer `B`.
    pub burst_packets: u32,
    /// Bursts per slot, on average.
    pub bursts_per_slot: f64,
    /// Maximum arrivals in one slot. The model of the paper's appendix A allows `N`; the paper does
    /// not say whether its simulator enforces that. Bursts beyond the limit wait in FIFO order, and
    /// their packets arrive in later slots. `None`: a whole burst arrives in its slot.
    pub arrivals_per_slot: Option<usize>,
    /// Slots of the sequence. Packets still waiting after the last are left out.
    pub slots: u64,
    /// Seed.
    pub seed: u64,
}

impl Default for BurstTraffic {
    fn default() -> Self {
        BurstTraffic {
            ports: 16,
            burst_packets: 160,
            bursts_per_slot: 0.004,
            arrivals_per_slot: Some(16),
            slots: 50_000,
            seed: 1,
        }
    }
}

impl BurstTraffic {
    /// The slots, computed lazily.
    ///
    /// # Errors
    /// A parameter is out of its range, or arrivals exceed the limit per slot.
    pub fn arrivals(&self) -> Result<Slots, WorkloadError> {
        let wrong = |field, problem: String| Err(WorkloadError::Field { field, problem });
        if self.ports == 0 {
            return wrong("ports", "is 0, expected at least 1".into());
        }
        if self.burst_packets == 0 {
            return wrong("burst_packets", "is 0, expected at least 1".into());
        }
        let rate = self.bursts_per_slot;
        if !(rate > 0.0 && rate <= MAX_BURSTS_PER_SLOT) {
            return wrong(
                "bursts_per_slot",
                format!("is {rate}, expected above 0 and at most {MAX_BURSTS_PER_SLOT}"),
            );
        }
        let packets_per_slot = self.bursts_per_slot * f64::from(self.burst_packets);
        if let Some(limit) = self.arrivals_per_slot.filter(|&most| most as f64 <= packets_per_slot)
        {
            let problem = format!("is {limit}, but {packets_per_slot} packets per slot are due");
            return wrong("arrivals_per_slot", problem);
        }
        let Ok(gap_slots) = Exp::new(self.bursts_per_slot) else {
            return wrong("bursts_per_slot", "is not a rate".into());
        };
        let mut rng = stream(self.seed, StreamPurpose::Bursts);
        let next_burst = gap_slots.sample(&mut rng);
        Ok(Slots {
            traffic: self.clone(),
            rng,
            gap_slots,
            next_burst,
            slot: 0,
            waiting: VecDeque::new(),
        })
    }
}

/// The slots of a [`BurstTraffic`]: for each, the output ports of its packets in order of arrival.
#[derive(Clone, Debug)]
pub struct Slots {
    traffic: BurstTraffic,
    rng: ChaCha8Rng,
    gap_slots: Exp<f64>,
    /// Time of the next burst, in slots.
    next_burst: f64,
    slot: u64,
    /// Bursts not yet fully arrived: port and packets left.
    waiting: VecDeque<(u16, u32)>,
}

impl Iterator for Slots {
    type Item = Vec<u16>;

    fn next(&mut self) -> Option<Vec<u16>> {
        if self.slot == self.traffic.slots {
            return None;
        }
        self.slot += 1;
        while self.next_burst < self.slot as f64 {
            let port = self.rng.random_range(0..self.traffic.ports);
            self.waiting.push_back((port, self.traffic.burst_packets));
            self.next_burst += self.gap_slots.sample(&mut self.rng);
        }
        let limit = self.traffic.arrivals_per_slot.unwrap_or(usize::MAX);
        let mut arrivals = Vec::new();
        while arrivals.len() < limit
            && let Some((port, left)) = self.waiting.front_mut()
        {
            let now = (*left as usize).min(limit - arrivals.len());
            arrivals.extend(std::iter::repeat_n(*port, now));
            *left -= now as u32;
            if *left == 0 {
                self.waiting.pop_front();
            }
        }
        Some(arrivals)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slots(traffic: &BurstTraffic) -> Vec<Vec<u16>> {
        traffic.arrivals().expect("valid").collect()
    }

    /// Many bursts, for significant counts.
    fn dense() -> BurstTraffic {
        BurstTraffic { bursts_per_slot: 0.02, slots: 100_000, ..BurstTraffic::default() }
    }

    #[test]
    fn a_seed_is_a_sequence() {
        let traffic = BurstTraffic { slots: 5000, ..dense() };
        assert_eq!(slots(&traffic), slots(&traffic));
        assert_ne!(slots(&traffic), slots(&BurstTraffic { seed: 2, ..traffic.clone() }));
        assert_eq!(slots(&traffic).len(), 5000);
    }

    #[test]
    fn the_limit_delays_packets_and_neither_adds_nor_reorders_any() {
        let capped = dense();
        let whole = BurstTraffic { arrivals_per_slot: None, ..capped.clone() };
        let (capped, whole) = (slots(&capped), slots(&whole));
        assert!(capped.iter().all(|slot| slot.len() <= 16));
        assert!(whole.iter().all(|slot| slot.len() % 160 == 0));
        let (mut late, mut due) = (0usize, 0usize);
        for (now, all) in capped.iter().zip(&whole) {
            (late, due) = (late + now.len(), due + all.len());
            assert!(late <= due);
            assert!(now.len() == 16 || late == due, "a slot is full while packets wait");
        }
        let order = |slots: &[Vec<u16>]| slots.concat();
        assert_eq!(order(&capped)[..], order(&whole)[..late]);
    }

    #[test]
    fn bursts_are_whole_and_come_at_their_rate_to_every_port() {
        let traffic = BurstTraffic { arrivals_per_slot: None, ..dense() };
        let mut per_port = [0u32; 16];
        for slot in slots(&traffic) {
            for burst in slot.chunks(160) {
                assert!(burst.len() == 160 && burst.iter().all(|port| *port == burst[0]));
                per_port[usize::from(burst[0])] += 1;
            }
        }
        // 2000 bursts expected, 125 a port: within four standard deviations.
        let bursts: u32 = per_port.iter().sum();
        assert!((f64::from(bursts) - 2000.0).abs() < 4.0 * 2000f64.sqrt(), "{bursts}");
        assert!(per_port.iter().all(|&n| (f64::from(n) - 125.0).abs() < 4.0 * 125f64.sqrt()));
    }

    #[test]
    fn mistakes_are_named() {
        let check = |change: fn(&mut BurstTraffic), says: &str| {
            let mut traffic = dense();
            change(&mut traffic);
            let error = traffic.arrivals().expect_err(says).to_string();
            assert!(error.contains(says), "{error:?} should say {says:?}");
        };
        check(|t| t.ports = 0, "ports: is 0");
        check(|t| t.burst_packets = 0, "burst_packets: is 0");
        check(|t| t.bursts_per_slot = 0.0, "bursts_per_slot: is 0");
        check(|t| t.bursts_per_slot = f64::INFINITY, "bursts_per_slot: is inf");
        check(|t| t.bursts_per_slot = f64::NAN, "bursts_per_slot: is NaN");
        check(|t| t.arrivals_per_slot = Some(3), "arrivals_per_slot: is 3, but 3.2 packets");
    }
}
