//! Ingress links, which serialise packets before they reach the switch.

use dropcast_data::{Event, EventKind};
use std::collections::VecDeque;

/// A flow on an ingress link with its remaining payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Flow {
    /// Payload left, bytes; above 0.
    pub(crate) remaining_bytes: u64,
    /// Identifies the flow; never 0.
    pub(crate) hash: u64,
    /// Payload left that goes out within the first round-trip time, bytes.
    pub(crate) unscheduled_bytes: u32,
    /// Destination of its packets: the output port of a switch, or the server of a fabric.
    pub(crate) to: u16,
    /// Packets sent since the last one that is acknowledged.
    pub(crate) unacknowledged: u16,
}

/// A packet on an ingress link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Packet {
    pub(crate) hash: u64,
    /// Bytes it takes in the buffer.
    pub(crate) size_bytes: u32,
    pub(crate) to: u16,
    pub(crate) kind: PacketKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PacketKind {
    Data { unscheduled: bool, acknowledged: bool },
    Ack,
}

/// `Event::flags` of a packet sent within the flow's first round-trip time.
const UNSCHEDULED: u8 = 1;

impl Packet {
    /// Its arrival at a switch for `port`, where data has this queue and acknowledgements queue 0.
    pub(crate) fn arrival(&self, time_ns: u64, switch_id: u16, port: u16, data_queue: u8) -> Event {
        let (queue, flags) = match self.kind {
            PacketKind::Ack => (0, 0),
            PacketKind::Data { unscheduled, .. } => {
                (data_queue, if unscheduled { UNSCHEDULED } else { 0 })
            }
        };
        Event {
            time_ns,
            flow_hash: self.hash,
            size_bytes: self.size_bytes,
            switch_id,
            port,
            queue,
            kind: EventKind::Arrival,
            flags,
        }
    }

    /// Whether its receiver acknowledges it.
    pub(crate) fn is_acknowledged(&self) -> bool {
        matches!(self.kind, PacketKind::Data { acknowledged: true, .. })
    }
}

/// An acknowledgement that its sender will hand to the link at a known time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ack {
    pub(crate) ready_ns: u64,
    pub(crate) hash: u64,
    pub(crate) to: u16,
}

/// The packetisation of flows, the same on every link.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Framing {
    pub(crate) payload_bytes: u32,
    pub(crate) header_bytes: u32,
    pub(crate) wire_overhead_bytes: u32,
    pub(crate) line_rate_bps: u64,
    /// 0: no acknowledgements.
    pub(crate) packets_per_ack: u16,
    /// Minimum gap between packets of a flow after its first round-trip time.
    pub(crate) pace_ns: u64,
}

impl Framing {
    /// Time on the wire of a packet that takes `size_bytes` in the buffer, rounded up: the rule of
    /// `SwitchSpec::wire_time_ns`, in 64 bits, which packets of at most 64 KiB fit.
    pub(crate) fn wire_ns(&self, size_bytes: u32) -> u64 {
        let bits = (u64::from(size_bytes) + u64::from(self.wire_overhead_bytes)) * 8;
        (bits * 1_000_000_000).div_ceil(self.line_rate_bps)
    }
}

/// The state of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Idle,
    /// Nothing to send yet: everything is paced.
    Waiting,
    Sending(Packet),
}

/// One ingress link. Its flows take turns, one packet each (round robin); acknowledgements go
/// before data, in FIFO order; packets follow each other at line rate.
#[derive(Clone, Debug)]
pub(crate) struct Link {
    /// Flows that may send now, in turn.
    flows: VecDeque<Flow>,
    /// Flows that may send from a time on, in time order because all have the same pace.
    paced: VecDeque<(u64, Flow)>,
    /// In order of their times.
    acks: VecDeque<Ack>,
    state: State,
}

impl Link {
    pub(crate) fn new() -> Self {
        Link {
            flows: VecDeque::new(),
            paced: VecDeque::new(),
            acks: VecDeque::new(),
            state: State::Idle,
        }
    }

    /// Adds a flow. True: the link is free and [`Self::proceed`] is due now.
    pub(crate) fn add_flow(&mut self, flow: Flow) -> bool {
        self.flows.push_back(flow);
        !matches!(self.state, State::Sending(_))
    }

    /// Adds an acknowledgement, not ready before those added earlier. True: the link is free and
    /// [`Self::proceed`] is due now.
    pub(crate) fn add_ack(&mut self, ack: Ack) -> bool {
        self.acks.push_back(ack);
        !matches!(self.state, State::Sending(_))
    }

    /// The packet whose last bit has just come over the link, if one was being sent.
    pub(crate) fn take_sent(&mut self) -> Option<Packet> {
        match std::mem::replace(&mut self.state, State::Idle) {
            State::Sending(packet) => Some(packet),
            State::Idle | State::Waiting => None,
        }
    }

    /// Starts the next transmission; returns the time of the link's next event, if any.
    pub(crate) fn proceed(&mut self, now_ns: u64, framing: &Framing) -> Option<u64> {
        let packet = match self.next_ack(now_ns, framing) {
            Some(packet) => packet,
            None => match self.next_data(now_ns, framing) {
                Some(packet) => packet,
                None => {
                    let ack_ns = self.acks.front().map(|ack| ack.ready_ns);
                    let flow_ns = self.paced.front().map(|paced| paced.0);
                    let next_ns = ack_ns.into_iter().chain(flow_ns).min();
                    self.state = if next_ns.is_some() { State::Waiting } else { State::Idle };
                    return next_ns;
                }
            },
        };
        self.state = State::Sending(packet);
        Some(now_ns + framing.wire_ns(packet.size_bytes))
    }

    fn next_ack(&mut self, now_ns: u64, framing: &Framing) -> Option<Packet> {
        let ack = *self.acks.front().filter(|ack| ack.ready_ns <= now_ns)?;
        self.acks.pop_front();
        Some(Packet {
            hash: ack.hash,
            size_bytes: framing.header_bytes,
            to: ack.to,
            kind: PacketKind::Ack,
        })
    }

    fn next_data(&mut self, now_ns: u64, framing: &Framing) -> Option<Packet> {
        while let Some(&(_, flow)) = self.paced.front().filter(|paced| paced.0 <= now_ns) {
            self.paced.pop_front();
            self.flows.push_back(flow);
        }
        let mut flow = self.flows.pop_front()?;
        let packet = next_packet(&mut flow, framing);
        if flow.remaining_bytes == 0 {
            // Done.
        } else if flow.unscheduled_bytes > 0 {
            self.flows.push_back(flow);
        } else {
            self.paced.push_back((now_ns + framing.pace_ns, flow));
        }
        Some(packet)
    }

    /// Flows that have something to send.
    #[cfg(test)]
    pub(crate) fn waiting(&self) -> usize {
        self.flows.len() + self.paced.len()
    }
}

/// Cuts the next packet off a flow.
fn next_packet(flow: &mut Flow, framing: &Framing) -> Packet {
    let payload = u32::try_from(flow.remaining_bytes)
        .map_or(framing.payload_bytes, |bytes| bytes.min(framing.payload_bytes));
    flow.remaining_bytes -= u64::from(payload);
    let unscheduled = flow.unscheduled_bytes > 0;
    flow.unscheduled_bytes = flow.unscheduled_bytes.saturating_sub(payload);
    let mut acknowledged = false;
    if framing.packets_per_ack > 0 {
        flow.unacknowledged += 1;
        acknowledged = flow.unacknowledged == framing.packets_per_ack || flow.remaining_bytes == 0;
        if acknowledged {
            flow.unacknowledged = 0;
        }
    }
    Packet {
        hash: flow.hash,
        size_bytes: payload + framing.header_bytes,
        to: flow.to,
        kind: PacketKind::Data { unscheduled, acknowledged },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FRAMING: Framing = Framing {
        payload_bytes: 1400,
        header_bytes: 32,
        wire_overhead_bytes: 33,
        line_rate_bps: 10_000_000_000,
        packets_per_ack: 2,
        pace_ns: 0,
    };

    fn flow(bytes: u64, hash: u64) -> Flow {
        Flow { remaining_bytes: bytes, hash, unscheduled_bytes: 2000, to: 1, unacknowledged: 0 }
    }

    /// Runs the link to its end: (time of arrival, hash, size, kind).
    fn drain(link: &mut Link, next: Option<u64>) -> Vec<(u64, u64, u32, PacketKind)> {
        drain_with(link, next, &FRAMING)
    }

    fn drain_with(
        link: &mut Link,
        mut next: Option<u64>,
        framing: &Framing,
    ) -> Vec<(u64, u64, u32, PacketKind)> {
        let mut sent = Vec::new();
        while let Some(now) = next {
            if let Some(packet) = link.take_sent() {
                sent.push((now, packet.hash, packet.size_bytes, packet.kind));
            }
            next = link.proceed(now, framing);
        }
        sent
    }

    #[test]
    fn flows_take_turns_and_the_last_packet_is_short() {
        let mut link = Link::new();
        assert!(link.add_flow(flow(4300, 7)));
        let next = link.proceed(100, &FRAMING);
        assert!(!link.add_flow(flow(1400, 9)), "busy");
        let data = |unscheduled, acknowledged| PacketKind::Data { unscheduled, acknowledged };
        assert_eq!(
            drain(&mut link, next),
            [
                (1272, 7, 1432, data(true, false)),
                (2444, 7, 1432, data(true, true)),
                (3616, 9, 1432, data(true, true)),
                (4788, 7, 1432, data(false, false)),
                (4788 + 132, 7, 132, data(false, true)),
            ]
        );
    }

    #[test]
    fn acknowledgements_wait_until_they_are_ready_and_go_first() {
        let mut link = Link::new();
        let ack = |ready_ns| Ack { ready_ns, hash: 5, to: 0 };
        assert!(link.add_ack(ack(1000)));
        assert_eq!(link.proceed(10, &FRAMING), Some(1000));
        assert!(link.add_ack(ack(1001)), "waiting is not sending");
        assert!(link.add_flow(flow(2800, 7)), "waiting is not sending");
        let next = link.proceed(20, &FRAMING);
        let sent = drain(&mut link, next);
        let order: Vec<_> = sent.iter().map(|packet| (packet.0, packet.1)).collect();
        assert_eq!(order, [(1192, 7), (1244, 5), (1296, 5), (2468, 7)]);
    }

    #[test]
    fn a_flow_past_its_first_round_trip_is_paced_and_others_fill_the_gaps() {
        let framing = Framing { pace_ns: 4 * 1172, ..FRAMING };
        let mut link = Link::new();
        assert!(link.add_flow(flow(7000, 7)));
        let next = link.proceed(0, &framing);
        assert!(!link.add_flow(flow(1400, 9)));
        let sent = drain_with(&mut link, next, &framing);
        let order: Vec<_> = sent.iter().map(|packet| (packet.0, packet.1)).collect();
        // Flow 7's first 2000 bytes are unscheduled: two packets. The second starts at 1172.
        let paced = |packets: u64| (1172 + packets * 4688 + 1172, 7);
        assert_eq!(order, [(1172, 7), (2344, 7), (3516, 9), paced(1), paced(2), paced(3)]);
    }
}
