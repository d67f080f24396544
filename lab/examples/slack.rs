//! What a slack of Credence's thresholds costs, and what it saves, on the arrivals of a trace, with an oracle
//! that always accepts and with those of models (`docs/decision.md`).
//!
//! `cargo run --release -p dropcast-lab --example slack -- EVENTS SWITCH.toml [MODEL.json ...]`
//!
//! Prints, for each slack, the packets that are dropped, and how many of them LQD transmits: of ports that are in
//! step with virtual LQD's, as in reports; and of ports that are a packet behind. Then, of a log with departures,
//! the packets that would exceed their thresholds by the queues as they were. A packet fits only where strictly
//! more bytes are free, as in the Credence authors' ns-3. Switch 0 only.

#![allow(clippy::print_stdout, reason = "a program that prints")]

use dropcast_data::{Event, EventOptions, EventReader, Outcome, SwitchSpec, Victim, read_switches};
use dropcast_switch::{
    AlwaysAccept, Buffer, CredencePolicy, Fit, LineRate, Live, Lqd, NoObserver, Observed, Observer,
    Packet, Policy, Predictor, Removal, Switch, situation,
};
use dropcast_train::TrainedModel;
use std::collections::BTreeSet;
use std::error::Error;
use std::path::Path;

const SLACKS_BYTES: [u32; 4] = [0, 64, 1_500, 9_000];
const FIT: Fit = Fit::Strict;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [events, switch, models @ ..] = &arguments[..] else {
        return Err("expected EVENTS SWITCH.toml [MODEL.json ...]".into());
    };
    let specs = read_switches(Path::new(switch))?;
    let spec = specs.get(0).ok_or("no switch 0 is described")?.clone();
    let options = EventOptions { specs: Some(specs), ..EventOptions::default() };
    let mut log = Vec::new();
    for batch in EventReader::open(Path::new(events), options)? {
        log.extend(batch?.events.into_iter().filter(|event| event.switch_id == 0));
    }
    let ring = spec.transmit_ring_packets + 1;
    let ahead = SwitchSpec { transmit_ring_packets: ring, ..spec.clone() };
    let by_lqd = [&spec, &ahead].map(|of| dropped(&log, of, Lqd::new(Victim::Tail)));
    println!("LQD drops {}", by_lqd[0].len());
    println!("oracle | slack, bytes | in step | a packet behind");
    let compare = |name: &str, slack_bytes: u32, oracle: &dyn Fn() -> Box<dyn Predictor>| {
        // Virtual LQD's ports are those of `of`, the switch's own those of `spec`.
        let lost = |(of, by_lqd): (&SwitchSpec, &BTreeSet<u64>)| {
            let credence = CredencePolicy::new(of, Victim::Tail, FIT, LineRate::new(of), oracle());
            let dropped = dropped(&log, &spec, credence.with_slack(slack_bytes));
            format!("{} ({})", dropped.len(), dropped.difference(by_lqd).count())
        };
        let [in_step, behind] = [(&spec, &by_lqd[0]), (&ahead, &by_lqd[1])].map(lost);
        println!("{name} | {slack_bytes} | {in_step} | {behind}");
    };
    for slack_bytes in SLACKS_BYTES {
        compare("always accept", slack_bytes, &|| Box::new(AlwaysAccept));
    }
    for path in models {
        let model = TrainedModel::from_json(&std::fs::read_to_string(path)?)?;
        for slack_bytes in SLACKS_BYTES {
            compare(path, slack_bytes, &|| {
                Box::new(Live { features: model.features.clone(), oracle: model.forest.clone() })
            });
        }
    }
    if log.iter().any(|event| !event.kind.is_arrival()) {
        println!("slack, bytes | as logged, above a threshold");
        for slack_bytes in SLACKS_BYTES {
            let (above, by_lqd) = as_logged(&log, &spec, slack_bytes);
            println!("{slack_bytes} | {} ({})", above.len(), above.difference(&by_lqd).count());
        }
    }
    Ok(())
}

/// The packets that a switch loses after it accepted them.
#[derive(Default)]
struct PushedOut(BTreeSet<u64>);

impl Observer for PushedOut {
    fn removed(&mut self, removal: &Removal, _: &Buffer) {
        if removal.outcome == Outcome::PushedOut {
            self.0.insert(removal.packet.id);
        }
    }
}

fn packet(id: u64, event: &Event, spec: &SwitchSpec) -> Packet {
    Packet::new(id, spec.queue_index(event.port, event.queue), event.size_bytes)
}

/// The packets that a policy drops in a switch at line rate.
fn dropped<P: Policy>(log: &[Event], spec: &SwitchSpec, policy: P) -> BTreeSet<u64> {
    let mut switch = Switch::new(spec, FIT, policy, LineRate::new(spec));
    let mut dropped = PushedOut::default();
    for (id, event) in (0..).zip(log.iter().filter(|event| event.kind.is_arrival())) {
        switch.advance(event.time_ns, &mut dropped);
        if !switch.admit(&packet(id, event, spec), event.time_ns, &mut dropped) {
            dropped.0.insert(id);
        }
    }
    dropped.0
}

/// The packets that Credence would drop above a threshold, by the queues as the departures of the log leave
/// them, and those that LQD drops there.
fn as_logged(log: &[Event], spec: &SwitchSpec, slack_bytes: u32) -> (BTreeSet<u64>, BTreeSet<u64>) {
    let lqd = || Lqd::new(Victim::Tail);
    let mut thresholds = Switch::new(spec, FIT, lqd(), LineRate::new(spec));
    let mut real = Switch::new(spec, FIT, lqd(), Observed::new(spec.queues()));
    let (mut above, mut by_lqd) = (BTreeSet::new(), PushedOut::default());
    let mut id = 0;
    for event in log {
        let now_ns = event.time_ns;
        let packet = packet(id, event, spec);
        if !event.kind.is_arrival() {
            real.service_mut().departed(packet.queue, event.size_bytes, now_ns);
            real.advance(now_ns, &mut by_lqd);
            continue;
        }
        real.advance(now_ns, &mut by_lqd);
        thresholds.advance(now_ns, &mut NoObserver);
        thresholds.admit(&packet, now_ns, &mut NoObserver);
        let threshold_bytes = thresholds.buffer().shared_lengths()[packet.queue];
        let mut asked = situation(real.buffer(), threshold_bytes, &packet);
        asked.slack_bytes = slack_bytes;
        if asked.fits && !asked.is_safeguarded() && !asked.is_below_threshold() {
            above.insert(id);
        }
        if !real.admit(&packet, now_ns, &mut by_lqd) {
            by_lqd.0.insert(id);
        }
        id += 1;
    }
    (above, by_lqd.0)
}
