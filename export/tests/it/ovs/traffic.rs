//! Models that replace each other while packets pass: each packet is decided by exactly one of them.

use super::{Switch, flows_of};
use crate::forests::{Shape, random_forest};
use crate::tools::{run, tool};
use dropcast_export::Vectors;
use dropcast_forest::Forest;
use std::fs;
use std::io::Write;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Features come in addresses; score and prediction leave in the first two bytes of those of Ethernet.
const OWN_FLOWS: &str = "\
table=0, priority=40000, ip, in_port=1, actions=move:NXM_OF_ETH_DST[0..31]->NXM_NX_REG0[],move:NXM_OF_ETH_SRC[0..31]->NXM_NX_REG1[],\
move:NXM_OF_IP_SRC[]->NXM_NX_REG2[],move:NXM_OF_IP_DST[]->NXM_NX_REG3[],resubmit(,100),\
move:NXM_NX_REG15[0..15]->NXM_OF_ETH_DST[32..47],move:NXM_NX_REG14[0..15]->NXM_OF_ETH_SRC[32..47],output:2
";

/// Packets under way at a time; a dummy port queues up to 100.
const WINDOW: usize = 50;

/// Bytes of a frame: Ethernet and IPv4 without a payload.
const FRAME: usize = 34;

/// Of a capture, and of each of its packets.
const CAPTURE_HEADERS: [usize; 2] = [24, 16];

/// A row and the score and the prediction that its packet left with.
type Answer = (Vec<u32>, u32, u32);

#[test]
fn each_packet_is_decided_by_one_model_while_bundles_replace_it() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let Some(traffic) = Traffic::start(folder.path()) else { return };
    let (mut of_first, mut of_second) = (0, 0);
    let answers = traffic.during(|switch, flows| {
        for turn in 0..60 {
            switch.ofctl(&["--bundle", "add-flows"], &[flows[turn % 2]]);
        }
    });
    let [first, second] = &traffic.forests;
    for (row, score, drop) in answers {
        let [is_first, is_second] = [first, second]
            .map(|of| (of.score(&row), u32::from(of.predicts_drop(&row))) == (score, drop));
        assert!(
            is_first || is_second,
            "a mixture gave {row:?} the score {score} and the prediction {drop}"
        );
        of_first += usize::from(is_first && !is_second);
        of_second += usize::from(is_second && !is_first);
    }
    assert!(of_first > 200 && of_second > 200, "{of_first} and {of_second}");
}

/// Why the page asks for a bundle; and that this file would notice a mixture.
#[test]
fn without_a_bundle_packets_meet_mixtures() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let Some(traffic) = Traffic::start(folder.path()) else { return };
    let answers = traffic.during(|switch, flows| {
        for turn in 0..4 {
            switch.ofctl(&["add-flows"], &[flows[turn % 2]]);
        }
    });
    let is_mixed =
        |(row, score, _): &&Answer| traffic.forests.iter().all(|of| of.score(row) != *score);
    assert!(answers.iter().filter(is_mixed).count() > 0, "none of {}", answers.len());
}

/// A switch with two ports, two models that differ on most rows, and their flows.
struct Traffic<'a> {
    switch: Switch<'a>,
    forests: [Forest; 2],
    rows: Vec<Vec<u32>>,
}

/// The files of the two models' flows.
const FLOWS: [&str; 2] = ["first.txt", "second.txt"];

impl<'a> Traffic<'a> {
    fn start(folder: &'a Path) -> Option<Self> {
        let switch = Switch::start(folder)?;
        let shape = Shape { trees: 4, depth: 4, features: 4, largest: 2_000_000, stops: 15 };
        let forests = [1, 2].map(|seed| random_forest(shape, seed));
        let rows = forests
            .iter()
            .flat_map(|forest| Vectors::new(forest, 1, 300).expect("sound").rows().to_vec());
        let traffic = Traffic { switch, rows: rows.collect(), forests };
        // A port whose packets a thread of its own handles, while the main thread changes flows.
        let port = |name: &str, number: u32, option: String| {
            let mut vsctl = tool("ovs-vsctl", folder).expect("as the daemons");
            vsctl.arg(format!("--db=unix:{}", folder.join("db.sock").display()));
            vsctl.args(["add-port", "br0", name, "--", "set", "interface", name, "type=dummy-pmd"]);
            run(vsctl.arg(format!("ofport_request={number}")).arg(option));
        };
        port("p1", 1, format!("options:pstream=punix:{}", folder.join("p1.sock").display()));
        port("p2", 2, format!("options:tx_pcap={}", folder.join("out.pcap").display()));
        traffic.switch.wait_for("p1.sock");
        fs::write(folder.join("own.txt"), OWN_FLOWS).expect("written");
        traffic.switch.ofctl(&["add-flows"], &["own.txt"]);
        for (forest, file) in traffic.forests.iter().zip(FLOWS) {
            fs::write(folder.join(file), flows_of(forest).expect("exportable")).expect("written");
        }
        traffic.switch.ofctl(&["--bundle", "add-flows"], &[FLOWS[1]]);
        Some(traffic)
    }

    /// What becomes of packets that come all the time that this takes.
    fn during(&self, replace: impl FnOnce(&Switch<'_>, [&str; 2])) -> Vec<Answer> {
        let is_over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| self.send_until(&is_over));
            replace(&self.switch, FLOWS);
            is_over.store(true, Ordering::Relaxed);
        });
        let sent = fs::read(self.switch.folder.join("out.pcap")).expect("a capture");
        let [header, of_packet] = CAPTURE_HEADERS;
        sent[header..]
            .chunks_exact(of_packet + FRAME)
            .map(|packet| answer_of(&packet[of_packet..]))
            .collect()
    }

    fn send_until(&self, is_over: &AtomicBool) {
        let mut port = UnixStream::connect(self.switch.folder.join("p1.sock")).expect("connected");
        let capture = self.switch.folder.join("out.pcap");
        let [header, of_packet] = CAPTURE_HEADERS;
        let mut sent = 0;
        for window in self.rows.chunks(WINDOW).cycle() {
            if is_over.load(Ordering::Relaxed) {
                return;
            }
            let frames: Vec<u8> = window.iter().flat_map(|row| framed(row)).collect();
            port.write_all(&frames).expect("written");
            sent += window.len();
            let start = Instant::now();
            let all = (header + sent * (of_packet + FRAME)) as u64;
            while fs::metadata(&capture).map_or(0, |file| file.len()) < all {
                assert!(start.elapsed() < Duration::from_secs(60), "packet {sent} did not leave");
                std::thread::sleep(Duration::from_micros(200));
            }
        }
    }
}

/// A frame as a dummy port reads it from its socket: after its length.
fn framed(row: &[u32]) -> Vec<u8> {
    let word = |at: usize| row[at].to_be_bytes();
    let ip = [0x45, 0, 0, 20, 0, 0, 0, 0, 64, 253, 0, 0];
    [
        (FRAME as u16).to_be_bytes().as_slice(),
        &[2, 0],
        &word(0),
        &[2, 0],
        &word(1),
        &[8, 0],
        &ip,
        &word(2),
        &word(3),
    ]
    .concat()
}

fn answer_of(frame: &[u8]) -> Answer {
    let word =
        |at: usize| u32::from_be_bytes([frame[at], frame[at + 1], frame[at + 2], frame[at + 3]]);
    let half = |at: usize| u32::from(u16::from_be_bytes([frame[at], frame[at + 1]]));
    (vec![word(2), word(8), word(26), word(30)], half(6), half(0))
}
