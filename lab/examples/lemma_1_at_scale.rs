//! How often, and how far, Lemma 1 and Theorem 2 of the Credence paper fail on bursty traffic, and
//! what Credence that pays back transmits (`lab/notes/theory.md`): 16 ports, a buffer of 160, bursts of 160 packets to one port as a Poisson
//! process of 0.02 per slot (or the rate given as argument), at most 16 packets in a slot.
//!
//! `cargo run --release -p dropcast-lab --example lemma_1_at_scale -- [BURSTS_PER_SLOT]`

#![allow(clippy::print_stdout, reason = "a program that prints")]

use dropcast_data::random::SplitMix64;
use dropcast_data::{Outcome, SwitchSpec};
use dropcast_switch::{
    Buffer, CredencePolicy, Decision, Fit, FollowLqd, FollowMax, Lqd, NoObserver, Observer, Packet,
    PaybackCredence, Policy, Recorded, Removal, Slotted, Switch, Victim,
};
use std::collections::VecDeque;

const PORTS: usize = 16;
const BUFFER: u32 = 160;
const SLOTS: u64 = 20_000;
const RUNS: u64 = 20;

fn main() {
    let rate = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(0.02);
    println!(
        "flips  runs  lemma 1 fails  eta     LQD/Credence  LQD/pays back (fails)  LQD/switching (fails)  \
         LQD/FollowMax  worst FollowLQD/Credence  theorem 2 fails"
    );
    for flips in [0.0, 0.001, 0.01, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 1.0] {
        let runs: Vec<Run> = (0..RUNS).map(|seed| Run::new(seed, rate, flips)).collect();
        let mean = |of: fn(&Run) -> f64| runs.iter().map(of).sum::<f64>() / RUNS as f64;
        let worst = runs.iter().map(|run| run.follow / run.credence).fold(0.0, f64::max);
        println!(
            "{flips:5}  {RUNS:4}  {:13}  {:.4}  {:12.4}  {:15.4} {:>5}  {:15.4} {:>5}  {:13.4}  {worst:24.4}  {:15}",
            runs.iter().filter(|run| run.credence < run.follow).count(),
            mean(|run| run.lqd / run.follow),
            mean(|run| run.lqd / run.credence),
            mean(|run| run.lqd / run.pays_back),
            runs.iter().filter(|run| run.pays_back < run.follow).count(),
            mean(|run| run.lqd / run.switching),
            runs.iter().filter(|run| run.switching < run.follow).count(),
            mean(|run| run.lqd / run.max),
            runs.iter().filter(|run| run.follow < run.bounded_by).count(),
        );
    }
}

/// Packets transmitted.
struct Run {
    lqd: f64,
    follow: f64,
    credence: f64,
    pays_back: f64,
    switching: f64,
    /// FollowMax, a quarter of the buffer for Harmonic.
    max: f64,
    /// Theorem 2's lower bound of `follow`.
    bounded_by: f64,
}

impl Run {
    fn new(seed: u64, rate: f64, flips: f64) -> Self {
        let mut random = SplitMix64::new(seed);
        let slots = bursts(&mut random, rate);
        let spec = SwitchSpec::uniform(PORTS as u16, 1, BUFFER, 1);
        let (tail, exact, service) = (Victim::Tail, Fit::Exact, Slotted::default);
        let lqd = transmitted(&spec, &slots, |_| true, Lqd::new(tail));
        let predicted: Vec<bool> =
            lqd.iter().map(|&sent| sent == (random.next_f64() < flips)).collect();
        let kept = |id: usize| !predicted[id];
        let follow = FollowLqd::new(&spec, tail, exact, service());
        let predictor = || Recorded(|id: u64| predicted[id as usize]);
        let credence = CredencePolicy::new(&spec, tail, exact, service(), predictor());
        let pays_back = PaybackCredence::new(&spec, tail, exact, service(), predictor());
        let switching = Switching::new(&spec, &predicted);
        let max = FollowMax::new(&spec, tail, exact, service(), predictor(), BUFFER / 4);
        let how_many =
            |sent| lqd.iter().zip(&predicted).filter(|&(&s, &p)| s == sent && !p).count() as f64;
        let (tn, false_negatives) = (how_many(true), how_many(false));
        Run {
            follow: count(&transmitted(&spec, &slots, kept, follow)),
            credence: count(&transmitted(&spec, &slots, |_| true, credence)),
            pays_back: count(&transmitted(&spec, &slots, |_| true, pays_back)),
            switching: count(&transmitted(&spec, &slots, |_| true, switching)),
            max: count(&transmitted(&spec, &slots, |_| true, max)),
            bounded_by: tn - (PORTS as f64 - 1.0) * false_negatives,
            lqd: count(&lqd),
        }
    }
}

/// Credence while it has transmitted no less than FollowLQD without the positives, and Credence that
/// pays back while it has transmitted less. Both have the safeguard of the latter, so it is
/// N-competitive, and it never falls behind by more than about `N * B` packets.
struct Switching<C, P> {
    credence: C,
    pays_back: P,
    reference: Switch<FollowLqd<Slotted>, Slotted>,
    predicted: Vec<bool>,
    /// Packets that the reference accepted, and this policy.
    accepted: [u64; 2],
}

impl Switching<(), ()> {
    fn new(spec: &SwitchSpec, predicted: &[bool]) -> Switching<impl Policy, impl Policy> {
        let (tail, exact, service) = (Victim::Tail, Fit::Exact, Slotted::default);
        let predictor = || {
            let predicted = predicted.to_vec();
            Recorded(move |id: u64| predicted[id as usize])
        };
        let follow = FollowLqd::new(spec, tail, exact, service());
        Switching {
            credence: CredencePolicy::new(spec, tail, exact, service(), predictor()),
            pays_back: PaybackCredence::new(spec, tail, exact, service(), predictor()),
            reference: Switch::new(spec, exact, follow, service()),
            predicted: predicted.to_vec(),
            accepted: [0, 0],
        }
    }
}

impl<C: Policy, P: Policy> Policy for Switching<C, P> {
    fn advance(&mut self, now: u64) {
        self.credence.advance(now);
        self.pays_back.advance(now);
        self.reference.advance(now, &mut NoObserver);
    }

    fn arrives(&mut self, packet: &Packet, now: u64) {
        self.credence.arrives(packet, now);
        self.pays_back.arrives(packet, now);
        let is_shown = !self.predicted[packet.id as usize];
        let accepted = is_shown && self.reference.admit(packet, now, &mut NoObserver);
        self.accepted[0] += u64::from(accepted);
    }

    fn decide(&mut self, buffer: &Buffer, packet: &Packet, now: u64) -> Decision {
        let held = [self.reference.buffer(), buffer].map(|of| of.packets().count() as u64);
        let [reference, own] = [0, 1].map(|of| self.accepted[of] - held[of]);
        let decision = if own >= reference {
            self.credence.decide(buffer, packet, now)
        } else {
            self.pays_back.decide(buffer, packet, now)
        };
        self.accepted[1] += u64::from(decision == Decision::Accept);
        decision
    }
}

fn bursts(random: &mut SplitMix64, rate: f64) -> Vec<Vec<usize>> {
    let mut waiting = VecDeque::new();
    let mut next_burst = 0.0;
    let slot = |slot: u64| {
        while next_burst < slot as f64 {
            let port = (random.next_f64() * PORTS as f64) as usize;
            waiting.extend(std::iter::repeat_n(port, BUFFER as usize));
            next_burst -= (1.0 - random.next_f64()).ln() / rate;
        }
        waiting.drain(..PORTS.min(waiting.len())).collect()
    };
    (0..SLOTS).map(slot).collect()
}

struct Sent(Vec<bool>);

impl Observer for Sent {
    fn removed(&mut self, removal: &Removal, _: &Buffer) {
        if removal.outcome == Outcome::PushedOut {
            self.0[removal.packet.id as usize] = false;
        }
    }
}

/// For each packet, whether it is transmitted; those not `kept` are not shown to the policy.
fn transmitted(
    spec: &SwitchSpec,
    slots: &[Vec<usize>],
    kept: impl Fn(usize) -> bool,
    policy: impl Policy,
) -> Vec<bool> {
    let mut switch = Switch::new(spec, Fit::Exact, policy, Slotted::default());
    let mut sent = Sent(Vec::new());
    for (slot, ports) in (0..).zip(slots) {
        switch.advance(slot, &mut sent);
        for &queue in ports {
            let id = sent.0.len();
            sent.0.push(kept(id));
            if kept(id) {
                let packet = Packet::new(id as u64, queue, 1);
                sent.0[id] = switch.admit(&packet, slot, &mut sent);
            }
        }
    }
    sent.0
}

fn count(transmitted: &[bool]) -> f64 {
    transmitted.iter().filter(|&&is| is).count() as f64
}
