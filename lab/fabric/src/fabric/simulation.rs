//! The event loop, and the ends of flows.

use super::config::Fabric;
use super::flow::{Connection, Flow};
use super::flow_settings::FlowSettings;
use super::flow_state::{FlowState, Path, Phase};
use super::network::{Network, NetworkCounts, NetworkEvent};
use super::outcome::SimulationOutcome;
use super::packet::{MARKED, NO_TRAIL, Packet, PacketKind, Slab};
use super::sink::FabricObserver;
use super::workload::Workload;
use crate::transport::{Ack, CongestionControl, Kept, Segment, Transport, Tuning};
use dropcast_switch::{Buffer, BuildError, Policy, PolicySite};
use std::collections::BTreeMap;

/// A flow that the fabric cannot carry.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("flow {id}: {problem}")]
pub struct FlowError {
    /// Its number, in order of start.
    pub id: u64,
    /// What is wrong and what is expected.
    pub problem: String,
}

/// A fabric with its flows, run event by event.
///
/// ```
/// use dropcast_fabric::{
///     Connection, Fabric, FabricConfig, Flow, FlowClass, FlowList, Simulation, Transport, Unwatched,
/// };
/// use dropcast_switch::PolicySpec;
///
/// let fabric = Fabric::try_from(FabricConfig::default()).expect("valid");
/// let flow = Flow {
///     start_ns: 0,
///     from: 0,
///     to: 20,
///     size_bytes: 100_000,
///     class: FlowClass::Single,
///     connection: Connection::Handshake,
///     transport: Transport::Dctcp,
///     queue: 1,
///     spines: None,
/// };
/// let policy: PolicySpec = "abm:alpha=[64,0.5]".parse().expect("a known policy");
/// let flows = FlowList::new(vec![flow]);
/// let simulation = Simulation::new(&fabric, |_, site| policy.build(site), flows).expect("no model");
/// let outcome = simulation.run(&mut Unwatched).expect("a flow between two servers");
/// assert_eq!((outcome.completed, outcome.received_bytes), (1, 100_000));
/// ```
pub struct Simulation<W> {
    network: Network,
    workload: W,
    flows: Slab<Option<FlowState>>,
    /// Flows that have not started.
    waiting: Slab<Flow>,
    /// Idle connections by sender, receiver and transport; the one that was used last is the last.
    idle: BTreeMap<(u16, u16, Transport), Vec<(Kept, Path)>>,
    settings: FlowSettings,
    started: u64,
    under_way: u64,
    completed: u64,
    events: u64,
    received_bytes: u64,
    /// When the first flow started and the last so far, nanoseconds.
    starts_ns: Option<(u64, u64)>,
    /// Payload that had arrived when the last so far started, bytes.
    received_at_start_bytes: u64,
    /// The workload has more flows.
    has_next: bool,
    /// Kept to save allocations.
    segments: Vec<Segment>,
    follow_ups: Vec<Flow>,
}

impl<W: Workload> Simulation<W> {
    /// A fabric whose switches have the policies that `policy` returns for their number and
    /// description; usually [`dropcast_switch::PolicySpec::build`] with its model.
    ///
    /// # Errors
    /// The errors of `policy`.
    pub fn new(
        fabric: &Fabric,
        policy: impl FnMut(u16, PolicySite<'_>) -> Result<Box<dyn Policy + Send>, BuildError>,
        workload: W,
    ) -> Result<Self, BuildError> {
        let config = fabric.config();
        let rate_bps = config.server_rate_bps as f64 * config.unresponsive_rate;
        Ok(Simulation {
            network: Network::new(fabric, policy)?,
            workload,
            flows: Slab::default(),
            waiting: Slab::default(),
            idle: BTreeMap::new(),
            settings: FlowSettings {
                fabric: fabric.clone(),
                unresponsive_gap_ns: 8e9 / rate_bps,
                control: None,
            },
            started: 0,
            under_way: 0,
            completed: 0,
            events: 0,
            received_bytes: 0,
            starts_ns: None,
            received_at_start_bytes: 0,
            has_next: true,
            segments: Vec::new(),
            follow_ups: Vec::new(),
        })
    }

    /// Flows of a transport get their congestion control from `make`, and keep what else the transport has: whether switches
    /// mark its packets or give them telemetry, and how losses are recovered. An unresponsive transport has none.
    pub fn with_control(
        mut self,
        of: Transport,
        make: impl Fn(&Tuning) -> Box<dyn CongestionControl + Send> + Send + 'static,
    ) -> Self {
        self.settings.control = Some((of, Box::new(make)));
        self
    }

    /// Runs it to its end.
    ///
    /// # Errors
    /// The workload started a flow that the fabric cannot carry.
    pub fn run<S: FabricObserver>(mut self, sink: &mut S) -> Result<SimulationOutcome, FlowError> {
        let mut now_ns = 0;
        self.begin();
        while let Some(time_ns) = self.step(sink)? {
            now_ns = time_ns;
            debug_assert!(self.network.adds_up(), "packets or bytes do not add up at {time_ns} ns");
        }
        self.report_rest(sink);
        Ok(self.outcome(now_ns))
    }

    /// Schedules the first flow and the first sample.
    pub(super) fn begin(&mut self) {
        self.fetch();
        if self.settings.fabric.config().sample_interval_ns > 0 {
            self.network.events.schedule(0, NetworkEvent::Sample);
        }
    }

    /// Processes the next event; returns its time, or `None` at the end.
    pub(super) fn step<S: FabricObserver>(
        &mut self,
        sink: &mut S,
    ) -> Result<Option<u64>, FlowError> {
        let Some((now_ns, event)) = self.network.events.pop() else { return Ok(None) };
        if now_ns > self.settings.fabric.config().end_ns {
            return Ok(None);
        }
        self.events += 1;
        match event {
            NetworkEvent::Sent { link } => self.network.sent(link, now_ns, sink),
            NetworkEvent::Arrived { packet } => {
                if self.network.arrived(packet, now_ns, sink) {
                    self.receive(packet, now_ns, sink);
                }
            }
            NetworkEvent::Timer { flow } => self.look_at_timer(flow, now_ns),
            NetworkEvent::Pace { flow } => self.go_on(flow, now_ns),
            NetworkEvent::Start { place, is_next } => {
                let flow = *self.waiting.get(place);
                self.waiting.release(place);
                if is_next {
                    self.fetch();
                }
                self.start(flow, now_ns)?;
            }
            NetworkEvent::Sample => self.sample(now_ns, sink),
        }
        while let Some(flow) = self.network.flows_with_drops.pop() {
            self.release_if_over(flow, now_ns, sink);
        }
        Ok(Some(now_ns))
    }

    /// Time of the next event, nanoseconds.
    pub(super) fn next_ns(&mut self) -> Option<u64> {
        self.network.events.next_ns()
    }

    /// Flows that have started.
    pub(super) fn started(&self) -> u64 {
        self.started
    }

    /// The buffer of a switch.
    pub(super) fn buffer(&self, switch_id: u16) -> &Buffer {
        self.network.buffer(switch_id)
    }

    /// Schedules the workload's next flow.
    fn fetch(&mut self) {
        match self.workload.next_flow() {
            Some(flow) => self.schedule_start(flow, 0, true),
            None => self.has_next = false,
        }
    }

    fn schedule_start(&mut self, flow: Flow, now_ns: u64, is_next: bool) {
        let start_ns = flow.start_ns.max(now_ns);
        let place = self.waiting.add(flow);
        self.network.events.schedule(start_ns, NetworkEvent::Start { place, is_next });
    }

    fn start(&mut self, flow: Flow, now_ns: u64) -> Result<(), FlowError> {
        let id = self.started;
        self.settings.fabric.check_flow(&flow).map_err(|problem| FlowError { id, problem })?;
        self.started += 1;
        self.starts_ns = Some((self.starts_ns.map_or(now_ns, |(first_ns, _)| first_ns), now_ns));
        self.received_at_start_bytes = self.received_bytes;
        self.under_way += 1;
        let kept = match flow.connection {
            Connection::Reused => self.idle.get_mut(&flow.ends()).and_then(Vec::pop),
            Connection::Handshake | Connection::New => None,
        };
        let tuning = self.settings.fabric.tuning(&flow);
        let state = self.settings.state(id, flow, kept, &tuning, now_ns);
        let place = self.flows.add(Some(state));
        let tag = super::network::FlowTag { id, packets: 0 };
        match self.network.tags.get_mut(place as usize) {
            Some(old) => *old = tag,
            None => self.network.tags.push(tag),
        }
        let Some(state) = self.flows.get_mut(place).as_mut() else { return Ok(()) };
        if state.phase == Phase::Connecting {
            let syn = state.syn(place, now_ns);
            state.connect_by_ns = Some(tuning.handshake_by_ns(now_ns, 0));
            self.network.send(syn, now_ns);
            self.arm_timer(place);
        } else {
            self.go_on(place, now_ns);
        }
        Ok(())
    }

    /// Sends what a flow may send now.
    fn go_on(&mut self, place: u32, now_ns: u64) {
        let Some(state) = self.flows.get_mut(place) else { return };
        if state.flow.transport == Transport::Unresponsive {
            return self.go_on_unresponsively(place, now_ns);
        }
        if state.phase == Phase::Sending {
            state.pace_ns = None;
            state.sender.fill_window(now_ns, &mut self.segments);
            self.flush(place, now_ns);
        }
    }

    fn go_on_unresponsively(&mut self, place: u32, now_ns: u64) {
        let Some(state) = self.flows.get_mut(place) else { return };
        let number = state.next_segment;
        if number == state.segments {
            return;
        }
        let most = u64::from(self.settings.fabric.config().segment_bytes);
        let bytes = (state.flow.size_bytes - u64::from(number) * most).min(most) as u32;
        let packet = state.data(place, &Segment { number, bytes, is_repeated: false }, now_ns);
        state.next_segment += 1;
        let gap_ns =
            (f64::from(packet.size_bytes) * self.settings.unresponsive_gap_ns).ceil() as u64;
        self.network.send(packet, now_ns);
        self.network.events.schedule(now_ns + gap_ns, NetworkEvent::Pace { flow: place });
    }

    /// Sends a sender's segments and sets its timers.
    fn flush(&mut self, place: u32, now_ns: u64) {
        let Some(state) = self.flows.get_mut(place) else { return };
        for segment in self.segments.drain(..) {
            let mut packet = state.data(place, &segment, now_ns);
            if state.flow.transport.wants_telemetry() {
                packet.trail = self.network.trails.reuse(Vec::new);
                self.network.trails.get_mut(packet.trail).clear();
            }
            self.network.send(packet, now_ns);
        }
        if let Some(pace_ns) = state.sender.paced_until_ns(now_ns)
            && state.pace_ns.is_none()
        {
            state.pace_ns = Some(pace_ns);
            self.network.events.schedule(pace_ns, NetworkEvent::Pace { flow: place });
        }
        self.arm_timer(place);
    }

    /// Schedules the flow's timer event no later than its deadline.
    fn arm_timer(&mut self, place: u32) {
        let Some(state) = self.flows.get_mut(place) else { return };
        let Some(deadline_ns) = state.deadline_ns() else { return };
        if state.timer_ns.is_none_or(|timer_ns| timer_ns > deadline_ns) {
            state.timer_ns = Some(deadline_ns);
            self.network.events.schedule(deadline_ns, NetworkEvent::Timer { flow: place });
        }
    }

    fn look_at_timer(&mut self, place: u32, now_ns: u64) {
        let Some(state) = self.flows.get_mut(place) else { return };
        if state.timer_ns != Some(now_ns) {
            return;
        }
        state.timer_ns = None;
        if state.deadline_ns().is_some_and(|deadline_ns| deadline_ns <= now_ns) {
            match state.phase {
                Phase::Connecting => {
                    state.handshake_repeats += 1;
                    let tuning = self.settings.fabric.tuning(&state.flow);
                    let by_ns = tuning.handshake_by_ns(now_ns, state.handshake_repeats);
                    state.connect_by_ns = Some(by_ns);
                    let syn = state.syn(place, now_ns);
                    self.network.send(syn, now_ns);
                }
                Phase::Sending => {
                    state.sender.time_out(now_ns, &mut self.segments);
                    return self.flush(place, now_ns);
                }
            }
        }
        self.arm_timer(place);
    }

    /// A packet has reached its server.
    fn receive<S: FabricObserver>(&mut self, packet: u32, now_ns: u64, sink: &mut S) {
        let arrived = *self.network.packets.get(packet);
        self.network.packets.release(packet);
        let place = arrived.flow;
        match arrived.kind {
            PacketKind::Data => self.receive_data(&arrived, now_ns, sink),
            PacketKind::Ack => self.receive_ack(&arrived, now_ns),
            PacketKind::Nack => {
                if let Some(state) = self.flows.get_mut(place) {
                    state.sender.trimmed(arrived.segment, now_ns, &mut self.segments);
                    self.flush(place, now_ns);
                }
            }
            // Unresponsive senders connect to nobody, and repeat nothing.
            PacketKind::Syn | PacketKind::Trimmed => {
                if let Some(state) = self.flows.get(place)
                    && state.flow.transport != Transport::Unresponsive
                {
                    let answer = state.answer(place, &arrived, now_ns);
                    self.network.send(answer, now_ns);
                }
            }
            PacketKind::SynAck => {
                if let Some(state) = self.flows.get_mut(place)
                    && state.phase == Phase::Connecting
                {
                    state.connect();
                    self.go_on(place, now_ns);
                }
            }
        }
        self.release_if_over(place, now_ns, sink);
    }

    fn receive_data<S: FabricObserver>(&mut self, packet: &Packet, now_ns: u64, sink: &mut S) {
        let Some(state) = self.flows.get_mut(packet.flow) else { return };
        let bytes = packet.size_bytes - self.settings.fabric.config().header_bytes;
        let before = state.receiver.received_bytes();
        state.receiver.receive(packet.segment, bytes, packet.sent_ns);
        self.received_bytes += state.receiver.received_bytes() - before;
        if state.flow.transport != Transport::Unresponsive {
            let mut answer = state.answer(packet.flow, packet, now_ns);
            let is_marked = packet.flags & MARKED != 0;
            let is_reported = match state.flow.transport {
                Transport::Dcqcn => state.receiver.notifies(is_marked, now_ns),
                _ => state.receiver.reports_mark(packet.segment, is_marked),
            };
            if !is_reported {
                answer.flags &= !MARKED;
            }
            self.network.send(answer, now_ns);
        }
        if state.is_complete() && !state.is_reported {
            state.fct_ns = Some(now_ns - state.flow.start_ns);
            self.completed += 1;
            self.report(packet.flow, now_ns, sink);
        }
    }

    fn receive_ack(&mut self, packet: &Packet, now_ns: u64) {
        let Some(state) = self.flows.get_mut(packet.flow) else { return };
        let hops = match packet.trail {
            NO_TRAIL => &[][..],
            trail => self.network.trails.get(trail),
        };
        let ack = Ack {
            next: packet.segment,
            echo_ns: packet.sent_ns,
            is_marked: packet.flags & MARKED != 0,
            sack: packet.sack,
            sack_count: usize::from(packet.sack_count),
            hops,
        };
        state.sender.acknowledge(&ack, now_ns, &mut self.segments);
        if packet.trail != NO_TRAIL {
            self.network.trails.release(packet.trail);
        }
        self.flush(packet.flow, now_ns);
    }

    /// Reports a flow's end to sink and workload.
    fn report<S: FabricObserver>(&mut self, place: u32, now_ns: u64, sink: &mut S) {
        let Some(state) = self.flows.get_mut(place) else { return };
        state.is_reported = true;
        let record = state.record();
        sink.flow_ended(&record);
        self.workload.flow_ended(&record, now_ns, &mut self.follow_ups);
        let mut follow_ups = std::mem::take(&mut self.follow_ups);
        for flow in follow_ups.drain(..) {
            self.schedule_start(flow, now_ns, false);
        }
        self.follow_ups = follow_ups;
    }

    /// Frees a flow whose ends are done and whose packets have left the network.
    fn release_if_over<S: FabricObserver>(&mut self, place: u32, now_ns: u64, sink: &mut S) {
        let Some(state) = self.flows.get(place) else { return };
        let is_over = state.is_sent() && self.network.tags[place as usize].packets == 0;
        if !is_over {
            return;
        }
        if !state.is_reported {
            self.report(place, now_ns, sink);
        }
        self.under_way -= 1;
        if let Some(state) = self.flows.get_mut(place).take()
            && state.flow.connection == Connection::Reused
        {
            self.idle.entry(state.flow.ends()).or_default().push(state.keep());
        }
        self.flows.release(place);
    }

    fn sample<S: FabricObserver>(&mut self, now_ns: u64, sink: &mut S) {
        self.network.sample(now_ns, sink);
        if self.under_way > 0 || self.has_next || self.waiting.len() > 0 {
            let interval_ns = self.settings.fabric.config().sample_interval_ns;
            self.network.events.schedule(now_ns + interval_ns, NetworkEvent::Sample);
        }
    }

    /// Flows that have not completed, in order of start.
    pub(super) fn report_rest<S: FabricObserver>(&mut self, sink: &mut S) {
        let rest = self.flows.all().flatten().filter(|state| !state.is_reported);
        let mut rest: Vec<_> = rest.map(FlowState::record).collect();
        rest.sort_unstable_by_key(|record| record.id);
        rest.iter().for_each(|record| sink.flow_ended(record));
    }

    pub(super) fn outcome(&self, end_ns: u64) -> SimulationOutcome {
        let NetworkCounts { sent, delivered, hops, marked, dropped } = self.network.counts;
        SimulationOutcome {
            end_ns,
            events: self.events,
            flows: self.started,
            completed: self.completed,
            packets_sent: sent,
            packets_delivered: delivered,
            packets_in_flight: self.network.packets.len() as u64,
            hops,
            marked,
            received_bytes: self.received_bytes,
            starting_ns: self.starts_ns.map_or(0, |(first_ns, last_ns)| last_ns - first_ns),
            received_while_starting_bytes: self.received_at_start_bytes,
            dropped,
        }
    }
}

#[cfg(test)]
mod tests;
