//! OPT: what an algorithm that knows all arrivals would drop.

use crate::future::{FutureArrivals, KnownServer};
use crate::{Buffer, Decision, Packet, Policy};
use dropcast_data::SwitchSpec;

/// Accepts every packet; when the buffer overflows, drops from the server whose busy period, with all arrivals known,
/// ends last. This is Belady's rule for buffers: the place that is freed stays free longest.
///
/// For unit packets no algorithm transmits more (`lab/notes/theory.md`). For packets of any size it is a good schedule,
/// and [`crate::FluidOptimum`] bounds the best.
///
/// It is no policy of a switch: it knows what is to come. What it drops a drop-tail switch could refuse on arrival.
#[derive(Clone, Debug)]
pub struct OfflineOptimum {
    servers: Vec<KnownServer>,
    /// The server of each queue.
    server_of: Vec<usize>,
    /// The work of a packet.
    work: Work,
    /// Whether the next departure is a push-out.
    pushes_out: bool,
}

#[derive(Clone, Debug)]
enum Work {
    /// A slot.
    Slot,
    /// Its time on the wire.
    Wire(Box<SwitchSpec>),
}

impl Work {
    fn of(&self, server: usize, size_bytes: u32) -> i64 {
        match self {
            Work::Slot => 1,
            Work::Wire(spec) => signed(spec.wire_time_ns(server, size_bytes)),
        }
    }
}

fn signed(time: u64) -> i64 {
    i64::try_from(time).unwrap_or(i64::MAX)
}

impl OfflineOptimum {
    /// For [`crate::Slotted`]: unit packets, each queue a server. `arrivals` are slots and queues, in order.
    pub fn slotted(queues: usize, arrivals: impl IntoIterator<Item = (u64, usize)>) -> Self {
        let mut by_queue = vec![Vec::new(); queues];
        for (slot, queue) in arrivals {
            by_queue[queue].push((signed(slot), 1));
        }
        Self::of(by_queue, (0..queues).collect(), Work::Slot)
    }

    /// For [`crate::LineRate`]: each port a server. `arrivals` are times, queues and sizes in bytes, in order.
    pub fn line_rate(
        spec: &SwitchSpec,
        arrivals: impl IntoIterator<Item = (u64, usize, u32)>,
    ) -> Self {
        let work = Work::Wire(Box::new(spec.clone()));
        let queues_per_port = usize::from(spec.queues_per_port);
        let mut by_port = vec![Vec::new(); spec.ports()];
        for (time_ns, queue, size_bytes) in arrivals {
            let port = queue / queues_per_port;
            by_port[port].push((signed(time_ns), work.of(port, size_bytes)));
        }
        Self::of(by_port, (0..spec.queues()).map(|queue| queue / queues_per_port).collect(), work)
    }

    fn of(arrivals: Vec<Vec<(i64, i64)>>, server_of: Vec<usize>, work: Work) -> Self {
        let known = |arrivals| KnownServer::new(FutureArrivals::new(arrivals));
        let servers = arrivals.into_iter().map(known).collect();
        OfflineOptimum { servers, server_of, work, pushes_out: false }
    }

    fn drops(&mut self, queue: usize, size_bytes: u32) {
        let server = self.server_of[queue];
        self.servers[server].drops(self.work.of(server, size_bytes));
    }
}

impl Policy for OfflineOptimum {
    fn arrives(&mut self, packet: &Packet, _: u64) {
        self.servers[self.server_of[packet.queue]].arrives();
    }

    fn decide(&mut self, buffer: &Buffer, packet: &Packet, _: u64) -> Decision {
        if buffer.fits(packet.size_bytes) {
            return Decision::Accept;
        }
        // The longest queue of each server that has one to push out from; the arriving packet's is the last resort.
        let own = self.server_of[packet.queue];
        let mut last = (self.servers[own].idle_from(), None);
        for (queue, &length) in buffer.shared_lengths().iter().enumerate() {
            let server = self.server_of[queue];
            if server == own || length == 0 || !buffer.is_pushable(queue) {
                continue;
            }
            let idle_from = self.servers[server].idle_from();
            let is_longer = |other: usize| length > buffer.shared_lengths()[other];
            let is_later = match last {
                (latest, Some(other)) if self.server_of[other] == server => {
                    debug_assert_eq!(latest, idle_from);
                    is_longer(other)
                }
                (latest, _) => idle_from > latest,
            };
            if is_later {
                last = (idle_from, Some(queue));
            }
        }
        match last {
            (_, None) => Decision::Reject,
            (_, Some(queue)) => {
                self.pushes_out = true;
                Decision::PushOut(queue)
            }
        }
    }

    fn settled(&mut self, _: &Buffer, packet: &Packet, accepted: bool, _: u64) {
        if !accepted {
            self.drops(packet.queue, packet.size_bytes);
        }
    }

    fn departed(&mut self, _: &Buffer, queue: usize, size_bytes: u32, _: u64) {
        if std::mem::take(&mut self.pushes_out) {
            self.drops(queue, size_bytes);
        }
    }
}
