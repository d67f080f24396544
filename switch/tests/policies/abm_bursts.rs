//! ABM (SIGCOMM '22): how long a burst loses nothing, by equations 8, 10 and 11 (figure 5) and theorems 4 and 5, compared
//! with a fluid that is stepped through time, and with the switch.

use crate::traffic::LINE_RATE_BPS;
use dropcast_data::SwitchSpec;
use dropcast_switch::policies::abm::AbmParameters;
use dropcast_switch::{Alphas, DynamicThresholds, Fit, LineRate, Packet, Policy, Switch};
use proptest::prelude::*;

/// A queue of the fluid: its factor on the free buffer, and its drain rate in buffers per unit of time.
#[derive(Clone, Copy, Debug)]
struct Queue {
    omega: f64,
    drain: f64,
}

/// A buffer of size 1 whose `old` queues are in their steady state, until `new` queues get `rate` each. Those of `old` whose
/// `omega` falls at that moment (the paper's `G_e`) have the new one here, and the one before in `before`.
#[derive(Clone, Debug)]
struct Burst {
    affected: Vec<(Queue, f64)>,
    old: Vec<Queue>,
    new: Vec<Queue>,
    rate: f64,
}

impl Burst {
    fn omegas_before(&self) -> f64 {
        let affected = self.affected.iter().map(|&(_, before)| before);
        affected.chain(self.old.iter().map(|queue| queue.omega)).sum()
    }

    /// What arrives at new queues beyond what affected queues give back.
    fn net(&self) -> f64 {
        let grows: f64 = self.new.iter().map(|queue| self.rate - queue.drain).sum();
        grows - self.affected.iter().map(|(queue, _)| queue.drain).sum::<f64>()
    }

    /// Theorem 4, equation 29: the time at which the first new queue meets its threshold if old queues follow theirs.
    fn theorem_4(&self) -> f64 {
        let unaffected = 1.0 + self.old.iter().map(|queue| queue.omega).sum::<f64>();
        let Queue { omega, drain } = self.new[0];
        let grows = (self.rate - drain) * unaffected + omega * self.net();
        omega * unaffected / ((1.0 + self.omegas_before()) * grows)
    }

    /// Theorem 5, equation 39: the same if old queues only drain.
    fn theorem_5(&self) -> f64 {
        let drains: f64 = self.old.iter().map(|queue| queue.drain).sum();
        let Queue { omega, drain } = self.new[0];
        omega / ((1.0 + self.omegas_before()) * (self.rate - drain + omega * (self.net() - drains)))
    }

    /// The rate that separates the theorems' cases (equations 28 and 38).
    fn separating_rate(&self) -> f64 {
        let sum = |queues: &[Queue], of: fn(&Queue) -> f64| queues.iter().map(of).sum::<f64>();
        let new = self.new.len() as f64;
        let given: f64 = self.affected.iter().map(|(queue, _)| queue.drain).sum();
        let omegas = sum(&self.old, |queue| queue.omega);
        (sum(&self.new, |queue| queue.drain) + given) / new
            + sum(&self.old, |queue| queue.drain) * (1.0 + omegas) / (omegas * new)
    }

    /// The fluid, step by step (equation 12 and appendix A.4): a queue above its threshold accepts nothing, one at it
    /// accepts what keeps it there. Returns when a new queue meets its threshold, and whether an affected one did before.
    fn stepped(&self) -> (f64, bool) {
        let free = 1.0 / (1.0 + self.omegas_before());
        let mut affected: Vec<f64> =
            self.affected.iter().map(|&(_, before)| before * free).collect();
        let mut old: Vec<f64> = self.old.iter().map(|queue| queue.omega * free).collect();
        let mut new = vec![0.0; self.new.len()];
        let (step, mut time, mut has_met) = (free / self.rate / 40_000.0, 0.0, false);
        loop {
            let held: f64 = affected.iter().chain(&old).chain(&new).sum();
            let free = 1.0 - held;
            if self.new.iter().zip(&new).any(|(queue, &length)| length >= queue.omega * free) {
                return (time, has_met);
            }
            let follow = |length: &mut f64, queue: &Queue| {
                let threshold = queue.omega * free;
                let drained = *length - queue.drain * step;
                let is_met = drained <= threshold;
                *length = if is_met { threshold } else { drained };
                is_met
            };
            for (length, (queue, _)) in affected.iter_mut().zip(&self.affected) {
                has_met |= follow(length, queue);
            }
            for (length, queue) in old.iter_mut().zip(&self.old) {
                follow(length, queue);
            }
            for (length, queue) in new.iter_mut().zip(&self.new) {
                *length += (self.rate - queue.drain) * step;
            }
            time += step;
        }
    }
}

fn differs(found: f64, expected: f64) -> f64 {
    (found / expected - 1.0).abs()
}

/// Queues of one priority, each at a port of its own: `omega` is in proportion to the drain rate.
fn bursts() -> impl Strategy<Value = Burst> {
    let old = (1_usize..6, 0.1_f64..4.0, 0.2_f64..1.0);
    let new = (1_usize..3, 0.1_f64..4.0, 0.2_f64..1.0);
    (old, new, 1.05_f64..20.0).prop_map(|(old, new, rate)| {
        let queues = |(count, alpha, drain): (usize, f64, f64)| {
            vec![Queue { omega: alpha / count as f64 * drain, drain }; count]
        };
        let (old, new) = (queues(old), queues(new));
        Burst { rate: rate * new[0].drain, affected: Vec::new(), old, new }
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// Theorems 4 and 5 where old queues are of one priority and keep their omega: all follow their thresholds, or none.
    #[test]
    fn theorems_4_and_5_hold_where_old_queues_are_alike(burst in bursts()) {
        let (found, _) = burst.stepped();
        let is_slow = burst.rate <= burst.separating_rate();
        let expected = if is_slow { burst.theorem_4() } else { burst.theorem_5() };
        prop_assert!(differs(found, expected) < 2e-3, "{found}, {expected}, slow: {is_slow}");
    }
}

/// The cases of theorems 4 and 5 ask for sums over all old queues, their proofs for each queue. Priorities with other alphas
/// leave their thresholds at other rates of arrival. Here the one with omega 4 only drains while the one with 0.25 follows, and
/// the time that both theorems promise is two thirds too long.
#[test]
fn theorems_4_and_5_fail_where_old_queues_are_of_two_priorities() {
    let old = vec![Queue { omega: 4.0, drain: 1.0 }, Queue { omega: 0.25, drain: 1.0 }];
    let new = vec![Queue { omega: 4.0, drain: 1.0 }];
    let mut burst = Burst { affected: Vec::new(), old, new, rate: 0.0 };
    let separating = burst.separating_rate();
    burst.rate = 0.999 * separating;
    let slow = burst.theorem_4() / burst.stepped().0 - 1.0;
    burst.rate = 1.001 * separating;
    let fast = burst.theorem_5() / burst.stepped().0 - 1.0;
    assert!(slow > 0.6 && fast > 0.6, "{slow}, {fast}");
}

/// Theorem 4 counts on affected queues to drain until the burst has met its threshold. One that comes down to its own
/// threshold before accepts packets again, and the theorem's time is a third too long.
#[test]
fn theorem_4_fails_where_an_affected_queue_meets_its_threshold_first() {
    let burst = |before: f64, rate| Burst {
        affected: vec![(Queue { omega: 0.5, drain: 1.0 }, before)],
        old: vec![Queue { omega: 0.5, drain: 1.0 }],
        new: vec![Queue { omega: 2.0, drain: 1.0 }],
        rate,
    };
    let far = burst(4.0, 4.0);
    let (found, has_met) = far.stepped();
    assert!(!has_met && far.rate <= far.separating_rate());
    assert!(differs(found, far.theorem_4()) < 2e-3, "{found}, {}", far.theorem_4());
    let near = burst(0.6, 2.5);
    let (found, has_met) = near.stepped();
    assert!(has_met && near.rate <= near.separating_rate());
    assert!(near.theorem_4() > 1.3 * found, "{found}, {}", near.theorem_4());
}

/// Ports of the switch, and packets of 100 bytes that its buffer holds.
const PORTS: usize = 17;
const PACKETS: f64 = 16_000.0;

/// `queues` at each of `ports` ports are overloaded; a burst for the last queue of another port comes `rate` times as fast as
/// a port sends.
#[derive(Clone, Copy, Debug)]
struct Overloaded {
    ports: usize,
    queues: usize,
    rate: u64,
}

impl Overloaded {
    /// The share of the buffer that the burst fills before it loses a packet.
    fn filled<P: Policy>(&self, policy: impl Fn(&SwitchSpec) -> P) -> f64 {
        // A packet lasts 100 ns.
        const STEP_NS: u64 = 25;
        const BEGINS_NS: u64 = 1_500_000;
        let each_port = self.queues + 1;
        let mut spec =
            SwitchSpec::uniform(PORTS as u16, LINE_RATE_BPS, (PACKETS * 100.0) as u32, 20_000);
        spec.queues_per_port = each_port as u8;
        spec.pushable = vec![true; each_port];
        spec.shared = spec.pushable.clone();
        let mut switch = Switch::new(&spec, Fit::Exact, policy(&spec), LineRate::new(&spec));
        let own = PORTS * each_port - 1;
        let mut sent = 0;
        for now in (0..2 * BEGINS_NS).step_by(STEP_NS as usize) {
            for queue in 0..self.ports * each_port {
                if queue % each_port != self.queues {
                    switch.arrive(&Packet::new(0, queue, 100), now);
                }
            }
            while now >= BEGINS_NS && sent * 100 <= (now - BEGINS_NS) * self.rate {
                let length = switch.buffer().lengths()[own];
                if !switch.arrive(&Packet::new(0, own, 100), now) {
                    return f64::from(length) / (PACKETS * 100.0);
                }
                sent += 1;
            }
        }
        panic!("the burst lost nothing: {self:?}");
    }

    fn grows(&self) -> f64 {
        self.rate as f64 - 1.0
    }

    /// Under Dynamic Thresholds: equation 8 if the others cannot follow their thresholds, else the steady state with the
    /// burst's queue (equation 6).
    fn dynamic_thresholds(&self, alpha: f64) -> f64 {
        let (congested, ports) = ((self.ports * self.queues) as f64, self.ports as f64);
        // The threshold falls by alpha (r - mu) - alpha times what all drain, at most by what one of them drains.
        let follows = self.grows() <= ports * (1.0 + alpha * congested) / (alpha * congested);
        if follows {
            return alpha / (1.0 + (congested + 1.0) * alpha);
        }
        let falls = alpha * (self.grows() - ports) / self.grows();
        alpha / ((1.0 + congested * alpha) * (1.0 + falls))
    }

    /// Under ABM, the burst with a priority of its own and `omegas` the sum of the others': equation 11 if the others cannot
    /// follow their thresholds, else equation 10.
    fn abm(&self, alpha: f64, omegas: f64) -> f64 {
        let ports = self.ports as f64;
        if self.grows() <= ports * (1.0 + omegas) / omegas {
            return alpha / (1.0 + omegas + alpha);
        }
        alpha / ((1.0 + omegas) * (1.0 + alpha * (self.grows() - ports) / self.grows()))
    }
}

fn abm(spec: &SwitchSpec) -> impl Policy + use<> {
    let alpha = Alphas::try_from(0.5).expect("positive");
    let parameters = AbmParameters { alpha, update_ns: Some(0), ..AbmParameters::default() };
    parameters.policy(spec).expect("valid parameters")
}

/// Equations 8, 10 and 11 in the switch, and what figure 5 draws of them: congested ports and queues take from a burst
/// under Dynamic Thresholds, not under ABM. The others' priorities have alpha / queues each where `queues` of them share
/// ports (lemma 1 as an equation would have alpha each: equations 10 and 11 as printed are then too low).
#[test]
fn bursts_fill_what_equations_8_10_and_11_say() {
    let of_ports = [1, 4, 16].map(|ports| (ports, 1));
    let of_queues = [2, 4].map(|queues| (4, queues));
    let mut found = Vec::new();
    for (ports, queues) in of_ports.into_iter().chain(of_queues) {
        for rate in [4, 16] {
            let burst = Overloaded { ports, queues, rate };
            let dt = burst.filled(|_| DynamicThresholds::new(0.5));
            let with_abm = burst.filled(abm);
            let expected = [burst.dynamic_thresholds(0.5), burst.abm(0.5, 0.5)];
            assert!((dt - expected[0]).abs() < 0.001, "{burst:?}: DT {dt}, {expected:?}");
            assert!((with_abm - expected[1]).abs() < 0.001, "{burst:?}: {with_abm}, {expected:?}");
            found.push((burst, dt, with_abm));
        }
    }
    let at = |ports, queues| {
        let is_it = |(burst, _, _): &&(Overloaded, f64, f64)| {
            (burst.ports, burst.queues, burst.rate) == (ports, queues, 16)
        };
        found.iter().find(is_it).map(|&(_, dt, abm)| (dt, abm)).expect("measured")
    };
    let (one, many) = (at(1, 1), at(16, 1));
    assert!(many.0 < one.0 / 3.0 && many.1 >= one.1, "ports: {one:?} {many:?}");
    let (one, many) = (at(4, 1), at(4, 4));
    assert!(many.0 < one.0 / 2.0 && (many.1 - one.1).abs() < 0.001, "queues: {one:?} {many:?}");
}
