//! A buffer-sharing policy of one's own, beside LQD on the same arrivals.
//!
//! `cargo run --release -p dropcast-examples --bin own-policy`
//!
//! `examples/policy/` is a template that is copied, for a policy outside of this repository.

#![allow(clippy::print_stdout, reason = "a program that prints")]

use dropcast_data::{EventOptions, EventReader, Outcome, SwitchSpec, read_switches};
use dropcast_switch::{Buffer, Decision, Fit, LineRate, Lqd, Observer};
use dropcast_switch::{Packet, Policy, Removal, Switch, Victim};
use std::error::Error;
use std::path::Path;

/// No queue may have more than an eighth of the buffer.
struct Eighth;

impl Policy for Eighth {
    fn decide(&mut self, buffer: &Buffer, packet: &Packet, _now_ns: u64) -> Decision {
        let queue_bytes = buffer.lengths()[packet.queue];
        let is_long = queue_bytes > buffer.capacity_bytes() / 8;
        if !is_long && buffer.fits(packet.size_bytes) { Decision::Accept } else { Decision::Reject }
    }
}

struct Sent(u64);

impl Observer for Sent {
    fn removed(&mut self, removal: &Removal, _: &Buffer) {
        self.0 += u64::from(removal.outcome == Outcome::Departed);
    }
}

/// Packets that a switch with this policy transmits.
fn sent(spec: &SwitchSpec, policy: impl Policy, arrivals: &[(u64, Packet)]) -> u64 {
    let (mut switch, mut sent) =
        (Switch::new(spec, Fit::Exact, policy, LineRate::new(spec)), Sent(0));
    for (time_ns, packet) in arrivals {
        switch.advance(*time_ns, &mut sent);
        switch.admit(packet, *time_ns, &mut sent);
    }
    switch.advance(u64::MAX, &mut sent);
    sent.0
}

fn main() -> Result<(), Box<dyn Error>> {
    let specs = read_switches(Path::new("data/samples/leaf.toml"))?;
    let spec = specs.get(0).ok_or("no switch 0 is described")?.clone();
    let options = EventOptions { specs: Some(specs), ..Default::default() };
    let mut arrivals = Vec::new();
    for batch in EventReader::open(Path::new("data/samples/leaf-events.parquet"), options)? {
        for event in batch?.events {
            let queue = spec.queue_index(event.port, event.queue);
            let packet = Packet::new(arrivals.len() as u64, queue, event.size_bytes);
            arrivals.push((event.time_ns, packet));
        }
    }
    println!("arrivals {}", arrivals.len());
    println!("an eighth {}", sent(&spec, Eighth, &arrivals));
    println!("lqd {}", sent(&spec, Lqd::new(Victim::Tail), &arrivals));
    Ok(())
}
