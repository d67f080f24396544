//! What is lost where a trace of packets is known by counters alone, polled every 10, 100 or 1,000 us
//! (`docs/counters.md`).
//!
//! `cargo run --release -p dropcast-lab --example telemetry_error -- EVENTS SWITCH.toml`
//!
//! Dynamic Thresholds with the description's alpha (else 0.5) are the switch whose counters and queues are polled. What
//! `dropcast counters --arrivals` makes of the polls is replayed through each policy, and so are the packets. Switch 0 only.

#![allow(clippy::print_stdout, reason = "a program that prints")]

use dropcast_data::{EventOptions, EventReader, SwitchSpec, Victim, read_switches};
use dropcast_pipeline::counters::{Poll, PolledQueue, Polls, QueueId, Reading, arrivals};
use dropcast_switch::{
    Buffer, CompleteSharing, DynamicThresholds, Fit, FluidOptimum, LineRate, Lqd, NoObserver,
    Observer, Packet, Policy, Removal, Switch,
};
use std::error::Error;
use std::path::Path;

/// Time, queue of the switch, bytes.
type Arrival = (u64, usize, u32);

const MTU_BYTES: u32 = 1_500;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [events, switch] = &arguments[..] else { return Err("expected EVENTS SWITCH.toml".into()) };
    let specs = read_switches(Path::new(switch))?;
    let spec = specs.get(0).ok_or("no switch 0 is described")?.clone();
    let options = EventOptions { specs: Some(specs), ..EventOptions::default() };
    let mut packets: Vec<Arrival> = Vec::new();
    for batch in EventReader::open(Path::new(events), options)? {
        let events = batch?.events;
        let of = events.iter().filter(|event| event.switch_id == 0 && event.kind.is_arrival());
        packets.extend(of.map(|event| {
            (event.time_ns, spec.queue_index(event.port, event.queue), event.size_bytes)
        }));
    }
    let truth = replayed(&spec, &packets);
    println!("dropped bytes of {} packets, and by counters polled every", packets.len());
    println!(
        "{:24} {:>12} {:>20} {:>20} {:>20}",
        "policy", "packets", "10 us", "100 us", "1,000 us"
    );
    let estimates = [10_000, 100_000, 1_000_000].map(|every_ns| {
        let polls = polled(&spec, &packets, every_ns);
        let events: Result<Vec<_>, String> =
            arrivals(&polls, &spec, MTU_BYTES).and_then(Iterator::collect);
        let fluid: Vec<Arrival> = events
            .map_err(std::io::Error::other)?
            .into_iter()
            .map(|event| {
                (event.time_ns, spec.queue_index(event.port, event.queue), event.size_bytes)
            })
            .collect();
        Ok::<_, std::io::Error>(replayed(&spec, &fluid))
    });
    let [ten, hundred, thousand] = estimates;
    let estimates = [ten?, hundred?, thousand?];
    for (place, (name, bytes)) in truth.iter().enumerate() {
        let cell = |of: &Vec<(String, u64)>| {
            let estimate = of[place].1;
            let error = 100.0 * (estimate as f64 - *bytes as f64) / (*bytes as f64);
            format!("{estimate} ({error:+.1}%)")
        };
        let [ten, hundred, thousand] = [0, 1, 2].map(|which| cell(&estimates[which]));
        println!("{name:24} {bytes:>12} {ten:>20} {hundred:>20} {thousand:>20}");
    }
    Ok(())
}

/// Bytes that each policy drops, and that at least every policy drops.
fn replayed(spec: &SwitchSpec, packets: &[Arrival]) -> Vec<(String, u64)> {
    let mut dropped = vec![("LQD".to_owned(), drops(spec, packets, Lqd::new(Victim::Tail)))];
    for power in -1..=6 {
        let alpha = 2_f64.powi(power);
        dropped
            .push((format!("alpha {alpha}"), drops(spec, packets, DynamicThresholds::new(alpha))));
    }
    dropped.push(("Complete Sharing".to_owned(), drops(spec, packets, CompleteSharing)));
    let mut optimum = FluidOptimum::new(spec, packets.iter().copied());
    packets.iter().for_each(|&(at, queue, bytes)| optimum.arrive(at, queue, bytes));
    let arrived: u64 = packets.iter().map(|packet| u64::from(packet.2)).sum();
    dropped.push(("optimum, at least".to_owned(), arrived - optimum.most_bytes()));
    dropped
}

/// Counts bytes that leave each queue, sent or pushed out.
struct Meter {
    sent: Vec<[u64; 2]>,
    pushed_out: u64,
}

impl Observer for Meter {
    fn removed(&mut self, removal: &Removal, _: &Buffer) {
        let bytes = u64::from(removal.packet.size_bytes);
        match removal.outcome {
            dropcast_data::Outcome::PushedOut => self.pushed_out += bytes,
            _ => {
                self.sent[removal.queue][0] += 1;
                self.sent[removal.queue][1] += bytes;
            }
        }
    }
}

fn drops(spec: &SwitchSpec, packets: &[Arrival], policy: impl Policy) -> u64 {
    let mut switch = Switch::new(spec, Fit::Exact, policy, LineRate::new(spec));
    let mut meter = Meter { sent: vec![[0; 2]; spec.queues()], pushed_out: 0 };
    let mut rejected = 0;
    for (id, &(at, queue, bytes)) in (0..).zip(packets) {
        switch.advance(at, &mut meter);
        if !switch.admit(&Packet::new(id, queue, bytes), at, &mut meter) {
            rejected += u64::from(bytes);
        }
    }
    rejected + meter.pushed_out
}

/// What a switch counts, with the lengths of its queues.
fn polled(spec: &SwitchSpec, packets: &[Arrival], every_ns: u64) -> Polls {
    let alpha = spec.dt_alpha.first().copied().unwrap_or(DynamicThresholds::PAPER_ALPHA);
    let mut switch =
        Switch::new(spec, Fit::Exact, DynamicThresholds::new(alpha), LineRate::new(spec));
    let mut meter = Meter { sent: vec![[0; 2]; spec.queues()], pushed_out: 0 };
    let mut dropped = vec![[0_u64; 2]; spec.queues()];
    let per_port = usize::from(spec.queues_per_port);
    let queues = (0..spec.queues()).map(|queue| QueueId {
        port: queue / per_port,
        port_name: (queue / per_port).to_string(),
        queue_name: (queue % per_port).to_string(),
        class: Some(queue % per_port),
    });
    let mut polls = Polls { queues: queues.collect(), ..Polls::default() };
    let begin_ns = packets.first().map_or(0, |packet| packet.0);
    let end_ns = packets.last().map_or(0, |packet| packet.0) + 2 * spec.drain_ns();
    let mut next = 0;
    for poll in 0..=(end_ns - begin_ns).div_ceil(every_ns) {
        let now_ns = begin_ns + poll * every_ns;
        while let Some(&(at, queue, bytes)) = packets.get(next).filter(|packet| packet.0 < now_ns) {
            switch.advance(at, &mut meter);
            if !switch.admit(&Packet::new(next as u64, queue, bytes), at, &mut NoObserver) {
                dropped[queue][0] += 1;
                dropped[queue][1] += u64::from(bytes);
            }
            next += 1;
        }
        switch.advance(now_ns, &mut meter);
        let polled = |(queue, &length): (usize, &u32)| PolledQueue {
            queue,
            time_ns: Some(now_ns),
            counters: Some(Reading {
                sent_packets: Some(meter.sent[queue][0]),
                sent_bytes: meter.sent[queue][1],
                dropped_packets: dropped[queue][0],
                dropped_bytes: Some(dropped[queue][1]),
                trimmed_packets: None,
            }),
            watermark_bytes: None,
            queue_bytes: Some(u64::from(length)),
        };
        polls.polls.push(Poll {
            time_ns: Some(now_ns),
            queues: switch.buffer().lengths().iter().enumerate().map(polled).collect(),
            ..Poll::default()
        });
    }
    polls
}
