//! The loop: servers' devices and connections, the network, flows.

use crate::hosts::{Host, PORT, server};
use crate::network::{AnyModel, Network, SwitchCounts, WirePacket};
use crate::packet::Header;
use crate::settings::Settings;
use anyhow::{Context, Result, ensure};
use dropcast_data::random::uniform;
use dropcast_data::{Event, EventBatch, EventWriter, SwitchSpecs, write_atomic, write_set};
use dropcast_fabric::{Connections, Fabric, Flow, FlowClass, FlowRecord};
use dropcast_switch::{Packet, PolicySpec};
use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags, EpollTimeout};
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use nix::sys::time::TimeSpec;
use nix::sys::timerfd::{ClockId, Expiration, TimerFd, TimerFlags, TimerSetTimeFlags};
use nix::time::clock_gettime;
use std::collections::BTreeMap;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::fd::AsFd;
use std::path::Path;
use std::time::Duration;

/// Between the last answer's connection and the start of the list, nanoseconds.
const PAUSE_NS: u64 = 10_000_000;
/// A time that does not come.
const NEVER: u64 = u64::MAX;
/// What a connection is given to read or write at once, bytes.
const CHUNK_BYTES: usize = 1 << 20;

/// What became of a run.
pub struct RunOutcome {
    /// The flows, in order of start. Which timeouts the kernel had, it says of all together only.
    pub flows: Vec<FlowRecord>,
    /// What became of packets at the switch.
    pub counts: SwitchCounts,
    /// What the kernel counted, of all servers.
    pub kernel_counts: BTreeMap<String, u64>,
    /// Packet events at the switch, if they were wanted.
    pub events: Vec<Event>,
}

impl RunOutcome {
    /// Writes completion times to `flows` and, if they were wanted, packet events to `events`: where `flows` is, both are
    /// of one run.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub fn write(
        &mut self,
        flows: &Path,
        events: Option<&Path>,
        specs: &SwitchSpecs,
    ) -> Result<()> {
        let table = self.table();
        let Some(events) = events else { return Ok(write_atomic(flows, table.as_bytes())?) };
        let mut writer = EventWriter::create(events, specs)?;
        writer.write(&EventBatch::new(std::mem::take(&mut self.events)))?;
        Ok(write_set(flows, table.as_bytes(), || writer.finish())?)
    }

    /// Completion times as CSV, in the columns of the fabric's flows.
    pub fn table(&self) -> String {
        let mut text = "flow_id,start_ns,from_server,to_server,size_bytes,class,group,fct_ns,\
                        ideal_fct_ns,slowdown,received_bytes,retransmissions\n"
            .to_owned();
        for record in &self.flows {
            let FlowRecord { id, flow, ideal_fct_ns, received_bytes, retransmissions, .. } = record;
            let Flow { start_ns, from, to, size_bytes, .. } = flow;
            let class = match flow.class {
                FlowClass::Incast(number) => format!("incast,{number}"),
                _ => "single,".to_owned(),
            };
            let fct_ns = record.fct_ns.map_or_else(String::new, |ns| ns.to_string());
            let slowdown = record.slowdown().map_or_else(String::new, |times| times.to_string());
            text += &format!(
                "{id},{start_ns},{from},{to},{size_bytes},{class},{fct_ns},{ideal_fct_ns},{slowdown},{received_bytes},{retransmissions}\n"
            );
        }
        text
    }
}

/// Sends the flows of a list through a switch with this policy. A nanosecond of the network takes `time_scale` of the kernel's clock.
///
/// # Errors
/// If servers cannot be made, or the kernel breaks a connection.
pub fn run(
    settings: &Settings,
    fabric: &Fabric,
    flows: &[Flow],
    policy: &PolicySpec,
    time_scale: u64,
    keeps_events: bool,
) -> Result<RunOutcome> {
    let (_, most) = getrlimit(Resource::RLIMIT_NOFILE)?;
    let files = most.max(2 * flows.len() as u64 + 100);
    setrlimit(Resource::RLIMIT_NOFILE, files, files).with_context(|| {
        format!("each flow has two sockets: allow {files} open files (ulimit -n)")
    })?;
    let model = policy.model().map(|name| {
        let text =
            std::fs::read_to_string(name).with_context(|| format!("{name} cannot be read"))?;
        AnyModel::from_json(&text).with_context(|| name.to_owned())
    });
    let mut network = Network::new(fabric, policy, model.transpose()?.as_ref())?;
    if keeps_events {
        network.keep_events();
    }
    let hosts = (0..fabric.servers()).map(|number| Host::new(number, settings, time_scale));
    let testbed = Testbed {
        clock: Clock::new(time_scale)?,
        epoll: Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC)?,
        hosts: hosts.collect::<Result<_>>()?,
        network,
        sources: Vec::new(),
        connections: flows.iter().map(|_| Connection::default()).collect(),
        transfers: (0..).zip(flows).map(|(id, flow)| Transfer::new(id, flow, fabric)).collect(),
        reuses: settings.connections == Connections::Reused,
        idle: BTreeMap::new(),
        by_port: BTreeMap::new(),
        fabric,
        zero_ns: NEVER,
        next: 0,
        unfinished: flows.len(),
        buffer: vec![0; CHUNK_BYTES],
    };
    testbed.run()
}

/// The kernel's clock, as the network's time.
struct Clock {
    timer: TimerFd,
    began: Duration,
    time_scale: u64,
    set_ns: u64,
}

impl Clock {
    fn new(time_scale: u64) -> Result<Self> {
        let timer = TimerFd::new(ClockId::CLOCK_MONOTONIC, TimerFlags::TFD_CLOEXEC)?;
        let began = clock_gettime(nix::time::ClockId::CLOCK_MONOTONIC)?.into();
        Ok(Clock { timer, began, time_scale, set_ns: 0 })
    }

    fn now_ns(&self) -> Result<u64> {
        let now: Duration = clock_gettime(nix::time::ClockId::CLOCK_MONOTONIC)?.into();
        Ok((now - self.began).as_nanos() as u64 / self.time_scale)
    }

    /// The timer is due at this time.
    fn wake_at(&mut self, time_ns: u64) -> Result<()> {
        if self.set_ns != time_ns && time_ns != NEVER {
            let at = self.began + Duration::from_nanos(time_ns * self.time_scale);
            let at = Expiration::OneShot(TimeSpec::from_duration(at));
            self.timer.set(at, TimerSetTimeFlags::TFD_TIMER_ABSTIME)?;
            self.set_ns = time_ns;
        }
        Ok(())
    }
}

/// What epoll waits for.
#[derive(Clone, Copy)]
enum Source {
    Timer,
    Device(usize),
    Listener(usize),
    Sender(usize),
    Receiver(usize),
}

/// What is sent of a flow.
struct Transfer {
    record: FlowRecord,
    to_write: u64,
}

/// A connection, made for the flow with its number.
#[derive(Default)]
struct Connection {
    sender: Option<TcpStream>,
    receiver: Option<TcpStream>,
    /// The flow that it carries.
    carries: usize,
    /// The sequence number before the first byte's.
    first: u32,
    /// Bytes that the sender's kernel has sent at least once, and of them those of flows before this one.
    sent: u64,
    before: u64,
}

impl Transfer {
    fn new(id: u64, flow: &Flow, fabric: &Fabric) -> Self {
        let (flow, ideal_fct_ns) = (*flow, fabric.ideal_fct_ns(flow));
        let record = FlowRecord {
            id,
            flow,
            fct_ns: None,
            ideal_fct_ns,
            received_bytes: 0,
            timeouts: 0,
            retransmissions: 0,
        };
        Transfer { record, to_write: flow.size_bytes }
    }
}

impl Connection {
    /// Writes what the socket takes.
    fn write(&mut self, of: &mut Transfer, zeros: &[u8]) -> Result<()> {
        let Some(sender) = &mut self.sender else { return Ok(()) };
        while of.to_write > 0 {
            let bytes = of.to_write.min(zeros.len() as u64) as usize;
            let Some(written) = unless_blocked(sender.write(&zeros[..bytes]))? else { break };
            of.to_write -= written as u64;
        }
        Ok(())
    }

    /// Reads what has arrived; returns whether that was the last of it.
    fn read(&mut self, of: &mut Transfer, buffer: &mut [u8]) -> Result<bool> {
        let Some(receiver) = &mut self.receiver else { return Ok(false) };
        while let Some(read) = unless_blocked(receiver.read(buffer))? {
            ensure!(read > 0, "a connection ended early");
            of.record.received_bytes += read as u64;
            if read < buffer.len() {
                break;
            }
        }
        Ok(of.record.fct_ns.is_none() && of.record.received_bytes == of.record.flow.size_bytes)
    }

    /// The sender sends this; returns whether it is of the flow's first round trip.
    fn sends(&mut self, of: &mut Transfer, header: &Header, first_rtt_bytes: u64) -> bool {
        if header.is_syn {
            self.first = header.sequence;
        }
        // Modulo 2^32, as sequence numbers are.
        let begin = header.sequence.wrapping_sub(self.first).wrapping_sub(1);
        let end = u64::from(begin) + u64::from(header.payload_bytes);
        let is_data = header.payload_bytes > 0;
        of.record.retransmissions += u32::from(is_data && end <= self.sent);
        self.sent = self.sent.max(if is_data { end } else { 0 });
        is_data && end <= self.before + first_rtt_bytes
    }
}

struct Testbed<'a> {
    clock: Clock,
    epoll: Epoll,
    /// By the number that epoll keeps.
    sources: Vec<Source>,
    hosts: Vec<Host>,
    network: Network,
    connections: Vec<Connection>,
    transfers: Vec<Transfer>,
    /// Whether answers take connections that others have left.
    reuses: bool,
    /// Connections that answers have left, by sender and receiver.
    idle: BTreeMap<(u16, u16), Vec<usize>>,
    /// Flows by sender and its port.
    by_port: BTreeMap<(u16, u16), usize>,
    fabric: &'a Fabric,
    /// When the list begins; [`NEVER`] while its answers connect.
    zero_ns: u64,
    /// The next flow: to start, or before that, to connect.
    next: usize,
    unfinished: usize,
    buffer: Vec<u8>,
}

impl Testbed<'_> {
    fn run(mut self) -> Result<RunOutcome> {
        let edge = EpollFlags::EPOLLIN | EpollFlags::EPOLLET;
        watch(&self.epoll, &mut self.sources, &self.clock.timer, edge, Source::Timer)?;
        for (place, host) in self.hosts.iter().enumerate() {
            for (fd, source) in [
                (host.device.as_fd(), Source::Device(place)),
                (host.listener.as_fd(), Source::Listener(place)),
            ] {
                watch(&self.epoll, &mut self.sources, fd, EpollFlags::EPOLLIN, source)?;
            }
        }
        self.connect_next(self.clock.now_ns()?)?;
        let mut events = [EpollEvent::empty(); 256];
        while self.unfinished > 0 {
            let start_ns = self.transfers.get(self.next).map(|next| next.record.flow.start_ns);
            let at = |ns| self.zero_ns.saturating_add(ns);
            let end_ns = at(self.fabric.config().end_ns);
            let wake_ns = self.network.wake_ns().unwrap_or(NEVER);
            self.clock.wake_at(wake_ns.min(start_ns.map_or(end_ns, at)).min(end_ns))?;
            let ready = self.epoll.wait(&mut events, EpollTimeout::NONE)?;
            let now_ns = self.clock.now_ns()?;
            if now_ns >= end_ns {
                break;
            }
            self.network.advance(now_ns);
            while let Some(frame) = self.network.delivered(now_ns) {
                let device = &self.hosts[usize::from(frame.to)].device;
                device.send(&frame.bytes).context("a device takes no packet")?;
            }
            self.start(now_ns)?;
            for event in &events[..ready] {
                self.is_ready(self.sources[event.data() as usize], now_ns)?;
            }
        }
        let mut kernel_counts = BTreeMap::new();
        for host in &self.hosts {
            host.count(&mut kernel_counts)?;
        }
        let flows = self.transfers.iter().map(|of| of.record).collect();
        let counts = self.network.counts();
        Ok(RunOutcome { flows, counts, kernel_counts, events: self.network.into_events() })
    }

    /// Connects the next answer of an incast. After the last the list begins.
    fn connect_next(&mut self, now_ns: u64) -> Result<()> {
        let is_answer = |of: &Transfer| !of.record.flow.connects();
        match self.transfers[self.next..].iter().position(is_answer) {
            Some(after) => {
                self.next += after + 1;
                self.connect(self.next - 1)
            }
            None => {
                self.next = 0;
                self.zero_ns = now_ns + PAUSE_NS;
                Ok(())
            }
        }
    }

    fn connect(&mut self, place: usize) -> Result<()> {
        let flow = self.transfers[place].record.flow;
        let from = &mut self.hosts[usize::from(flow.from)];
        let (sender, port) = from.connect(flow.to, !flow.connects())?;
        self.by_port.insert((flow.from, port), place);
        let edge = EpollFlags::EPOLLOUT | EpollFlags::EPOLLET;
        watch(&self.epoll, &mut self.sources, &sender, edge, Source::Sender(place))?;
        let of = &mut self.connections[place];
        (of.sender, of.carries) = (Some(sender), place);
        Ok(())
    }

    /// Starts the flows that are due.
    fn start(&mut self, now_ns: u64) -> Result<()> {
        while let Some(of) = self.transfers.get_mut(self.next)
            && self.zero_ns.saturating_add(of.record.flow.start_ns) <= now_ns
        {
            let flow = of.record.flow;
            self.next += 1;
            if flow.connects() {
                self.connect(self.next - 1)?;
                continue;
            }
            let left = self.idle.get_mut(&(flow.from, flow.to)).and_then(Vec::pop);
            let connection = &mut self.connections[left.unwrap_or(self.next - 1)];
            (connection.carries, connection.before) = (self.next - 1, connection.sent);
            connection.write(of, &self.buffer)?;
        }
        Ok(())
    }

    fn is_ready(&mut self, source: Source, now_ns: u64) -> Result<()> {
        match source {
            Source::Timer => self.clock.set_ns = 0,
            Source::Device(host) => self.read_device(host, now_ns)?,
            Source::Listener(host) => self.accept(host)?,
            Source::Sender(place) => {
                let of = &mut self.connections[place];
                if self.zero_ns != NEVER {
                    of.write(&mut self.transfers[of.carries], &self.buffer)?;
                } else if place + 1 == self.next {
                    self.connect_next(now_ns)?;
                }
            }
            Source::Receiver(place) => {
                let connection = &mut self.connections[place];
                let of = &mut self.transfers[connection.carries];
                if connection.read(of, &mut self.buffer)? {
                    let flow = of.record.flow;
                    of.record.fct_ns = Some(now_ns - self.zero_ns - flow.start_ns);
                    self.unfinished -= 1;
                    if self.reuses && !flow.connects() {
                        self.idle.entry((flow.from, flow.to)).or_default().push(place);
                    }
                }
            }
        }
        Ok(())
    }

    fn accept(&mut self, host: usize) -> Result<()> {
        while let Some((stream, peer)) = unless_blocked(self.hosts[host].listener.accept())? {
            let SocketAddr::V4(peer) = peer else { continue };
            let [.., high, low] = peer.ip().octets();
            let from = server(u16::from_be_bytes([high, low]));
            let place = from.and_then(|from| self.by_port.get(&(from, peer.port())));
            let &place = place.context("an unknown connection")?;
            stream.set_nonblocking(true)?;
            let edge = EpollFlags::EPOLLIN | EpollFlags::EPOLLET;
            watch(&self.epoll, &mut self.sources, &stream, edge, Source::Receiver(place))?;
            self.connections[place].receiver = Some(stream);
        }
        Ok(())
    }

    /// Sends all that a server's kernel has written to its device.
    fn read_device(&mut self, host: usize, now_ns: u64) -> Result<()> {
        let first_rtt_bytes = self.fabric.bandwidth_delay_bytes();
        while let Some(bytes) = unless_blocked(self.hosts[host].device.recv(&mut self.buffer))? {
            let packet = &self.buffer[..bytes];
            let Some(header) = Header::read(packet) else { continue };
            let (Some(from), Some(to)) = (server(header.from), server(header.to)) else { continue };
            let is_forward = header.to_port == PORT;
            let end = if is_forward { (from, header.from_port) } else { (to, header.to_port) };
            let &place = self.by_port.get(&end).context("a packet of no flow")?;
            let connection = &mut self.connections[place];
            let of = &mut self.transfers[connection.carries];
            let is_first_rtt = is_forward && connection.sends(of, &header, first_rtt_bytes);
            let queue = if header.payload_bytes > 0 { of.record.flow.queue } else { 0 };
            let ecn = if header.is_ecn_capable { Packet::ECN_CAPABLE } else { 0 };
            let flags = ecn | if is_first_rtt { Packet::FIRST_RTT } else { 0 };
            let flow_hash =
                uniform(self.fabric.config().seed, &[place as u64, u64::from(is_forward)]).max(1);
            self.network.send(from, WirePacket::new(packet, to, queue, flow_hash, flags), now_ns);
        }
        Ok(())
    }
}

/// Lets epoll say when this is ready.
fn watch(
    epoll: &Epoll,
    sources: &mut Vec<Source>,
    what: impl AsFd,
    flags: EpollFlags,
    source: Source,
) -> Result<()> {
    epoll.add(what, EpollEvent::new(flags, sources.len() as u64))?;
    sources.push(source);
    Ok(())
}

/// A result, or `None` if it has to be waited for.
fn unless_blocked<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(None),
        result => result.map(Some),
    }
}
