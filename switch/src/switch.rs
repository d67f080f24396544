//! The event loop: a buffer, a policy that fills it and a service that empties it.

use crate::{Buffer, Decision, Fit, Held, Packet, Policy, TimeModel};
use dropcast_data::{Outcome, SwitchSpec};
use dropcast_features::BufferView;

/// A packet that has just left the buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Removal {
    /// The packet.
    pub packet: Held,
    /// The queue it was in.
    pub queue: usize,
    /// When it left.
    pub time: u64,
    /// Departed or pushed out.
    pub outcome: Outcome,
}

/// An observer of every packet that leaves the buffer.
pub trait Observer {
    /// A packet left; `buffer` is what remains.
    fn removed(&mut self, removal: &Removal, buffer: &Buffer);
}

/// No observer.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoObserver;

impl Observer for NoObserver {
    fn removed(&mut self, _: &Removal, _: &Buffer) {}
}

/// A shared-buffer switch.
///
/// What every packet passes is `#[inline(always)]`, here and in the buffer, the services and the memory of
/// features. Left to the compiler, a packet of the tracer passes sixteen calls, and takes a fifth more
/// instructions.
#[derive(Clone, Debug)]
pub struct Switch<P, S> {
    buffer: Buffer,
    policy: P,
    service: S,
}

impl<P: Policy, S: TimeModel> Switch<P, S> {
    /// An empty switch.
    pub fn new(spec: &SwitchSpec, fit: Fit, policy: P, service: S) -> Self {
        Switch { buffer: Buffer::new(spec, fit), policy, service }
    }

    /// See [`Buffer::keep_backlog`].
    pub(crate) fn keep_backlog(&mut self) {
        self.buffer.keep_backlog();
    }

    /// What it holds.
    pub fn buffer(&self) -> &Buffer {
        &self.buffer
    }

    /// Its policy.
    pub fn policy(&self) -> &P {
        &self.policy
    }

    /// Its policy, to extract what it has recorded.
    pub fn policy_mut(&mut self) -> &mut P {
        &mut self.policy
    }

    /// Its service.
    pub fn service(&self) -> &S {
        &self.service
    }

    /// Its service, to pass it what was observed.
    pub fn service_mut(&mut self) -> &mut S {
        &mut self.service
    }

    /// Serves the queues up to and including time `now`. Time must not go back.
    #[inline(always)]
    pub fn advance(&mut self, now: u64, observer: &mut impl Observer) {
        self.policy.advance(now);
        while let Some((time, queue)) = self.service.next(&self.buffer, now) {
            if let Some(packet) = self.buffer.pop_head(queue) {
                self.service.left(&self.buffer, queue, packet.size_bytes, time);
                self.policy.departed(&self.buffer, queue, packet.size_bytes, time);
                let removal = Removal { packet, queue, time, outcome: Outcome::Departed };
                observer.removed(&removal, &self.buffer);
            }
        }
    }

    /// A packet arrives at `now`; the switch must be advanced to `now`. Returns whether it was
    /// accepted. A queue outside the shared buffer accepts every packet up to 4 GiB.
    #[inline(always)]
    pub fn admit(&mut self, packet: &Packet, now: u64, observer: &mut impl Observer) -> bool {
        let shares = self.buffer.shares(packet.queue);
        self.policy.arrives(packet, now);
        let has_room = if shares {
            self.make_room(packet, now, observer)
        } else {
            self.buffer.can_count(packet.queue, packet.size_bytes)
        };
        if has_room {
            self.buffer.push(packet.queue, Held { id: packet.id, size_bytes: packet.size_bytes });
            self.service.arrived(packet.queue, now);
        }
        if shares {
            self.policy.settled(&self.buffer, packet, has_room, now);
        }
        has_room
    }

    /// [`Switch::advance`] to `now`, then [`Switch::admit`], without an observer.
    pub fn arrive(&mut self, packet: &Packet, now: u64) -> bool {
        self.advance(now, &mut NoObserver);
        self.admit(packet, now, &mut NoObserver)
    }

    #[inline(always)]
    fn make_room(&mut self, packet: &Packet, now: u64, observer: &mut impl Observer) -> bool {
        loop {
            // Grows smaller when the packet's own queue is pushed out from.
            let size_bytes = self.buffer.shared_part(packet.queue, packet.size_bytes);
            if size_bytes == 0 {
                return true;
            }
            let (queue, victim) =
                match self.policy.decide(&self.buffer, &Packet { size_bytes, ..*packet }, now) {
                    Decision::Accept => return true,
                    Decision::Reject => return false,
                    Decision::PushOut(queue) => (queue, self.buffer.pop_tail(queue)),
                    Decision::PushOutHead(queue) => (queue, self.buffer.pop_head(queue)),
                };
            let Some(victim) = victim else { return false };
            self.policy.departed(&self.buffer, queue, victim.size_bytes, now);
            let outcome = Outcome::PushedOut;
            let removal = Removal { packet: victim, queue, time: now, outcome };
            observer.removed(&removal, &self.buffer);
        }
    }
}
