//! Credence, and Credence that pays back its safeguard, on the arrivals of a trace, with LQD's
//! drops flipped at random and with the predictions of forests (`lab/notes/theory.md`).
//!
//! `cargo run --release -p dropcast-lab --example pay_back_on_events -- EVENTS SWITCH.toml [MODEL.json ...]`
//!
//! Prints untransmitted packets, means over seeds. Switch 0 only; line rate.

#![allow(clippy::print_stdout, reason = "a program that prints")]

use dropcast_data::random::SplitMix64;
use dropcast_data::{EventOptions, EventReader, Outcome, SwitchSpec, Victim, read_switches};
use dropcast_switch::{
    Buffer, CompleteSharing, CredencePolicy, Fit, FollowLqd, LineRate, Lqd, Observer, Packet,
    PaybackCredence, Policy, Recorded, Removal, Switch, VirtualLqd,
};
use dropcast_train::TrainedModel;
use std::error::Error;
use std::path::Path;

const SEEDS: u64 = 3;
const FLIPS: [f64; 10] = [0.0, 0.0001, 0.001, 0.01, 0.05, 0.1, 0.2, 0.3, 0.5, 1.0];

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [events, switch, models @ ..] = &arguments[..] else {
        return Err("expected EVENTS SWITCH.toml [MODEL.json ...]".into());
    };
    let trace = Trace::read(Path::new(events), Path::new(switch))?;
    let lqd = trace.transmitted(|_| true, Lqd::new(Victim::Tail));
    let none = vec![false; lqd.len()];
    let lost = |transmitted: Vec<bool>| transmitted.iter().filter(|&&is| !is).count();
    println!("{} arrivals, N = {}", trace.arrivals.len(), trace.spec.ports());
    println!("Complete Sharing {}", lost(trace.transmitted(|_| true, CompleteSharing)));
    println!("FollowLQD {}", lost(trace.followed(&none)));
    println!("LQD {}", lost(lqd.clone()));
    println!("predictions | FollowLQD, reduced | Credence | pays back");
    for flips in FLIPS {
        let seeds = if flips == 0.0 || flips == 1.0 { 1 } else { SEEDS };
        let runs: Vec<[usize; 3]> = (0..seeds)
            .map(|seed| {
                let mut random = SplitMix64::new(seed);
                trace.lost(
                    &lqd.iter().map(|&is| is == (random.next_f64() < flips)).collect::<Vec<_>>(),
                )
            })
            .collect();
        let mean = |of: usize| runs.iter().map(|run| run[of]).sum::<usize>() / runs.len();
        println!("flips {flips} | {} | {} | {}", mean(0), mean(1), mean(2));
    }
    for path in models {
        let text = std::fs::read_to_string(path).map_err(|error| format!("{path}: {error}"))?;
        let predicted = trace.predicted(&TrainedModel::from_json(&text)?);
        let positives = predicted.iter().filter(|&&is| is).count();
        let hits = predicted.iter().zip(&lqd).filter(|&(&drop, &sent)| drop && !sent).count();
        let [followed, credence, pays_back] = trace.lost(&predicted);
        println!(
            "{path} ({positives} positives, {hits} true) | {followed} | {credence} | {pays_back}"
        );
    }
    Ok(())
}

/// The arrivals at one switch.
struct Trace {
    spec: SwitchSpec,
    /// Time in nanoseconds, and the packet.
    arrivals: Vec<(u64, Packet)>,
}

impl Trace {
    fn read(events: &Path, switch: &Path) -> Result<Self, Box<dyn Error>> {
        let specs = read_switches(switch)?;
        let spec = specs.get(0).ok_or("no switch 0 is described")?.clone();
        let options = EventOptions { specs: Some(specs), ..EventOptions::default() };
        let mut arrivals = Vec::new();
        for batch in EventReader::open(events, options)? {
            for event in batch?.events {
                if event.switch_id == 0 && event.kind.is_arrival() {
                    let queue = spec.queue_index(event.port, event.queue);
                    let id = arrivals.len() as u64;
                    let packet = Packet::new(id, queue, event.size_bytes);
                    arrivals.push((event.time_ns, packet));
                }
            }
        }
        Ok(Trace { spec, arrivals })
    }

    /// What FollowLQD without the positives, Credence, and Credence that pays back do not transmit.
    fn lost(&self, predicted: &[bool]) -> [usize; 3] {
        let predictor = || Recorded(|id: u64| predicted[id as usize]);
        let (spec, victim, fit) = (&self.spec, Victim::Tail, Fit::Exact);
        let service = || LineRate::new(spec);
        let credence = CredencePolicy::new(spec, victim, fit, service(), predictor());
        let pays_back = PaybackCredence::new(spec, victim, fit, service(), predictor());
        [
            self.followed(predicted),
            self.transmitted(|_| true, credence),
            self.transmitted(|_| true, pays_back),
        ]
        .map(|transmitted| transmitted.iter().filter(|&&is| !is).count())
    }

    fn followed(&self, predicted: &[bool]) -> Vec<bool> {
        let service = LineRate::new(&self.spec);
        let follow = FollowLqd::new(&self.spec, Victim::Tail, Fit::Exact, service);
        self.transmitted(|id| !predicted[id], follow)
    }

    /// Whether a forest predicts a drop, for each packet, with the features of a virtual LQD.
    fn predicted(&self, model: &TrainedModel) -> Vec<bool> {
        let features = model.features.clone();
        let mut values = vec![0; features.len()];
        let service = LineRate::new(&self.spec);
        let mut lqd = VirtualLqd::new(&self.spec, Victim::Tail, Fit::Exact, service, features);
        let predict = |&(now, ref packet): &(u64, Packet)| {
            lqd.advance(now, |_, _| {});
            lqd.observe(packet, now, &mut values);
            lqd.admit(packet, now, |_, _| {});
            model.forest.predicts_drop(&values)
        };
        self.arrivals.iter().map(predict).collect()
    }

    /// For each packet, whether it is transmitted; those not `kept` are not shown to the policy.
    fn transmitted(&self, kept: impl Fn(usize) -> bool, policy: impl Policy) -> Vec<bool> {
        let mut switch = Switch::new(&self.spec, Fit::Exact, policy, LineRate::new(&self.spec));
        let mut sent = Sent(Vec::with_capacity(self.arrivals.len()));
        for (id, (now, packet)) in self.arrivals.iter().enumerate() {
            sent.0.push(kept(id));
            if kept(id) {
                switch.advance(*now, &mut sent);
                sent.0[id] = switch.admit(packet, *now, &mut sent);
            }
        }
        sent.0
    }
}

struct Sent(Vec<bool>);

impl Observer for Sent {
    fn removed(&mut self, removal: &Removal, _: &Buffer) {
        if removal.outcome == Outcome::PushedOut {
            self.0[removal.packet.id as usize] = false;
        }
    }
}
