//! What the testbed does by itself: headers, links, tables. Then, slow, the kernel.

use dropcast_data::random::{below, uniform};
use dropcast_data::{SwitchSpec, SwitchSpecs};
use dropcast_fabric::{Fabric, FabricConfig, FlowRecord};
use dropcast_linux::{Header, Network, RunOutcome, Settings, SwitchCounts, WirePacket, mark};
use flate2::read::GzDecoder;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Command;

/// RFC 1071: the sum of 16-bit words is 0xffff if the checksum among them is right.
fn sum(words: &[&[u8]]) -> u16 {
    let bytes = words.concat();
    let words =
        bytes.chunks(2).map(|word| u32::from(word[0]) << 8 | u32::from(*word.get(1).unwrap_or(&0)));
    let sum: u32 = words.sum();
    let sum = (sum & 0xffff) + (sum >> 16);
    ((sum & 0xffff) + (sum >> 16)) as u16
}

/// A segment with timestamps, as Linux's `tcp_output.c` lays it out.
fn segment(sequence: u32, payload: &[u8], flags: u8, ecn: u8) -> Vec<u8> {
    let length = (52 + payload.len()) as u16;
    let mut ip = vec![0x45, ecn, 0, 0, 0x12, 0x34, 0x40, 0, 64, 6, 0, 0, 10, 1, 0, 3, 10, 1, 1, 9];
    ip[2..4].copy_from_slice(&length.to_be_bytes());
    let checksum = !sum(&[&ip]);
    ip[10..12].copy_from_slice(&checksum.to_be_bytes());
    let mut tcp = vec![0x17, 0x70, 0x13, 0x88];
    tcp.extend(sequence.to_be_bytes());
    tcp.extend([0, 0, 0, 1, 0x80, flags, 1, 0, 0, 0, 0, 0, 1, 1, 8, 10, 0, 0, 0, 7, 0, 0, 0, 9]);
    tcp.extend(payload);
    let pseudo = [&ip[12..20], &[0, 6], &(length - 20).to_be_bytes()].concat();
    let checksum = !sum(&[&pseudo, &tcp]);
    tcp[16..18].copy_from_slice(&checksum.to_be_bytes());
    [ip, tcp].concat()
}

/// Of a run whose events cannot be written, no times are beside those of another.
#[test]
fn times_and_events_are_of_one_run() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    let specs = SwitchSpecs::Same(SwitchSpec::uniform(4, 1_000_000_000, 100_000, 8_000));
    let outcome = || RunOutcome {
        flows: Vec::new(),
        counts: SwitchCounts::default(),
        kernel_counts: Default::default(),
        events: Vec::new(),
    };
    outcome().write(&at("flows.csv"), Some(&at("events.parquet")), &specs).expect("written");
    assert!(at("flows.csv").exists() && at("events.parquet").exists());
    fs::write(at("flows.csv"), "of before").expect("written");
    outcome()
        .write(&at("flows.csv"), Some(&at("none/events.parquet")), &specs)
        .expect_err("no folder");
    assert_eq!(fs::read(at("flows.csv")).expect("there"), b"of before");
}

#[test]
fn headers_are_read() {
    let expected = Header {
        from: 3,
        to: 0x109,
        from_port: 6_000,
        to_port: 5_000,
        sequence: 0xfedc_ba98,
        payload_bytes: 5,
        is_syn: false,
        is_ecn_capable: true,
    };
    let data = segment(0xfedc_ba98, b"bytes", 0x10, 2);
    assert_eq!(Header::read(&data), Some(expected));
    let syn = segment(0xfedc_ba98, b"", 2, 0);
    let expected = Header { payload_bytes: 0, is_syn: true, is_ecn_capable: false, ..expected };
    assert_eq!(Header::read(&syn), Some(expected));
    assert_eq!(Header::read(&data[..data.len() - 1]), None, "not whole");
    let mut other = data.clone();
    other[9] = 17;
    assert_eq!(Header::read(&other), None, "UDP");
    for length in 0..data.len() {
        assert_eq!(Header::read(&data[..length]), None, "{length}");
    }
}

#[test]
fn a_mark_keeps_checksums_right() {
    for ecn in [1, 2, 3] {
        let mut packet = segment(7, b"odd", 0x10, ecn);
        mark(&mut packet);
        assert_eq!(packet[1] & 3, 3);
        assert_eq!(sum(&[&packet[..20]]), 0xffff);
        assert_eq!(packet[20..], segment(7, b"odd", 0x10, ecn)[20..]);
        let pseudo = [&packet[12..20], &[0, 6], &(packet.len() as u16 - 20).to_be_bytes()].concat();
        assert_eq!(sum(&[&pseudo, &packet[20..]]), 0xffff);
    }
}

fn fabric(leaf_buffer_bytes: u32, queues_per_port: u8) -> Fabric {
    let config = FabricConfig {
        leaves: 1,
        spines: 0,
        servers: 4,
        server_delay_ns: 8_000,
        leaf_buffer_bytes,
        queues_per_port,
        header_bytes: 52,
        wire_overhead_bytes: 38,
        jitter_ns: 0,
        ..FabricConfig::default()
    };
    Fabric::try_from(config).expect("valid")
}

fn network(fabric: &Fabric, policy: &str) -> Network {
    Network::new(fabric, &policy.parse().expect("a policy"), None).expect("it is built")
}

/// The frame of a segment; its hash is its number.
fn frame(number: u64, to: u16, payload_bytes: usize) -> WirePacket {
    WirePacket::new(&segment(0, &vec![0; payload_bytes], 0x10, 2), to, 0, number, 0)
}

/// Wakes the network when it asks to be, and returns when which packet arrives.
fn drain(network: &mut Network, mut until_ns: Option<u64>) -> Vec<(u64, u64)> {
    let mut delivered = Vec::new();
    while let Some(wake_ns) = network.wake_ns()
        && until_ns.is_none_or(|until_ns| wake_ns <= until_ns)
    {
        network.advance(wake_ns);
        while let Some(frame) = network.delivered(wake_ns) {
            delivered.push((wake_ns, frame.flow_hash));
        }
    }
    if let Some(until_ns) = until_ns.take() {
        network.advance(until_ns);
    }
    delivered
}

/// 10 Gbps, a link of 8 us on either side of the switch: each byte takes 0.8 ns on each.
#[test]
fn a_packet_takes_the_time_of_two_links() {
    let mut network = network(&fabric(260_000, 2), "complete-sharing");
    network.advance(1_000);
    network.send(0, frame(1, 3, 1_400), 1_000);
    network.send(0, frame(2, 3, 0), 1_000);
    let (data_ns, ack_ns) = (1_192, 72);
    let first_ns = 1_000 + 2 * (data_ns + 8_000);
    assert_eq!(drain(&mut network, None), [(first_ns, 1), (first_ns + ack_ns, 2)]);
    assert_eq!(network.wake_ns(), None);
}

/// Many packets, against links and ports as queues of their own. None is late for whoever sleeps until `wake_ns`.
#[test]
fn links_and_ports_serve_in_order() {
    let fabric = fabric(1 << 30, 1);
    let mut network = network(&fabric, "complete-sharing");
    let spec = fabric.switch_spec(0);
    let (mut now_ns, mut sent, mut delivered) = (0, Vec::new(), Vec::new());
    for number in 0..2_000 {
        let draw = |purpose, end| below(uniform(7, &[number, purpose]), end);
        now_ns += draw(0, 900);
        let (from, to, payload_bytes) = (draw(1, 4) as u16, draw(2, 4) as u16, draw(3, 1_400));
        delivered.extend(drain(&mut network, Some(now_ns)));
        network.send(from, frame(number, to, payload_bytes as usize), now_ns);
        sent.push((now_ns, number, from, to, spec.wire_time_ns(0, payload_bytes as u32 + 52)));
    }
    delivered.extend(drain(&mut network, None));

    let mut free_ns = [0; 4];
    let mut at_switch: Vec<_> = sent
        .iter()
        .map(|&(ns, number, from, to, wire_ns)| {
            let free_ns = &mut free_ns[usize::from(from)];
            *free_ns = ns.max(*free_ns) + wire_ns;
            (*free_ns + 8_000, number, to, wire_ns)
        })
        .collect();
    at_switch.sort();
    let mut free_ns = [0; 4];
    let mut expected: Vec<_> = at_switch
        .iter()
        .map(|&(ns, number, to, wire_ns)| {
            let free_ns = &mut free_ns[usize::from(to)];
            *free_ns = ns.max(*free_ns) + wire_ns;
            (*free_ns + 8_000, number)
        })
        .collect();
    expected.sort();
    delivered.sort();
    assert_eq!(delivered, expected);
}

/// Two servers send 30 packets each to a third, at once. When the last arrive, 31 have left the buffer, one of them for the transmit
/// ring; it holds 20.
#[test]
fn a_full_switch_drops_and_a_long_queue_is_marked() {
    let fabric = fabric(20 * 1_452, 2);
    let counts = |policy| {
        let mut network = network(&fabric, policy);
        for number in 0..30 {
            for server in [0, 1] {
                let frame = WirePacket::new(&segment(0, &[0; 1_400], 0x10, 2), 3, 1, number, 2);
                network.send(server, frame, 0);
            }
        }
        let delivered = drain(&mut network, None).len() as u64;
        let counts = network.counts();
        assert_eq!(counts.arrived, delivered + counts.dropped + counts.pushed_out);
        counts
    };
    let full = counts("complete-sharing");
    assert_eq!((full.arrived, full.dropped, full.pushed_out), (60, 9, 0));
    // 14,000 bytes are ten packets: those that come to a shorter queue are not marked.
    assert!((20..50).contains(&full.marked), "{full:?}");
    let pushed = counts("lqd:end=head");
    assert_eq!((pushed.dropped, pushed.pushed_out), (0, 9), "{pushed:?}");
}

fn write(folder: &Path, list: &str, more: &str) -> PathBuf {
    fs::write(folder.join("list.csv"), list).expect("written");
    let settings = format!(
        "flow_list = 'list.csv'\nflow_list_transport = 'cubic'\npolicies = ['lqd']\n{more}\n[fabric]\nleaves = 1\nspines = 0\n\
         servers = 4\nserver_delay_ns = 8_000\nheader_bytes = 52\nmin_rto_ns = 10_000_000\n"
    );
    let path = folder.join("settings.toml");
    fs::write(&path, settings).expect("written");
    path
}

const LIST: &str = "start_ns,src_host,dst_host,size_bytes,incast\n0,0,3,50000,0\n1000,1,3,24375,1\n1000,2,3,24375,1\n";

#[test]
fn a_list_becomes_the_columns_of_the_fabric() {
    let folder = tempfile::tempdir().expect("a folder");
    let (_, fabric, flows) = Settings::read(&write(folder.path(), LIST, "")).expect("valid");
    let record = |id, fct_ns, received_bytes, retransmissions| {
        let flow = flows[id as usize];
        let ideal_fct_ns = fabric.ideal_fct_ns(&flow);
        FlowRecord { id, flow, fct_ns, ideal_fct_ns, received_bytes, timeouts: 0, retransmissions }
    };
    let outcome = RunOutcome {
        flows: vec![
            record(0, Some(144_000), 50_000, 2),
            record(1, None, 1_400, 0),
            record(2, Some(35_500), 24_375, 0),
        ],
        counts: SwitchCounts::default(),
        kernel_counts: Default::default(),
        events: Vec::new(),
    };
    let expected = "flow_id,start_ns,from_server,to_server,size_bytes,class,group,fct_ns,ideal_fct_ns,slowdown,received_bytes,\
                    retransmissions\n\
                    0,0,0,3,50000,single,,144000,72000,2,50000,2\n\
                    1,1000,1,3,24375,incast,0,,35500,,1400,0\n\
                    2,1000,2,3,24375,incast,0,35500,35500,1,24375,0\n";
    assert_eq!(outcome.table(), expected);
}

#[test]
fn what_the_kernel_cannot_do_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let refused = |from: &str, to: &str, says: &str| {
        let path = write(folder.path(), LIST, "");
        let text = fs::read_to_string(&path).expect("text").replace(from, to);
        fs::write(&path, text).expect("written");
        let error = Settings::read(&path).expect_err(says).to_string();
        assert!(error.contains(says), "{error:?} should say {says:?}");
    };
    refused("leaves = 1", "leaves = 2", "fabric: spines");
    refused("leaves = 1\nspines = 0", "leaves = 2", "leaves: is 2, the testbed has one switch");
    refused("header_bytes = 52", "", "header_bytes: is 32");
    refused(
        "min_rto_ns = 10_000_000",
        "min_rto_ns = 1",
        "min_rto_ns: is 1, the kernel takes whole milliseconds",
    );
    refused("'cubic'", "'hpcc'", "is hpcc, expected cubic, dctcp or new-reno");
}

/// A column for each policy, and no flow is faster than its bytes on its link.
#[test]
fn fixtures_hold_what_their_settings_say() {
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    let paths = fs::read_dir(fixtures).expect("a folder").map(|file| file.expect("a file").path());
    let all: Vec<PathBuf> =
        paths.filter(|path| path.extension().is_some_and(|end| end == "toml")).collect();
    assert!(all.len() >= 12, "{}", all.len());
    for path in all {
        let folder = tempfile::tempdir().expect("a folder");
        let mut text = String::new();
        let packed = fs::File::open(path.with_extension("csv.gz")).expect("a table");
        GzDecoder::new(packed).read_to_string(&mut text).expect("text");
        let settings = folder.path().join(path.file_name().expect("a name"));
        fs::write(settings.with_extension("csv"), &text).expect("written");
        fs::copy(&path, &settings).expect("copied");
        let (settings, fabric, flows) = Settings::read(&settings).expect("valid");
        let mut lines = text.lines().map(|line| line.split(',').skip(5));
        let policies = settings.policies.iter().map(ToString::to_string);
        assert!(lines.next().expect("a header").eq(policies), "{}", path.display());
        for (flow, times) in flows.iter().zip(lines) {
            let ideal_ns = fabric.ideal_fct_ns(flow);
            let times: Vec<u64> = times.map(|ns| ns.parse().expect("it ended")).collect();
            assert_eq!(times.len(), settings.policies.len(), "{}: {flow:?}", path.display());
            assert!(
                times.iter().all(|&ns| ns >= ideal_ns),
                "{}: {flow:?}: {times:?}",
                path.display()
            );
        }
    }
}

/// On this machine's kernel, with time scaled, in a user namespace. Every kernel lets one have Reno.
#[test]
#[ignore = "slow"]
fn the_kernel_sends_a_list() {
    let folder = tempfile::tempdir().expect("a folder");
    for connections in ["new", "reused"] {
        sends_a_list(folder.path(), connections);
    }
}

/// The second and the third answer of a list are between the same servers, one after the other.
fn sends_a_list(folder: &Path, connections: &str) {
    let list = format!("{LIST}90000000,2,3,24375,1\n");
    let settings = write(folder, &list, &format!("connections = '{connections}'"));
    let text = fs::read_to_string(&settings).expect("text").replace("'cubic'", "'new-reno'");
    fs::write(&settings, text).expect("written");
    let output = folder.join("flows.csv");
    let program = env!("CARGO_BIN_EXE_dropcast-linux");
    let run = Command::new("unshare")
        .args(["--map-root-user", "--net", program])
        .arg(&settings)
        .arg("-o")
        .arg(&output)
        .output();
    let run = run.expect("unshare starts");
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    let table = fs::read_to_string(&output).expect("a table");
    let slowdowns = table
        .lines()
        .skip(1)
        .map(|line| line.split(',').nth(9).expect("a slowdown").parse::<f64>());
    let slowdowns: Vec<f64> = slowdowns.collect::<Result<_, _>>().expect("all flows ended");
    // Three flows share a link: each takes at least its own time, and less than a minimum timeout.
    assert_eq!(slowdowns.len(), 4);
    assert!(slowdowns.iter().all(|slowdown| (1.0..100.0).contains(slowdown)), "{slowdowns:?}");
    assert!(String::from_utf8_lossy(&run.stdout).starts_with("lqd: 4 flows, 0 unfinished"));
}
