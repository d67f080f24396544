//! A buffer-sharing policy of your own, beside Dynamic Thresholds and LQD on the same packets.

use dropcast_data::{Outcome, SwitchSpec};
use dropcast_features::BufferView;
use dropcast_switch::{Buffer, Decision, DynamicThresholds, Fit, LineRate, Lqd};
use dropcast_switch::{Observer, Packet, Policy, Removal, Switch, Victim};
use std::{error::Error, io};

/// Yours: what it remembers.
struct MyPolicy {
    alpha: f64,
}

impl Policy for MyPolicy {
    /// As it stands, Dynamic Thresholds. The trait's other methods are called at arrivals, departures and times.
    fn decide(&mut self, buffer: &Buffer, packet: &Packet, _now_ns: u64) -> Decision {
        let free_bytes = buffer.capacity_bytes() - buffer.occupancy_bytes();
        let queue_bytes = buffer.lengths()[packet.queue];
        let is_below = f64::from(queue_bytes) < self.alpha * f64::from(free_bytes);
        if is_below && buffer.fits(packet.size_bytes) { Decision::Accept } else { Decision::Reject }
    }
}

struct SentBytes(u64);

impl Observer for SentBytes {
    fn removed(&mut self, removal: &Removal, _: &Buffer) {
        let is_sent = removal.outcome == Outcome::Departed;
        self.0 += if is_sent { u64::from(removal.packet.size_bytes) } else { 0 };
    }
}

/// Bytes that a switch transmits of packets that arrive at these times.
fn sent_bytes(spec: &SwitchSpec, policy: impl Policy, packets: &[(u64, Packet)]) -> u64 {
    let mut switch = Switch::new(spec, Fit::Exact, policy, LineRate::new(spec));
    let mut sent = SentBytes(0);
    for (time_ns, packet) in packets {
        switch.advance(*time_ns, &mut sent);
        switch.admit(packet, *time_ns, &mut sent);
    }
    switch.advance(u64::MAX, &mut sent);
    sent.0
}

/// Reads lines `time_ns,port,queue,size_bytes`, sorted by time, from standard input.
fn main() -> Result<(), Box<dyn Error>> {
    // Ports, their rate in bit/s, the buffer in bytes, the base RTT in ns.
    let spec = SwitchSpec::uniform(20, 10_000_000_000, 1_052_672, 32_000);
    let mut packets = Vec::new();
    for (id, line) in (0..).zip(io::stdin().lines().skip(1)) {
        let fields: Vec<u64> = line?.split(',').map(str::parse).collect::<Result<_, _>>()?;
        let [time_ns, port, queue, bytes] = fields.try_into().map_err(|_| "expected 4 fields")?;
        let queue = spec.queue_index(port.try_into()?, queue.try_into()?);
        packets.push((time_ns, Packet::new(id, queue, bytes.try_into()?)));
    }
    println!("my policy: {} bytes sent", sent_bytes(&spec, MyPolicy { alpha: 0.5 }, &packets));
    println!("dt, alpha 0.5: {}", sent_bytes(&spec, DynamicThresholds::new(0.5), &packets));
    println!("lqd: {}", sent_bytes(&spec, Lqd::new(Victim::Tail), &packets));
    Ok(())
}
