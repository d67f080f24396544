//! A switch of the fabric: the shared buffer and policy of `dropcast-switch`, and the state of its
//! ports.

use dropcast_data::SwitchSpec;
use dropcast_features::BufferView;
use dropcast_switch::aqm::{Action, Aqm};
use dropcast_switch::{Buffer, Fit, Held, Observer, Policy, Removal, Switch, TimeModel, Turn};
use std::collections::VecDeque;

/// A shared-buffer switch.
pub(crate) struct FabricSwitch {
    pub(crate) spec: SwitchSpec,
    aqm: Box<dyn Aqm + Send>,
    switch: Switch<Box<dyn Policy + Send>, Called>,
    pub(crate) ports: Vec<Port>,
    /// The link of port 0; those of the others follow.
    pub(crate) first_link: u32,
    /// Packets pushed out by the latest arrival, and their queues.
    pub(crate) pushed_out: Vec<(Held, usize)>,
}

/// An output port.
#[derive(Clone, Debug)]
pub(crate) struct Port {
    turn: Turn,
    /// Dequeued packets that wait for the wire.
    pub(crate) ring: VecDeque<u32>,
    pub(crate) is_busy: bool,
    /// Dequeued bytes, for telemetry.
    pub(crate) sent_bytes: u64,
}

/// The fabric's events determine when a packet leaves, the port's scheduler which one.
#[derive(Clone, Copy, Debug, Default)]
struct Called {
    queue: Option<usize>,
}

impl TimeModel for Called {
    fn arrived(&mut self, _: usize, _: u64) {}

    fn next(&mut self, _: &Buffer, now: u64) -> Option<(u64, usize)> {
        self.queue.take().map(|queue| (now, queue))
    }
}

/// Records the packet that left.
#[derive(Default)]
struct Departure(Option<Held>);

impl Observer for Departure {
    fn removed(&mut self, removal: &Removal, _: &Buffer) {
        self.0 = Some(removal.packet);
    }
}

/// Records the packets that were pushed out.
struct PushedOut<'a>(&'a mut Vec<(Held, usize)>);

impl Observer for PushedOut<'_> {
    fn removed(&mut self, removal: &Removal, _: &Buffer) {
        self.0.push((removal.packet, removal.queue));
    }
}

impl FabricSwitch {
    pub(crate) fn new(
        spec: &SwitchSpec,
        policy: Box<dyn Policy + Send>,
        aqm: Box<dyn Aqm + Send>,
        first_link: u32,
    ) -> Self {
        let port =
            Port { turn: Turn::new(spec), ring: VecDeque::new(), is_busy: false, sent_bytes: 0 };
        FabricSwitch {
            aqm,
            switch: Switch::new(spec, Fit::Exact, policy, Called::default()),
            ports: vec![port; spec.ports()],
            first_link,
            pushed_out: Vec::new(),
            spec: spec.clone(),
        }
    }

    pub(crate) fn buffer(&self) -> &Buffer {
        self.switch.buffer()
    }

    /// The AQM's action on a packet that is about to arrive.
    pub(crate) fn judge(&mut self, packet: &dropcast_switch::Packet, now_ns: u64) -> Action {
        self.aqm.arrives(self.switch.buffer(), packet, now_ns)
    }

    /// A packet arrives; returns whether it was accepted. Packets pushed out for it are in
    /// `pushed_out`.
    pub(crate) fn admit(&mut self, packet: &dropcast_switch::Packet, now_ns: u64) -> bool {
        self.pushed_out.clear();
        let observer = &mut PushedOut(&mut self.pushed_out);
        self.switch.advance(now_ns, observer);
        let is_accepted = self.switch.admit(packet, now_ns, observer);
        for (held, queue) in &self.pushed_out {
            self.aqm.departed(self.switch.buffer(), *queue, held.size_bytes, now_ns);
        }
        is_accepted
    }

    /// Dequeues the next packet of a port; also returns its queue.
    pub(crate) fn take(&mut self, port: u16, now_ns: u64) -> Option<(u32, usize)> {
        let state = &mut self.ports[usize::from(port)];
        let queue = state.turn.pick(&self.spec, self.switch.buffer(), usize::from(port))?;
        self.switch.service_mut().queue = Some(queue);
        let mut departure = Departure::default();
        self.switch.advance(now_ns, &mut departure);
        let held = departure.0?;
        self.ports[usize::from(port)].sent_bytes += u64::from(held.size_bytes);
        self.aqm.departed(self.switch.buffer(), queue, held.size_bytes, now_ns);
        Some((held.id as u32, queue))
    }

    /// Whether the AQM marks a packet that [`FabricSwitch::take`] has just returned.
    pub(crate) fn marks_leaving(&mut self, queue: usize, sojourn_ns: u64, now_ns: u64) -> bool {
        self.aqm.marks_leaving(self.switch.buffer(), queue, sojourn_ns, now_ns)
    }

    /// Whether a queue is shorter than an equal share of the buffer, `B/N`.
    pub(crate) fn is_innocent(&self, queue: usize) -> bool {
        let bytes = u64::from(self.buffer().lengths()[queue]);
        bytes * (self.spec.ports() as u64) < u64::from(self.spec.buffer_bytes)
    }

    /// Packets in the buffer and in rings.
    pub(crate) fn packets(&self) -> usize {
        let rings: usize = self.ports.iter().map(|port| port.ring.len()).sum();
        self.buffer().packets().count() + rings
    }

    /// Whether the bytes of the buffer add up: occupancy, queue lengths and packets.
    pub(crate) fn adds_up(&self) -> bool {
        let buffer = self.buffer();
        let queues: u64 = buffer.lengths().iter().map(|&bytes| u64::from(bytes)).sum();
        let packets: u64 = buffer.packets().map(|held| u64::from(held.size_bytes)).sum();
        let occupancy = u64::from(buffer.occupancy_bytes());
        occupancy == queues && queues == packets && occupancy <= u64::from(self.spec.buffer_bytes)
    }
}
