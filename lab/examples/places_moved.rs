//! How far a queue moves when queues are kept in the order of their lengths (`docs/verilog.md`).
//!
//!     cargo run --release -p dropcast-lab --example places_moved -- SWITCH.toml EVENTS ...
//!
//! For each file of events, Longest Queue Drop at line rate on switch 0: an event is an arrival that is accepted, a
//! departure or a push-out, and moves its queue past every queue that is now shorter or longer. Prints for each file
//! the mean and the largest number of queues passed in an event, and the share of events that pass more than four.

#![allow(clippy::print_stdout, reason = "a program that prints")]

use dropcast_data::{EventOptions, EventReader, read_switches};
use dropcast_features::FeatureSet;
use dropcast_switch::{Fit, LineRate, Packet, Victim, VirtualLqd};
use std::error::Error;
use std::path::Path;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [switch, files @ ..] = &arguments[..] else {
        return Err("expected SWITCH.toml EVENTS ...".into());
    };
    let specs = read_switches(Path::new(switch))?;
    let spec = specs.get(0).ok_or("no switch 0 is described")?;
    for file in files {
        let service = LineRate::new(spec);
        let mut lqd = VirtualLqd::new(spec, Victim::Tail, Fit::Exact, service, FeatureSet::none());
        let mut packets: Vec<Packet> = Vec::new();
        let mut order =
            Order { lengths: vec![0; spec.queues()], places: Vec::new(), passed: Vec::new() };
        let options = EventOptions { specs: Some(specs.clone()), ..EventOptions::default() };
        for batch in EventReader::open(Path::new(file), options)? {
            for event in batch?.events {
                if event.switch_id != 0 || !event.kind.is_arrival() {
                    continue;
                }
                let queue = spec.queue_index(event.port, event.queue);
                let packet = Packet::new(packets.len() as u64, queue, event.size_bytes);
                let mut leaves = |id: u64| {
                    let packet: &Packet = &packets[id as usize];
                    order.changes(packet.queue, -i64::from(packet.size_bytes));
                };
                lqd.advance(event.time_ns, |id, _| leaves(id));
                if lqd.admit(&packet, event.time_ns, |id, _| leaves(id)) {
                    order.changes(queue, packet.size_bytes.into());
                }
                packets.push(packet);
            }
        }
        let events = order.passed.len().max(1) as f64;
        let share = |many: usize| many as f64 / events;
        println!(
            "{file}: {} events, mean {:.3}, most {}, more than four {:.2}%",
            order.passed.len(),
            share(order.passed.iter().sum()),
            order.passed.iter().max().unwrap_or(&0),
            100.0 * share(order.passed.iter().filter(|&&passed| passed > 4).count()),
        );
    }
    Ok(())
}

/// The queues that hold something, longest first.
struct Order {
    lengths: Vec<i64>,
    places: Vec<usize>,
    /// By event, how many queues it passed.
    passed: Vec<usize>,
}

impl Order {
    /// A queue comes in last, and leaves as the last.
    fn changes(&mut self, queue: usize, bytes: i64) {
        if self.lengths[queue] == 0 {
            self.places.push(queue);
        }
        self.lengths[queue] += bytes;
        let own = self.lengths[queue];
        let from = self.places.iter().position(|&of| of == queue).unwrap_or(0);
        self.places.remove(from);
        let longer = self.places[..from].iter().rposition(|&of| self.lengths[of] >= own);
        let shorter = self.places[from..].iter().position(|&of| self.lengths[of] <= own);
        let to = match longer.map_or(0, |at| at + 1) {
            ahead if ahead < from => ahead,
            _ => shorter.map_or(self.places.len(), |at| from + at),
        };
        self.passed.push(to.abs_diff(from));
        if own > 0 {
            self.places.insert(to, queue);
        }
    }
}
