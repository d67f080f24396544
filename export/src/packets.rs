//! Packets on which code must decide as the policy does.

use dropcast_data::SwitchSpec;
use dropcast_switch::{Buffer, Fit, LineRate, Observer, Packet, Policy, Removal, Switch};

/// A packet that arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PacketArrival {
    /// When.
    pub(crate) time_ns: u64,
    /// Its queue of the switch.
    pub(crate) queue: usize,
    /// Its size.
    pub(crate) size_bytes: u32,
}

/// A packet that arrives, or leaves its queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PolicyEvent {
    /// When.
    pub time_ns: u64,
    /// Its port.
    pub port: usize,
    /// Its queue within the port.
    pub queue: usize,
    /// Its size.
    pub size_bytes: u32,
    /// Of one that arrives: whether it is accepted. None: it leaves.
    pub accepted: Option<bool>,
}

/// Packets at a switch that a policy decides for, in time order: the same policy and switch give the same packets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolicyPackets {
    /// Arrivals and departures.
    pub events: Vec<PolicyEvent>,
}

impl PolicyPackets {
    /// The verdicts, in order: whether each packet that arrives is accepted.
    pub fn verdicts(&self) -> impl Iterator<Item = bool> {
        self.events.iter().filter_map(|event| event.accepted)
    }

    /// As packet events (`docs/events.md`), with one more column: whether a packet that arrives is accepted, 0 or 1; 0 for
    /// those that leave.
    pub fn to_csv(&self) -> String {
        let mut text = "time_ns,kind,port,queue,size_bytes,accepted\n".to_owned();
        for &PolicyEvent { time_ns, port, queue, size_bytes, accepted } in &self.events {
            let (kind, accepted) = (u8::from(accepted.is_none()), u8::from(accepted == Some(true)));
            text += &format!("{time_ns},{kind},{port},{queue},{size_bytes},{accepted}\n");
        }
        text
    }
}

/// What `policy` decides about packets. Ports serve at line rate.
pub(crate) fn decided(
    policy: impl Policy,
    spec: &SwitchSpec,
    arrivals: impl IntoIterator<Item = PacketArrival>,
) -> PolicyPackets {
    let mut switch = Switch::new(spec, Fit::Exact, policy, LineRate::new(spec));
    let queues_per_port = usize::from(spec.queues_per_port);
    let mut heard = Heard { events: Vec::new(), queues_per_port };
    for (id, arrival) in (0..).zip(arrivals) {
        let PacketArrival { time_ns, queue, size_bytes } = arrival;
        switch.advance(time_ns, &mut heard);
        let accepted = switch.admit(&Packet::new(id, queue, size_bytes), time_ns, &mut heard);
        heard.hear(time_ns, queue, size_bytes, Some(accepted));
    }
    PolicyPackets { events: heard.events }
}

/// Hears of every packet.
struct Heard {
    events: Vec<PolicyEvent>,
    queues_per_port: usize,
}

impl Heard {
    fn hear(&mut self, time_ns: u64, queue: usize, size_bytes: u32, accepted: Option<bool>) {
        let (port, queue) = (queue / self.queues_per_port, queue % self.queues_per_port);
        self.events.push(PolicyEvent { time_ns, port, queue, size_bytes, accepted });
    }
}

impl Observer for Heard {
    fn removed(&mut self, removal: &Removal, _: &Buffer) {
        self.hear(removal.time, removal.queue, removal.packet.size_bytes, None);
    }
}
