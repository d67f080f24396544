//! ABM (SIGCOMM '22): how long a burst loses nothing, by theorems 4 and 5, compared with a fluid that is stepped through
//! time. What it fills, by equations 8, 10 and 11, is `reproduce abm-fig5`.

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
