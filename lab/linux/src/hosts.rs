//! Servers: network namespaces, set up with `ip`.

use crate::settings::Settings;
use anyhow::{Context, Result, ensure};
use nix::sched::{CloneFlags, setns, unshare};
use nix::sys::socket::{AddressFamily, SockFlag, SockType, SockaddrIn, bind, connect, socket};
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Write;
use std::net::{Ipv4Addr, SocketAddrV4, TcpListener, TcpStream};
use std::os::fd::AsRawFd;
use std::process::{Command, Stdio};
use tun_rs::{DeviceBuilder, SyncDevice};

/// Where servers listen.
pub(crate) const PORT: u16 = 5_000;
/// The port of a server's first connection as a sender; the others follow.
pub(crate) const FIRST_PORT: u16 = 6_000;
/// Packets that a device holds until they are read: more than any window.
const DEVICE_PACKETS: u32 = 20_000;

/// A window of the whole answer, and more.
const WHOLE_SEGMENTS: u32 = 1_000;

/// A server.
pub(crate) struct Host {
    number: u16,
    namespace: File,
    /// Connections as a sender, until now.
    connections: u16,
    pub(crate) device: SyncDevice,
    pub(crate) listener: TcpListener,
}

/// The address of a server, for answers of incasts or for other flows: they have routes of their own, thus windows.
fn address(server: u16, is_answer: bool) -> Ipv4Addr {
    Ipv4Addr::from(0x0a00_0001 + (u32::from(is_answer) << 16) + u32::from(server))
}

/// The server with an address that ends so.
pub(crate) fn server(end: u16) -> Option<u16> {
    end.checked_sub(1)
}

impl Host {
    /// A server in a new namespace, which the thread then is in.
    pub(crate) fn new(number: u16, settings: &Settings, time_scale: u64) -> Result<Host> {
        let is_allowed =
            "servers are network namespaces: be root, or start with `unshare --map-root-user`";
        unshare(CloneFlags::CLONE_NEWNET).context(is_allowed)?;
        let set = |name: &str, value: &str| {
            let file = format!("/proc/sys/net/{name}");
            fs::write(&file, value).with_context(|| format!("{file} does not take {value:?}"))
        };
        if fs::exists("/proc/sys/net/ipv6")? {
            set("ipv6/conf/all/disable_ipv6", "1")?;
            set("ipv6/conf/default/disable_ipv6", "1")?;
        }
        set("ipv4/tcp_congestion_control", settings.congestion_control()?)?;
        // Connections do not learn from earlier ones.
        set("ipv4/tcp_no_metrics_save", "1")?;
        set(
            "ipv4/tcp_slow_start_after_idle",
            if settings.fabric.slow_start_after_idle { "1" } else { "0" },
        )?;
        // An answer is written at once.
        set("ipv4/tcp_wmem", "4096 1048576 16777216")?;
        let device =
            DeviceBuilder::new().name("tun0").build_sync().context("there is no TUN device")?;
        device.set_nonblocking(true)?;
        let namespace = File::open("/proc/self/ns/net")?;
        let fabric = &settings.fabric;
        let (single, answer) = (address(number, false), address(number, true));
        let route = |to: Ipv4Addr, window: u32| {
            let rto_ms = fabric.min_rto_ns / 1_000_000 * time_scale;
            let prefix = Ipv4Addr::from(u32::from(to) & 0xffff_0000);
            format!("route add {prefix}/16 dev tun0 initcwnd {window} rto_min {rto_ms}ms")
        };
        let answer_window =
            if fabric.whole_answers { WHOLE_SEGMENTS } else { fabric.initial_window_segments };
        let mtu = fabric.segment_bytes + fabric.header_bytes;
        ip(&[
            "link set lo up".to_owned(),
            format!("addr add {single}/32 dev tun0"),
            format!("addr add {answer}/32 dev tun0"),
            format!("link set tun0 mtu {mtu} txqueuelen {DEVICE_PACKETS} up"),
            route(single, fabric.initial_window_segments),
            route(answer, answer_window),
        ])?;
        let listener = TcpListener::bind((Ipv4Addr::UNSPECIFIED, PORT))?;
        listener.set_nonblocking(true)?;
        Ok(Host { number, namespace, connections: 0, device, listener })
    }

    /// Connects to another server. Also returns the port it connects from.
    pub(crate) fn connect(&mut self, to: u16, is_answer: bool) -> Result<(TcpStream, u16)> {
        let port =
            self.connections.checked_add(FIRST_PORT).context("a server has too many flows")?;
        self.connections += 1;
        setns(&self.namespace, CloneFlags::CLONE_NEWNET)?;
        let flags = SockFlag::SOCK_NONBLOCK | SockFlag::SOCK_CLOEXEC;
        let stream = socket(AddressFamily::Inet, SockType::Stream, flags, None)?;
        let end =
            |server, port| SockaddrIn::from(SocketAddrV4::new(address(server, is_answer), port));
        bind(stream.as_raw_fd(), &end(self.number, port))?;
        match connect(stream.as_raw_fd(), &end(to, PORT)) {
            Ok(()) | Err(nix::errno::Errno::EINPROGRESS) => Ok((stream.into(), port)),
            Err(error) => Err(error).context("a server cannot connect"),
        }
    }

    /// Adds what the kernel counted here.
    pub(crate) fn count(&self, counts: &mut BTreeMap<String, u64>) -> Result<()> {
        setns(&self.namespace, CloneFlags::CLONE_NEWNET)?;
        let files =
            ["snmp", "netstat"].map(|name| fs::read_to_string(format!("/proc/self/net/{name}")));
        for text in files {
            // Lines come in pairs: names, values.
            let words: Vec<Vec<String>> =
                text?.lines().map(|line| line.split(' ').map(str::to_owned).collect()).collect();
            let pairs = words.chunks(2).flat_map(|pair| pair[0].iter().zip(&pair[1]));
            for (name, value) in pairs.filter(|(name, _)| KERNEL_COUNTS.contains(&name.as_str())) {
                *counts.entry(name.clone()).or_default() += value.parse::<u64>()?;
            }
        }
        Ok(())
    }
}

/// What the kernel counts and a run reports.
const KERNEL_COUNTS: [&str; 6] =
    ["OutSegs", "RetransSegs", "TCPTimeouts", "TCPLossProbes", "TCPSpuriousRTOs", "TCPDSACKRecv"];

/// Runs commands of `ip` in the thread's namespace.
fn ip(commands: &[String]) -> Result<()> {
    let mut child = Command::new("ip")
        .args(["-batch", "-"])
        .stdin(Stdio::piped())
        .spawn()
        .context("ip (iproute2) does not start")?;
    let mut input = child.stdin.take().context("ip has no input")?;
    input.write_all((commands.join("\n") + "\n").as_bytes())?;
    drop(input);
    ensure!(child.wait()?.success(), "ip failed at one of:\n{}", commands.join("\n"));
    Ok(())
}
