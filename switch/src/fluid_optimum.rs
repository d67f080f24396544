//! A bound on every policy, for packets of any size in continuous time.

use crate::future::{FutureArrivals, KnownServer};
use dropcast_data::SwitchSpec;

/// Picoseconds, times bits per second, of a byte.
const UNITS_PER_BYTE: i128 = 8_000_000_000_000;

/// The most bytes that any algorithm can transmit, computed as if packets were a fluid: they can be dropped in part,
/// and leave the buffer while they are sent. It knows all arrivals, and drops from the port whose busy period ends
/// last, as [`crate::OfflineOptimum`] does; what that proof says of packets holds for every part of the fluid.
///
/// A real packet leaves the buffer as a whole, when its transmission begins. So a real port holds at most the packets
/// on the wire and in its ring less than the fluid one, and these are added to the buffer. Everything else is in
/// favour of the fluid, too: reserved bytes of all queues belong to the buffer, the wire has no overhead, nothing is
/// paused, and what is left is rounded so that less is dropped.
#[derive(Clone, Debug)]
pub struct FluidOptimum {
    ports: Vec<Port>,
    queues_per_port: usize,
    /// The queues that draw on the buffer, cyclically.
    shared: Vec<bool>,
    /// Like all amounts below in units of [`UNITS_PER_BYTE`].
    buffer: i128,
    /// At least what is held.
    held_at_most: i128,
    arrived: i128,
    dropped: i128,
}

#[derive(Clone, Debug)]
struct Port {
    server: KnownServer,
    rate_bps: i128,
    idle_from: i64,
}

fn picoseconds(time_ns: u64) -> i64 {
    i64::try_from(time_ns).unwrap_or(i64::MAX).saturating_mul(1_000)
}

fn work(rate_bps: u64, size_bytes: u32) -> i64 {
    let work = i128::from(size_bytes) * UNITS_PER_BYTE / i128::from(rate_bps);
    i64::try_from(work).unwrap_or(i64::MAX)
}

impl FluidOptimum {
    /// Of these arrivals at a switch: times, queues and sizes in bytes, in order. Then [`arrive`](Self::arrive) is to
    /// be called for each.
    pub fn new(spec: &SwitchSpec, arrivals: impl IntoIterator<Item = (u64, usize, u32)>) -> Self {
        let queues_per_port = usize::from(spec.queues_per_port);
        let mut by_port = vec![Vec::new(); spec.ports()];
        let mut largest_bytes = vec![0u32; spec.ports()];
        for (time_ns, queue, size_bytes) in arrivals {
            let (port, number) = (queue / queues_per_port, queue % queues_per_port);
            if !spec.shared[number % spec.shared.len()] {
                continue;
            }
            by_port[port].push((picoseconds(time_ns), work(spec.line_rate_bps[port], size_bytes)));
            largest_bytes[port] = largest_bytes[port].max(size_bytes);
        }
        let being_sent = 1 + i128::from(spec.transmit_ring_packets);
        let beside_bytes = being_sent * largest_bytes.into_iter().map(i128::from).sum::<i128>();
        let reserved_bytes: i128 =
            (0..spec.queues()).map(|queue| i128::from(spec.reserved_bytes_of(queue))).sum();
        let buffer_bytes = i128::from(spec.buffer_bytes) + reserved_bytes + beside_bytes;
        let port = |(arrivals, &rate_bps): (Vec<_>, &u64)| Port {
            server: KnownServer::new(FutureArrivals::new(arrivals)),
            rate_bps: i128::from(rate_bps),
            idle_from: i64::MIN,
        };
        FluidOptimum {
            ports: by_port.into_iter().zip(&spec.line_rate_bps).map(port).collect(),
            queues_per_port,
            shared: spec.shared.clone(),
            buffer: buffer_bytes * UNITS_PER_BYTE,
            held_at_most: 0,
            arrived: 0,
            dropped: 0,
        }
    }

    /// The next arrival.
    pub fn arrive(&mut self, time_ns: u64, queue: usize, size_bytes: u32) {
        let units = i128::from(size_bytes) * UNITS_PER_BYTE;
        self.arrived += units;
        if !self.shared[queue % self.queues_per_port % self.shared.len()] {
            return;
        }
        self.ports[queue / self.queues_per_port].server.arrives();
        self.held_at_most += units;
        if self.held_at_most > self.buffer {
            self.make_room(picoseconds(time_ns));
        }
    }

    /// The most bytes that any algorithm can transmit of what has arrived.
    pub fn most_bytes(&self) -> u64 {
        u64::try_from((self.arrived - self.dropped) / UNITS_PER_BYTE).unwrap_or(u64::MAX)
    }

    fn make_room(&mut self, now: i64) {
        let held = |port: &Port| i128::from(port.server.waiting(now)) * port.rate_bps;
        self.held_at_most = self.ports.iter().map(held).sum();
        if self.held_at_most <= self.buffer {
            return;
        }
        for port in &mut self.ports {
            port.idle_from = port.server.idle_from();
        }
        while self.drop_from_last(now, self.held_at_most - self.buffer) {}
    }

    /// Drops up to `excess` from the ports that are idle last, as long as these remain the same and nothing else
    /// changes. Returns whether anything was dropped.
    fn drop_from_last(&mut self, now: i64, excess: i128) -> bool {
        let last = self.ports.iter().map(|port| port.idle_from).max().unwrap_or(i64::MIN);
        let mut rate_bps = 0;
        // Down to the next port, an arrival that would meet an idle port, or the end of the excess.
        let mut time = i64::MAX;
        for port in &mut self.ports {
            if port.idle_from == last {
                rate_bps += port.rate_bps;
                time = time.min(port.server.droppable(now));
            } else {
                time = time.min(last.saturating_sub(port.idle_from));
            }
        }
        let time = time.min(i64::try_from(excess / rate_bps).unwrap_or(i64::MAX));
        if time <= 0 {
            return false;
        }
        for port in self.ports.iter_mut().filter(|port| port.idle_from == last) {
            port.server.drops(time);
            port.idle_from = port.server.idle_from();
        }
        let dropped = i128::from(time) * rate_bps;
        self.dropped += dropped;
        self.held_at_most -= dropped;
        true
    }
}
