//! The loop: servers' devices and connections, the network, flows.

use crate::hosts::{Host, PORT, server};
use crate::network::{Counts, Frame, Network};
use crate::packet::Header;
use crate::settings::Settings;
use anyhow::{Context, Result, ensure};
use dropcast_data::Event;
use dropcast_data::random::uniform;
use dropcast_fabric::{Fabric, Flow, FlowClass};
use dropcast_switch::{Packet, PolicySpec};
use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags, EpollTimeout};
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use nix::sys::time::TimeSpec;
use nix::sys::timerfd::{ClockId, Expiration, TimerFd, TimerFlags, TimerSetTimeFlags};
use nix::time::clock_gettime;
use std::collections::BTreeMap;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

/// Between the last answer's connection and the start of the list, nanoseconds.
const PAUSE_NS: u64 = 10_000_000;
/// What a connection is given to read or write at once, bytes.
const CHUNK_BYTES: usize = 1 << 20;

/// What became of a run.
pub struct Outcome {
    /// By flow, in order of start: completion time, from its start to its last byte at the receiver, nanoseconds; payload that
    /// arrived, bytes; segments sent again.
    pub flows: Vec<(Option<u64>, u64, u32)>,
    /// What became of packets at the switch.
    pub counts: Counts,
    /// What the kernel counted, of all servers.
    pub kernel_counts: BTreeMap<String, u64>,
    /// Packet events at the switch, if they were wanted.
    pub events: Vec<Event>,
}

impl Outcome {
    /// Completion times as CSV, in the columns of the fabric's flows.
    pub fn table(&self, fabric: &Fabric, flows: &[Flow]) -> String {
        let row = |(id, (flow, (fct_ns, received_bytes, retransmissions))): (
            usize,
            (&Flow, &(Option<u64>, u64, u32)),
        )| {
            let Flow { start_ns, from, to, size_bytes, .. } = flow;
            let (class, group) = match flow.class {
                FlowClass::Incast(number) => ("incast", number.to_string()),
                _ => ("single", String::new()),
            };
            let ideal_ns = fabric.ideal_fct_ns(flow);
            let fct = fct_ns.map_or_else(String::new, |ns| ns.to_string());
            let slowdown =
                fct_ns.map_or_else(String::new, |ns| (ns as f64 / ideal_ns as f64).to_string());
            format!(
                "{id},{start_ns},{from},{to},{size_bytes},{class},{group},{fct},{ideal_ns},{slowdown},{received_bytes},{retransmissions}\n"
            )
        };
        let header = "flow_id,start_ns,from_server,to_server,size_bytes,class,group,fct_ns,ideal_fct_ns,slowdown,received_bytes,\
                      retransmissions\n";
        header.to_owned() + &flows.iter().zip(&self.flows).enumerate().map(row).collect::<String>()
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
) -> Result<Outcome> {
    let (_, most) = getrlimit(Resource::RLIMIT_NOFILE)?;
    let files = most.max(2 * flows.len() as u64 + 100);
    setrlimit(Resource::RLIMIT_NOFILE, files, files).with_context(|| {
        format!("each flow has two sockets: allow {files} open files (ulimit -n)")
    })?;
    let mut network = Network::new(fabric, policy)?;
    if keeps_events {
        network.keep_events();
    }
    let hosts = (0..fabric.servers()).map(|number| Host::new(number, settings, time_scale));
    let testbed = Testbed {
        clock: Clock::new(time_scale)?,
        epoll: Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC)?,
        hosts: hosts.collect::<Result<_>>()?,
        network,
        connections: flows.iter().map(Connection::new).collect(),
        by_port: BTreeMap::new(),
        first_rtt_bytes: fabric.bandwidth_delay_bytes(),
        seed: fabric.config().seed,
        end_ns: fabric.config().end_ns,
        zero_ns: None,
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
        if self.set_ns != time_ns {
            let at = self.began + Duration::from_nanos(time_ns * self.time_scale);
            let at = Expiration::OneShot(TimeSpec::from_duration(at));
            self.timer.set(at, TimerSetTimeFlags::TFD_TIMER_ABSTIME)?;
            self.set_ns = time_ns;
        }
        Ok(())
    }
}

/// What is ready, as a number that epoll keeps.
#[derive(Clone, Copy)]
enum Source {
    Timer,
    Device(usize),
    Listener(usize),
    Sender(usize),
    Receiver(usize),
}

impl Source {
    fn event(self, flags: EpollFlags) -> EpollEvent {
        let (kind, place) = match self {
            Source::Timer => (0, 0),
            Source::Device(place) => (1, place),
            Source::Listener(place) => (2, place),
            Source::Sender(place) => (3, place),
            Source::Receiver(place) => (4, place),
        };
        EpollEvent::new(flags, kind << 32 | place as u64)
    }

    fn of(event: &EpollEvent) -> Source {
        let place = event.data() as u32 as usize;
        match event.data() >> 32 {
            0 => Source::Timer,
            1 => Source::Device(place),
            2 => Source::Listener(place),
            3 => Source::Sender(place),
            _ => Source::Receiver(place),
        }
    }
}

/// A flow's connection.
struct Connection {
    flow: Flow,
    sender: Option<TcpStream>,
    is_connected: bool,
    receiver: Option<TcpStream>,
    to_write: u64,
    received: u64,
    fct_ns: Option<u64>,
    /// The sequence number before the first byte's.
    first: u32,
    /// Bytes that the sender's kernel has sent at least once.
    sent: u64,
    retransmissions: u32,
}

impl Connection {
    fn new(flow: &Flow) -> Self {
        Connection {
            flow: *flow,
            sender: None,
            is_connected: false,
            receiver: None,
            to_write: flow.size_bytes,
            received: 0,
            fct_ns: None,
            first: 0,
            sent: 0,
            retransmissions: 0,
        }
    }

    /// Writes what the socket takes.
    fn write(&mut self, zeros: &[u8]) -> Result<()> {
        let Some(sender) = &mut self.sender else { return Ok(()) };
        while self.to_write > 0 {
            let bytes = self.to_write.min(zeros.len() as u64) as usize;
            let Some(written) = unless_blocked(sender.write(&zeros[..bytes]))? else { break };
            self.to_write -= written as u64;
        }
        Ok(())
    }

    /// Reads what has arrived; returns whether the flow is complete now.
    fn read(&mut self, buffer: &mut [u8]) -> Result<bool> {
        let (Some(receiver), None) = (&mut self.receiver, self.fct_ns) else { return Ok(false) };
        while let Some(read) = unless_blocked(receiver.read(buffer))? {
            ensure!(read > 0, "a connection ended early");
            self.received += read as u64;
            if read < buffer.len() {
                break;
            }
        }
        Ok(self.received == self.flow.size_bytes)
    }

    /// A segment is sent; returns whether it is of the first round trip.
    fn sends(&mut self, header: &Header, first_rtt_bytes: u64) -> bool {
        if header.is_syn {
            self.first = header.sequence;
        }
        // Modulo 2^32, as are sequence numbers; a flow that is larger has no first round trip then.
        let end = u64::from(header.sequence.wrapping_sub(self.first).wrapping_sub(1))
            + u64::from(header.payload_bytes);
        if header.payload_bytes > 0 {
            self.retransmissions += u32::from(end <= self.sent);
            self.sent = self.sent.max(end);
        }
        end <= first_rtt_bytes
    }
}

struct Testbed {
    clock: Clock,
    epoll: Epoll,
    hosts: Vec<Host>,
    network: Network,
    connections: Vec<Connection>,
    /// Flows by sender and its port.
    by_port: BTreeMap<(u16, u16), usize>,
    first_rtt_bytes: u64,
    seed: u64,
    end_ns: u64,
    /// When the list began; `None` while its answers connect.
    zero_ns: Option<u64>,
    /// The next flow: to start, or before that, to connect.
    next: usize,
    unfinished: usize,
    buffer: Vec<u8>,
}

impl Testbed {
    fn run(mut self) -> Result<Outcome> {
        self.epoll.add(
            &self.clock.timer,
            Source::Timer.event(EpollFlags::EPOLLIN | EpollFlags::EPOLLET),
        )?;
        for (place, host) in self.hosts.iter().enumerate() {
            self.epoll.add(&host.device, Source::Device(place).event(EpollFlags::EPOLLIN))?;
            self.epoll.add(&host.listener, Source::Listener(place).event(EpollFlags::EPOLLIN))?;
        }
        self.connect_next(self.clock.now_ns()?)?;
        let mut events = [EpollEvent::empty(); 256];
        while self.unfinished > 0 {
            let start_ns = self
                .zero_ns
                .and_then(|zero_ns| Some(zero_ns + self.connections.get(self.next)?.flow.start_ns));
            let end_ns = self.zero_ns.map(|zero_ns| zero_ns + self.end_ns);
            if let Some(wake_ns) =
                [start_ns, self.network.wake_ns(), end_ns].into_iter().flatten().min()
            {
                self.clock.wake_at(wake_ns)?;
            }
            let ready = self.epoll.wait(&mut events, EpollTimeout::NONE)?;
            let now_ns = self.clock.now_ns()?;
            if end_ns.is_some_and(|end_ns| now_ns >= end_ns) {
                break;
            }
            self.network.advance(now_ns);
            while let Some(frame) = self.network.delivered(now_ns) {
                self.hosts[usize::from(frame.to)]
                    .device
                    .send(&frame.bytes)
                    .context("a device takes no packet")?;
            }
            self.start(now_ns)?;
            for event in &events[..ready] {
                self.is_ready(Source::of(event), now_ns)?;
            }
        }
        let mut kernel_counts = BTreeMap::new();
        for host in &self.hosts {
            for (name, count) in host.kernel_counts()? {
                *kernel_counts.entry(name).or_default() += count;
            }
        }
        let flows = self.connections.iter().map(|of| (of.fct_ns, of.received, of.retransmissions));
        let (flows, counts) = (flows.collect(), self.network.counts());
        Ok(Outcome { flows, counts, kernel_counts, events: self.network.into_events() })
    }

    /// Connects the next answer of an incast. After the last the list begins.
    fn connect_next(&mut self, now_ns: u64) -> Result<()> {
        let is_answer = |of: &Connection| !of.flow.connects();
        match self.connections[self.next..].iter().position(is_answer) {
            Some(after) => {
                self.next += after + 1;
                self.connect(self.next - 1)
            }
            None => {
                self.next = 0;
                self.zero_ns = Some(now_ns + PAUSE_NS);
                Ok(())
            }
        }
    }

    fn connect(&mut self, place: usize) -> Result<()> {
        let of = &mut self.connections[place];
        let Flow { from, to, .. } = of.flow;
        let (sender, port) = self.hosts[usize::from(from)].connect(to, !of.flow.connects())?;
        self.by_port.insert((from, port), place);
        self.epoll.add(
            &sender,
            Source::Sender(place).event(EpollFlags::EPOLLOUT | EpollFlags::EPOLLET),
        )?;
        of.sender = Some(sender);
        Ok(())
    }

    /// Starts the flows that are due.
    fn start(&mut self, now_ns: u64) -> Result<()> {
        let Some(zero_ns) = self.zero_ns else { return Ok(()) };
        while let Some(of) = self.connections.get_mut(self.next)
            && zero_ns + of.flow.start_ns <= now_ns
        {
            self.next += 1;
            if of.flow.connects() {
                self.connect(self.next - 1)?;
            } else {
                of.write(&self.buffer)?;
            }
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
                let was_connected = std::mem::replace(&mut of.is_connected, true);
                if of.flow.connects() || was_connected {
                    of.write(&self.buffer)?;
                } else {
                    self.connect_next(now_ns)?;
                }
            }
            Source::Receiver(place) => {
                let of = &mut self.connections[place];
                if of.read(&mut self.buffer)? {
                    let zero_ns = self.zero_ns.context("a flow ends before the list begins")?;
                    of.fct_ns = Some(now_ns - zero_ns - of.flow.start_ns);
                    self.unfinished -= 1;
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
            self.epoll.add(
                &stream,
                Source::Receiver(place).event(EpollFlags::EPOLLIN | EpollFlags::EPOLLET),
            )?;
            self.connections[place].receiver = Some(stream);
        }
        Ok(())
    }

    /// Sends all that a server's kernel has written to its device.
    fn read_device(&mut self, host: usize, now_ns: u64) -> Result<()> {
        while let Some(bytes) = unless_blocked(self.hosts[host].device.recv(&mut self.buffer))? {
            let packet = &self.buffer[..bytes];
            let Some(header) = Header::read(packet) else { continue };
            let (Some(from), Some(to)) = (server(header.from), server(header.to)) else { continue };
            let is_forward = header.to_port == PORT;
            let end = if is_forward { (from, header.from_port) } else { (to, header.to_port) };
            let &place = self.by_port.get(&end).context("a packet of no flow")?;
            let of = &mut self.connections[place];
            let is_first_rtt = is_forward && of.sends(&header, self.first_rtt_bytes);
            let queue = if header.payload_bytes > 0 { of.flow.queue } else { 0 };
            let ecn = if header.is_ecn_capable { Packet::ECN_CAPABLE } else { 0 };
            let flags =
                ecn | if is_first_rtt && header.payload_bytes > 0 { Packet::FIRST_RTT } else { 0 };
            let flow_hash = uniform(self.seed, &[place as u64, u64::from(is_forward)]).max(1);
            self.network.send(from, Frame::new(packet, to, queue, flow_hash, flags), now_ns);
        }
        Ok(())
    }
}

/// A result, or `None` if it has to be waited for.
fn unless_blocked<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(None),
        result => result.map(Some),
    }
}
