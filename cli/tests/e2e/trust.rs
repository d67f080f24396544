//! What a report says before its numbers: captures of a leaf whose faults are known.

use crate::room::Room;
use dropcast_data::random::SplitMix64;
use serde_json::Value;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

const HOSTS: u16 = 8;
/// Of a frame of 1,514 bytes at 10 Gbps, with what it takes on the wire.
const WIRE_NS: u64 = 1_231;
const BUFFER_BYTES: u64 = 200_000;
const START_NS: u64 = 1_700_000_000_000_000_000;
const TCP: u8 = 6;
const UDP: u8 = 17;

/// A packet when it comes into the leaf, from host to host.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Packet {
    time_ns: u64,
    id: u16,
    from: u16,
    to: u16,
    /// Of the burst: a flow for each pair of hosts.
    flow: u16,
    sequence: u32,
    acknowledged: u32,
    bytes: u16,
}

/// What a leaf with Complete Sharing does: what arrives, whether it is dropped, and when it left.
struct Traffic {
    protocol: u8,
    packets: Vec<(Packet, Option<u64>)>,
}

impl Traffic {
    /// Bursts from many hosts to one, a millisecond apart; of TCP each packet is acknowledged.
    fn new(seed: u64, bursts: u16, protocol: u8) -> Self {
        let mut random = SplitMix64::new(seed);
        let mut coming = BinaryHeap::new();
        let (mut id, mut busy_ns) = (0_u16, [0; HOSTS as usize]);
        let mut next_id = || {
            id = id % u16::MAX + 1;
            id
        };
        for flow in 0..bursts {
            let to = random.between(0, u32::from(HOSTS) - 1) as u16;
            for from in (0..HOSTS).filter(|from| *from != to).skip(usize::from(flow % 2)) {
                let begin_ns =
                    START_NS + u64::from(flow) * 1_000_000 + u64::from(random.between(0, 5_000));
                for i in 0..40 {
                    let time_ns = begin_ns + i * WIRE_NS;
                    let sequence = i as u32 * 1_460 + 1;
                    let id = next_id();
                    coming.push(Reverse(Packet {
                        time_ns,
                        id,
                        from,
                        to,
                        flow,
                        sequence,
                        acknowledged: 1,
                        bytes: 1_460,
                    }));
                }
            }
        }
        let mut expected: BTreeMap<(u16, u16, u16), u32> = BTreeMap::new();
        let mut packets = Vec::new();
        while let Some(Reverse(packet)) = coming.pop() {
            let Packet { time_ns, from, to, flow, sequence, bytes, .. } = packet;
            let held_ns: u64 = busy_ns.iter().map(|busy: &u64| busy.saturating_sub(time_ns)).sum();
            let size = 54 + u64::from(bytes);
            if held_ns * 10 / 8 + size > BUFFER_BYTES {
                packets.push((packet, None));
                continue;
            }
            let port = &mut busy_ns[usize::from(to)];
            *port = (*port).max(time_ns) + (size + 24) * 8 / 10;
            packets.push((packet, Some(*port)));
            if bytes > 0 && protocol == TCP {
                let next = expected.entry((from, to, flow)).or_insert(1);
                if *next == sequence {
                    *next += u32::from(bytes);
                }
                let acknowledged = *next;
                let time_ns = *port + 5_000;
                let id = next_id();
                coming.push(Reverse(Packet {
                    time_ns,
                    id,
                    from: to,
                    to: from,
                    flow,
                    sequence: 1,
                    acknowledged,
                    bytes: 0,
                }));
            }
        }
        Traffic { protocol, packets }
    }

    fn dropped(&self) -> usize {
        self.packets.iter().filter(|(_, left)| left.is_none()).count()
    }

    /// What each host sends, at the link to the leaf.
    fn taps(&self) -> Vec<Vec<(u64, Vec<u8>)>> {
        let of = |host: u16| {
            let sent = self.packets.iter().filter(move |(packet, _)| packet.from == host);
            sent.map(|(packet, _)| (packet.time_ns, self.frame(packet))).collect()
        };
        (0..HOSTS).map(of).collect()
    }

    fn frame(&self, packet: &Packet) -> Vec<u8> {
        let Packet { id, from, to, flow, sequence, acknowledged, bytes, .. } = *packet;
        let mut frame = vec![2, 0, 0, 0, 0, to as u8, 2, 0, 0, 0, 0, from as u8, 8, 0, 0x45, 0];
        frame.extend((40 + bytes).to_be_bytes());
        frame.extend(id.to_be_bytes());
        frame.extend([0x40, 0, 64, self.protocol, 0, 0, 10, 0, from as u8, 1, 10, 0, to as u8, 1]);
        let (source, destination) = ports(flow, bytes);
        frame.extend(source.to_be_bytes());
        frame.extend(destination.to_be_bytes());
        frame.extend(sequence.to_be_bytes());
        frame.extend(acknowledged.to_be_bytes());
        frame.extend([0x50, 0x10, 0xff, 0xff, 0, 0, 0, 0]);
        frame.extend((54 + bytes).to_be_bytes());
        frame
    }

    /// What the leaf reports to drop.
    fn reports(&self) -> String {
        let protocol = if self.protocol == TCP { "tcp" } else { "udp" };
        let row = |packet: &Packet| {
            let Packet { time_ns, id, from, to, flow, bytes, .. } = *packet;
            let (source, destination) = ports(flow, bytes);
            format!(
                "{time_ns},10.0.{from}.1,10.0.{to}.1,{protocol},{source},{destination},{id},tail drop,{to}\n"
            )
        };
        let dropped = self.packets.iter().filter(|(_, left)| left.is_none());
        let rows: String = dropped.map(|(packet, _)| row(packet)).collect();
        format!(
            "time_ns,source_ip,destination_ip,protocol,source_port,destination_port,ip_id,reason,port\n{rows}"
        )
    }
}

/// Ports of data of a flow, or of its acknowledgements.
fn ports(flow: u16, bytes: u16) -> (u16, u16) {
    if bytes > 0 { (1_000 + flow, 80) } else { (80, 1_000 + flow) }
}

/// A capture; the last two bytes of each frame are its size on the wire.
fn pcap(packets: &[(u64, Vec<u8>)], shift_ns: u64) -> Vec<u8> {
    let word = |number: u64| (number as u32).to_le_bytes();
    let mut bytes: Vec<u8> = [0xa1b2_3c4d, 0x0004_0002, 0, 0, 65_535, 1].map(word).concat();
    let mut packets: Vec<_> = packets.to_vec();
    packets.sort();
    for (time_ns, frame) in packets {
        let (frame, size) = frame.split_at(frame.len() - 2);
        let size = u64::from(u16::from_be_bytes([size[0], size[1]]));
        let time_ns = time_ns + shift_ns;
        let numbers = [time_ns / 1_000_000_000, time_ns % 1_000_000_000, frame.len() as u64, size];
        bytes.extend(numbers.map(word).concat());
        bytes.extend(frame);
    }
    bytes
}

fn leaf(more: &str) -> String {
    let rules = (0..HOSTS).map(|host| {
        format!("[[capture.port]]\nport = {host}\ndestination_ip = '10.0.{host}.0/24'\n")
    });
    format!(
        "ports = 9\nline_rate_bps = 10_000_000_000\nbuffer_bytes = {BUFFER_BYTES}\nbase_rtt_ns = 20_000\n\
         wire_overhead_bytes = 24\n{more}\n{}",
        rules.collect::<String>()
    )
}

/// A room with the captures of all taps, of which some have a clock that is ahead.
fn room(traffic: &Traffic, ahead: &[u16], shift_ns: u64) -> Room {
    let room = Room::new();
    room.write("leaf.toml", leaf(""));
    room.write("drops.csv", traffic.reports());
    for (host, packets) in (0_u16..).zip(traffic.taps()) {
        let shift_ns = if ahead.contains(&host) { shift_ns } else { 0 };
        room.write(&format!("taps/tap{host}.pcap"), pcap(&packets, shift_ns));
    }
    room
}

fn collect(room: &Room, more: &str) -> Value {
    let taps: Vec<String> =
        room.files().into_keys().filter(|name| name.starts_with("taps/")).collect();
    room.good_with_notes(&format!(
        "collect --events {} --switch leaf.toml {more} -o t.parquet",
        taps.join(" ")
    ));
    serde_json::from_str(&room.good("report --data t.parquet --format json")).unwrap()
}

/// What a check found, and the evidence.
fn found<'a>(verdict: &'a Value, check: &str) -> (&'a str, &'a str) {
    let checks = verdict["checks"].as_array().unwrap();
    let result = checks.iter().find(|result| result["check"] == check).unwrap();
    (result["status"].as_str().unwrap(), result["evidence"].as_str().unwrap())
}

/// Text, page, line and gauges say that a check failed, and none of them gives advice.
fn is_untrusted(room: &Room, check: &str, first: &str) {
    let details = room.good("report --data t.parquet --details");
    let is_it =
        |line: &str| line.starts_with("Do not trust these numbers: ") && line.contains(first);
    assert!(details.lines().any(|line| is_it(line) && line.contains("What to do: ")), "{details}");
    let text = room.good("report --data t.parquet");
    let said = text.lines().nth(1).unwrap_or_default();
    assert!(said.starts_with("DO NOT TRUST these numbers: "), "{text}");
    for advice in ["\nSET ", "\nKEEP ", "against now"] {
        assert!(!text.contains(advice) && !details.contains(advice), "{advice}: {text}");
    }
    let page = room.good("report --data t.parquet --format html");
    assert!(
        page.contains("DO NOT TRUST these numbers") && !page.contains("class=\"lead\""),
        "{first}"
    );
    assert!(page.contains(first) && !page.contains("SET alpha"));
    let said = room.dropcast("report --data t.parquet --format line --fail-if untrusted");
    assert_eq!(said.code, Some(1), "{said}");
    let expected = [
        " trusted=0 ",
        &format!(" check_{check}=failed"),
        " advice=none advice_policy=null advice_alpha=null\n",
    ];
    assert!(expected.iter().all(|part| said.stdout.contains(part)), "{said}");
    let gauges = room.good("report --data t.parquet --format prometheus");
    assert!(gauges.contains("\ndropcast_trusted 0\n"), "{gauges}");
    assert!(gauges.contains(&format!("\ndropcast_check{{check=\"{check}\"}} 2\n")), "{gauges}");
    assert!(gauges.contains("\ndropcast_advice{decision=\"none\",policy=\"\"} 1\n"), "{gauges}");
    assert!(!gauges.contains("dropcast_advice_alpha"), "{gauges}");
}

#[test]
fn clean_captures_raise_no_alarm() {
    for seed in 0..20 {
        let traffic = Traffic::new(seed, 12, TCP);
        let room = room(&traffic, &[], 0);
        let verdict = collect(&room, "--drops drops.csv");
        for result in verdict["checks"].as_array().unwrap() {
            assert_eq!(result["status"], "ok", "{seed}: {result}");
        }
        let [own, real] =
            ["own", "real"].map(|of| verdict["counts"][of]["packets"].as_u64().unwrap());
        assert_eq!(real, traffic.dropped() as u64);
        assert!(real > 100 && own.abs_diff(real) * 20 < real, "{seed}: {own} {real}");
        let text = room.good("report --data t.parquet");
        let ok = "Trust    all checks are ok: clocks, taps, copies, rates, backlog, files, rows, drops, labels\n";
        assert!(text.contains(ok), "{text}");
        let gate = "report --data t.parquet --format line --fail-if untrusted";
        assert_eq!(room.dropcast(gate).code, Some(0));
    }
}

#[test]
fn clocks_that_are_ahead_are_named_and_no_advice_is_given() {
    let traffic = Traffic::new(1, 24, TCP);
    for drops in ["", "--drops drops.csv"] {
        let room = room(&traffic, &[2, 5, 6], 150_000);
        let verdict = collect(&room, drops);
        let (status, evidence) = found(&verdict, "clocks");
        assert_eq!(status, "failed");
        let begins = "the clocks of 3 of 8 captures differ from the others', at least: ";
        let (_, named) = evidence.split_once(begins).unwrap_or_else(|| panic!("{evidence}"));
        let (named, _) = named.split_once(" (").unwrap();
        let mut taps: Vec<&str> = named
            .split(", ")
            .map(|of| {
                let [tap, us, "us", "ahead"] = of.split(' ').collect::<Vec<_>>()[..] else {
                    panic!("{of}")
                };
                let us: f64 = us.parse().unwrap();
                assert!((1.0..=150.0).contains(&us), "{of}");
                tap
            })
            .collect();
        taps.sort_unstable();
        assert_eq!(taps, ["tap2.pcap", "tap5.pcap", "tap6.pcap"]);
        is_untrusted(&room, "clocks", "the clocks of 3 of 8 captures differ");
    }
}

/// Nothing shows that clocks of one-way traffic differ but that the switch drops what the replay does not.
#[test]
fn drops_that_the_replay_does_not_have_are_evidence_against_it() {
    let traffic = Traffic::new(3, 24, UDP);
    let good = room(&traffic, &[], 0);
    let verdict = collect(&good, "--drops drops.csv");
    assert_eq!((found(&verdict, "drops").0, found(&verdict, "clocks").0), ("ok", "not_checked"));
    // Half of each burst comes when the other half has left.
    let room = room(&traffic, &[1, 3, 5, 7], 120_000);
    let verdict = collect(&room, "--drops drops.csv");
    assert_eq!(found(&verdict, "clocks").0, "not_checked");
    assert!(
        verdict["counts"]["own"]["packets"].as_u64()
            < verdict["counts"]["real"]["packets"].as_u64()
    );
    let dropped = traffic.dropped();
    assert!((1_000..10_000).contains(&dropped), "{dropped}");
    let reported =
        format!("the switch reports {},{:03} dropped packets", dropped / 1_000, dropped % 1_000);
    is_untrusted(&room, "drops", &reported);
    assert_eq!(verdict["advice"]["decision"], "none");
}

#[test]
fn taps_that_are_missing_are_found_by_acknowledgements() {
    let traffic = Traffic::new(4, 24, TCP);
    let room = room(&traffic, &[], 0);
    for host in [2, 6] {
        std::fs::remove_file(room.path(&format!("taps/tap{host}.pcap"))).unwrap();
    }
    // A tap that works, of a link without packets, shows nothing for certain.
    room.write("taps/tap8.pcap", pcap(&[], 0));
    let verdict = collect(&room, "");
    let (status, evidence) = found(&verdict, "taps");
    assert_eq!(status, "failed");
    assert!(
        evidence.starts_with("no packet from behind ports 2, 6 of switch 0 was captured"),
        "{evidence}"
    );
    is_untrusted(&room, "taps", "no packet from behind ports 2, 6 of switch 0");
    for (host, packets) in (0..).zip(traffic.taps()).filter(|(host, _)| [2, 6].contains(host)) {
        room.write(&format!("taps/tap{host}.pcap"), pcap(&packets, 0));
    }
    let verdict = collect(&room, "");
    assert_eq!(found(&verdict, "taps"), ("doubtful", "1 capture without a packet: tap8.pcap"));
    let text = room.good("report --data t.parquet --details");
    assert!(text.contains("Beware: 1 capture without a packet: tap8.pcap. What to do: "), "{text}");
}

/// tcpdump on each host, in both directions.
#[test]
fn packets_that_are_captured_twice_are_a_failed_check() {
    let traffic = Traffic::new(5, 24, TCP);
    let room = room(&traffic, &[], 0);
    let mut taps = traffic.taps();
    for (packet, left_ns) in &traffic.packets {
        if let Some(left_ns) = left_ns {
            taps[usize::from(packet.to)].push((left_ns + 2_000, traffic.frame(packet)));
        }
    }
    for (host, packets) in taps.iter().enumerate() {
        room.write(&format!("taps/tap{host}.pcap"), pcap(packets, 0));
    }
    let verdict = collect(&room, "");
    let (status, evidence) = found(&verdict, "copies");
    assert_eq!(status, "failed");
    assert!(evidence.contains(", 0 within a capture and "), "{evidence}");
    let copies: u64 = evidence.split(' ').next().unwrap().replace(',', "").parse().unwrap();
    let truth = (traffic.packets.len() - traffic.dropped()) as u64;
    assert!(copies <= truth && copies * 100 > truth * 95, "{copies} of {truth}");
    is_untrusted(&room, "copies", "tcpdump -Q out");
}

/// Two uplinks bring more together than either could.
#[test]
fn hosts_behind_several_uplinks_may_bring_more_than_one_link() {
    let room = Room::new();
    room.write(
        "leaf.toml",
        leaf("") + "[[capture.port]]\nport = 8\ndestination_ip = '10.1.0.0/16'\n",
    );
    let traffic = Traffic { protocol: UDP, packets: Vec::new() };
    let uplink = |link: u16, times: u64| {
        let packet = |i: u64| {
            let (to, id) = (i as u16 % HOSTS, i as u16 * 2 + link + 1);
            let time_ns = START_NS + i * WIRE_NS;
            let packet = Packet {
                time_ns,
                id,
                from: link,
                to,
                flow: 0,
                sequence: 1,
                acknowledged: 1,
                bytes: 1_460,
            };
            let mut frame = traffic.frame(&packet);
            // 10.1.0.1
            frame[27] = 1;
            (time_ns, frame)
        };
        (0..times).map(packet).collect::<Vec<_>>()
    };
    let both = [uplink(0, 2_000), uplink(1, 2_000)];
    for (link, packets) in both.iter().enumerate() {
        room.write(&format!("taps/up{link}.pcap"), pcap(packets, 0));
    }
    assert_eq!(found(&collect(&room, ""), "rates").0, "ok");
    // In one file they look like one link.
    std::fs::remove_file(room.path("taps/up1.pcap")).unwrap();
    room.write("taps/up0.pcap", pcap(&both.concat(), 0));
    assert_eq!(found(&collect(&room, ""), "rates").0, "failed");
    is_untrusted(&room, "rates", "come earlier than the line rate of their sender's link allows");
}

/// Every leaf is switch 0 of its own description.
#[test]
fn two_leaves_are_never_added_up() {
    let room = Room::new();
    let trace = |leaf: &str, name: &str, packets: u64, trace: &str| {
        let rows: String = (0..packets).map(|i| format!("{i},{},1500\n", i % 2)).collect();
        room.write("events.csv", format!("time_ns,port,size_bytes\n{rows}"));
        room.write(
            "leaf.toml",
            format!("{name}ports = 3\nline_rate_bps = 1_000_000_000\nbuffer_bytes = {leaf}\nbase_rtt_ns = 10_000\n"),
        );
        room.good(&format!("collect --events events.csv --switch leaf.toml -o {trace}.parquet"));
    };
    trace("30_000", "", 100, "a");
    trace("60_000", "", 200, "b");
    trace("30_000", "name = 'leaf-7'\n", 300, "c");
    trace("30_000", "name = 'leaf-7'\n", 400, "d");
    let gauges =
        room.good("report --data a.parquet b.parquet c.parquet d.parquet --format prometheus");
    for line in [
        "dropcast_arrivals{name=\"0\",switch=\"0\"} 100",
        "dropcast_arrivals{name=\"1\",switch=\"0\"} 200",
        "dropcast_arrivals{name=\"leaf-7\",switch=\"0\"} 700",
    ] {
        assert!(gauges.contains(&format!("\n{line}\n")), "{line}: {gauges}");
    }
    assert_eq!(gauges.matches("\ndropcast_arrivals").count(), 3, "{gauges}");
    let drops = |name: &str, of: &str| -> u64 {
        let start = format!("dropcast_{of}{{name=\"{name}\",switch=\"0\"");
        let lines = gauges.lines().filter(|line| line.starts_with(&start));
        lines.map(|line| line.rsplit(' ').next().unwrap().parse::<u64>().unwrap()).sum()
    };
    for name in ["0", "1", "leaf-7"] {
        for of in ["switch_drops", "lqd_drops"] {
            assert!(drops(name, of) > 0, "{name} {of}: {gauges}");
            assert_eq!(drops(name, of), drops(name, &format!("port_{of}")), "{name} {of}");
        }
    }
    let line = room.good("report --data a.parquet b.parquet --format line");
    let lines: Vec<&str> = line.lines().collect();
    assert!(lines[0].starts_with("trace=a.parquet traces=2 "), "{line}");
    assert!(lines[1].starts_with("name=0 switch=0 arrivals=100 switch_drops="), "{line}");
    assert!(lines[2].starts_with("name=1 switch=0 arrivals=200 switch_drops="), "{line}");
    assert_eq!(room.good("report --data a.parquet --format line").lines().count(), 1);
    let named = String::from_utf8(room.read("leaf.toml")).unwrap();
    room.write("leaf.toml", named.replace("leaf-7", "7"));
    let said = room.dropcast("collect --events events.csv --switch leaf.toml -o e.parquet");
    assert_eq!(said.code, Some(1), "{said}");
    assert!(
        said.stderr.contains("name: expected letters, digits, -, _ and ., a letter first"),
        "{said}"
    );
}
