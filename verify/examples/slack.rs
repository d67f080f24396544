//! What a slack of Credence's thresholds costs, and what it saves, on the arrivals of a trace, with an oracle
//! that always accepts (`docs/decision.md`).
//!
//! `cargo run --release -p dropcast-verify --example slack -- EVENTS SWITCH.toml`
//!
//! Prints, for each slack, dropped packets, and how many of them LQD transmits: of ports that are in step with
//! virtual LQD's, as in reports; of ports that are a packet behind; and, of events with departures, of the
//! switch that they were logged at, where one decision is told from the queues as they were. Switch 0 only.

#![allow(clippy::print_stdout, reason = "a program that prints")]

use dropcast_data::{Event, EventOptions, EventReader, Outcome, SwitchSpec, Victim, read_switches};
use dropcast_features::BufferView;
use dropcast_oracle::{Situation, Verdict};
use dropcast_switch::{
    AlwaysAccept, Buffer, Credence, Fit, LineRate, Lqd, NoObserver, Observed, Observer, Packet,
    Policy, Removal, Switch, situation,
};
use std::collections::BTreeSet;
use std::error::Error;
use std::path::Path;

const SLACKS_BYTES: [u32; 6] = [0, 64, 500, 1_000, Situation::ONE_PACKET_BYTES, 9_000];

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [events, switch] = &arguments[..] else {
        return Err("expected EVENTS SWITCH.toml".into());
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
    let [in_step, of_ahead] = [&spec, &ahead].map(|of| dropped(&log, of, Lqd::new(Victim::Tail)));
    let logged = log.iter().any(|event| !event.kind.is_arrival());
    let lost = |dropped: &BTreeSet<u64>, by_lqd: &BTreeSet<u64>| {
        format!("{} ({})", dropped.len(), dropped.difference(by_lqd).count())
    };
    let arrivals = log.iter().filter(|event| event.kind.is_arrival()).count();
    println!("{arrivals} arrivals; LQD drops {}", in_step.len());
    println!("slack, bytes | in step | a packet behind | as logged, above a threshold");
    for slack_bytes in SLACKS_BYTES {
        let credence = |of: &SwitchSpec| {
            let service = LineRate::new(of);
            Credence::new(of, Victim::Tail, Fit::Exact, service, AlwaysAccept)
                .with_slack(slack_bytes)
        };
        let as_logged = logged.then(|| {
            let (above, by_lqd) = as_logged(&log, &spec, slack_bytes);
            lost(&above, &by_lqd)
        });
        println!(
            "{slack_bytes} | {} | {} | {}",
            lost(&dropped(&log, &spec, credence(&spec)), &in_step),
            lost(&dropped(&log, &spec, credence(&ahead)), &of_ahead),
            as_logged.as_deref().unwrap_or("no departures")
        );
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
    let mut switch = Switch::new(spec, Fit::Exact, policy, LineRate::new(spec));
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
    let mut thresholds = Switch::new(spec, Fit::Exact, lqd(), LineRate::new(spec));
    let mut real = Switch::new(spec, Fit::Exact, lqd(), Observed::new(spec.queues()));
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
        let asked = situation(real.buffer(), threshold_bytes, &packet);
        if (Situation { slack_bytes, ..asked }).decide(|| false) == Verdict::AboveThreshold {
            above.insert(id);
        }
        if !real.admit(&packet, now_ns, &mut by_lqd) {
            by_lqd.0.insert(id);
        }
        id += 1;
    }
    (above, by_lqd.0)
}
