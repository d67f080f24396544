//! Captures without rules: whether their order can say their ports.

use crate::{Scratch, story};
use dropcast_data::{
    DataError, Event, EventFiles, EventOptions, InputNote, InputProvenance, read_switch_file,
};
use std::path::PathBuf;

const PORTS: u8 = 8;
/// A packet of 1,250 bytes takes 1 us at 10 Gbps.
const WIRE_NS: u64 = 1_000;

const SWITCH: &str = "ports = 8
line_rate_bps = 10_000_000_000
buffer_bytes = 200_000
base_rtt_ns = 20_000
";

/// A packet from one host to another. Host N has the address 10.0.N.1.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Packet {
    time_ns: u64,
    from: u8,
    to: u8,
}

impl Packet {
    fn frame(self) -> Vec<u8> {
        let mut bytes = vec![2, 0, 0, 0, 0, self.to, 2, 0, 0, 0, 0, self.from, 8, 0];
        bytes.extend([0x45, 0, 4, 0xd4, 0, 0, 0, 0, 64, 17, 0, 0]);
        bytes.extend([10, 0, self.from, 1, 10, 0, self.to, 1, 0, 7, 0, 9, 4, 0xc0, 0, 0]);
        bytes
    }
}

/// Each host sends at line rate, all of them to one host for a while, then to the next one.
fn sent(by_each: u64) -> Vec<Packet> {
    let mut packets: Vec<Packet> = (0..by_each)
        .flat_map(|i| {
            let to = (i / 40 % u64::from(PORTS)) as u8;
            let senders = (0..PORTS).filter(move |&from| from != to);
            senders.map(move |from| Packet { time_ns: i * WIRE_NS + u64::from(from) * 7, from, to })
        })
        .collect();
    packets.sort_unstable();
    packets
}

/// A capture of nanoseconds of the packets that it has.
fn capture(packets: &[Packet], has: impl Fn(&Packet) -> bool) -> Vec<u8> {
    let mut bytes = vec![0x4d, 0x3c, 0xb2, 0xa1, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    bytes.extend([0xff, 0xff, 0, 0, 1, 0, 0, 0]);
    for packet in packets.iter().filter(|packet| has(packet)) {
        let frame = packet.frame();
        let time_ns = packet.time_ns as u32;
        for number in [1, time_ns, frame.len() as u32, 1_250] {
            bytes.extend(number.to_le_bytes());
        }
        bytes.extend(frame);
    }
    bytes
}

/// One capture for each port, of the packets that it has.
fn captures(
    scratch: &Scratch,
    packets: &[Packet],
    has: impl Fn(u8, &Packet) -> bool,
) -> Vec<PathBuf> {
    let file = |port: u8| {
        let bytes = capture(packets, |packet| has(port, packet));
        scratch.file(&format!("p{port}.pcap"), bytes)
    };
    (0..PORTS).map(file).collect()
}

type Labelled = (Vec<Event>, Vec<InputProvenance>);

fn read(scratch: &Scratch, files: &[PathBuf], rules: &str) -> Result<Labelled, DataError> {
    let path = scratch.file("switch.toml", format!("{SWITCH}{rules}"));
    let file = read_switch_file(&path)?;
    let options =
        EventOptions { specs: Some(file.specs), maps: file.maps, ..EventOptions::default() };
    let mut files = EventFiles::open(files, &options)?;
    let mut events = Vec::new();
    for batch in files.by_ref() {
        events.extend(batch?.events);
    }
    Ok((events, files.provenance()))
}

/// What is wrong, and the draft of rules.
fn refused(scratch: &Scratch, files: &[PathBuf]) -> (String, String) {
    let Err(error) = read(scratch, files, "") else { panic!("they are taken for output ports") };
    let story = story(&error, scratch.0.path());
    let (problem, draft) = story.split_once(":\n\n").unwrap_or_else(|| panic!("{story}"));
    (problem.to_owned(), draft.to_owned())
}

fn notes(inputs: &[InputProvenance]) -> Vec<(InputNote, u64)> {
    let notes = inputs.iter().flat_map(|input| &input.notes);
    notes.map(|(note, packets)| (*note, *packets)).collect()
}

#[test]
fn ingress_captures_are_refused_with_rules_that_work() {
    let scratch = Scratch::new();
    let packets = sent(400);
    let ingress = captures(&scratch, &packets, |port, packet| packet.from == port);
    let (problem, draft) = refused(&scratch, &ingress);
    assert!(problem.starts_with("p0.pcap: holds packets for 10.0."), "{problem}");
    assert!(problem.contains("and so do 6 other captures"), "{problem}");
    for part in [
        "# p3.pcap, as port 3: 360 packets\n",
        "#   from 10.0.3.0/24 (360)\n",
        "#   from MAC 02:00:00:00:00:03 (360)\n",
        "port = 7\ndestination_ip = \"10.0.7.0/24\"",
    ] {
        assert!(draft.contains(part), "{part} is not in\n{draft}");
    }
    let (events, inputs) = read(&scratch, &ingress, &draft).unwrap();
    assert_eq!(events.len(), packets.len());
    let ports: Vec<u16> = packets.iter().map(|packet| packet.to.into()).collect();
    assert!(events.iter().map(|event| event.port).eq(ports));
    assert_eq!(notes(&inputs), [], "packets queue at the output ports");
}

#[test]
fn captures_by_destination_are_taken_by_their_order() {
    let scratch = Scratch::new();
    let packets = sent(400);
    let files = captures(&scratch, &packets, |port, packet| packet.to == port);
    let (events, inputs) = read(&scratch, &files, "").unwrap();
    let ports: Vec<u16> = packets.iter().map(|packet| packet.to.into()).collect();
    assert!(events.iter().map(|event| event.port).eq(ports));
    assert_eq!(notes(&inputs), []);
}

#[test]
fn captures_behind_the_buffer_are_refused_or_noted() {
    let scratch = Scratch::new();
    let mut packets = sent(400);
    let mut leaves_ns = [0_u64; PORTS as usize];
    for packet in &mut packets {
        let leaves_ns = &mut leaves_ns[usize::from(packet.to)];
        *leaves_ns = packet.time_ns.max(*leaves_ns + WIRE_NS);
        packet.time_ns = *leaves_ns;
    }
    packets.sort_unstable();
    let files = captures(&scratch, &packets, |port, packet| packet.to == port);
    let (problem, draft) = refused(&scratch, &files);
    assert!(problem.starts_with("p0.pcap: is one of 8 captures taken for output"), "{problem}");
    assert!(draft.contains("port = 7\nfile = \"p7.pcap\""), "{draft}");
    let (events, inputs) = read(&scratch, &files, &draft).unwrap();
    assert_eq!(notes(&inputs), [(InputNote::NoBacklog, events.len() as u64)]);
    assert!(inputs[0].notes.contains_key(&InputNote::NoBacklog), "the first capture has it");
}

#[test]
fn captures_of_both_directions_are_refused() {
    let scratch = Scratch::new();
    let both =
        captures(&scratch, &sent(400), |port, packet| [packet.from, packet.to].contains(&port));
    let (problem, draft) = refused(&scratch, &both);
    assert!(problem.contains("holds both directions between 10.0."), "{problem}");
    assert!(problem.contains("tcpdump -Q in"), "{problem}");
    assert!(draft.contains("#   to 10.0.") && !draft.contains("[[capture.port]]"), "{draft}");
}

#[test]
fn long_captures_are_refused_before_their_end() {
    let scratch = Scratch::new();
    let packets = sent(20_000);
    let ingress = captures(&scratch, &packets, |port, packet| packet.from == port);
    let file = read_switch_file(&scratch.file("switch.toml", SWITCH)).unwrap();
    let options = EventOptions { specs: Some(file.specs), ..EventOptions::default() };
    let mut read = 0;
    let mut files = EventFiles::open(&ingress, &options).unwrap();
    let error = files.find_map(|batch| match batch {
        Ok(batch) => {
            read += batch.events.len();
            None
        }
        Err(error) => Some(error),
    });
    assert!(error.unwrap().to_string().contains("holds packets for 10.0."));
    assert!(read < packets.len() * 3 / 4, "{read} of {} packets were read", packets.len());
}

/// Frames that a script makes up often have no addresses: these say nothing about ports.
#[test]
fn addresses_of_zeros_are_nobodys() {
    let scratch = Scratch::new();
    let packets = sent(400);
    let files = captures(&scratch, &packets, |port, packet| packet.to == port);
    for file in &files {
        let mut bytes = std::fs::read(file).unwrap();
        // A record has 16 bytes before its frame of 42.
        for record in bytes[24..].chunks_mut(16 + 42) {
            record[16..30].copy_from_slice(&[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x88, 0xb5]);
        }
        std::fs::write(file, bytes).unwrap();
    }
    let (events, _) = read(&scratch, &files, "").unwrap();
    assert_eq!(events.len(), packets.len());
}
