//! Traffic for a small switch under Credence, generated and decided without `std`: the same code
//! runs in the test and on the device.

use dropcast_runtime::{
    Credence, Field, Layout, MAGIC, Memory, PacketState, PacketVerdict, PortState, QueueState,
    Service, SwitchConstants, Table, VERSION, crc32,
};

const PORTS: usize = 4;
const BUFFER_BYTES: u32 = 60_000;
const PACKETS: u32 = 50_000;

/// The result of the traffic.
pub(crate) struct Digest {
    /// Hash of all verdicts and thresholds, in order.
    pub(crate) hash: u32,
    /// Number of each verdict.
    #[allow(dead_code, reason = "the device prints the hash only")]
    pub(crate) verdicts: [u32; 5],
}

/// Bytes of the table: two trees of depth 1 on two features.
const TABLE_BYTES: usize = 28 + 2 * 5 + 4 + 2;

/// Long queues and a full buffer together predict a drop.
fn table() -> Option<[u8; TABLE_BYTES]> {
    let layout = Layout::new(2, 1, 2).ok()?;
    let mut bytes = [0; TABLE_BYTES];
    bytes[Field::MAGIC].copy_from_slice(&MAGIC);
    bytes[Field::VERSION].copy_from_slice(&[VERSION]);
    bytes[Field::TREES].copy_from_slice(&2_u16.to_le_bytes());
    bytes[Field::DEPTH].copy_from_slice(&[1]);
    bytes[Field::FEATURES].copy_from_slice(&[2]);
    bytes[Field::VOTE_THRESHOLD].copy_from_slice(&300_u32.to_le_bytes());
    let (thresholds, columns) = (layout.thresholds(), layout.columns());
    bytes[thresholds.start..thresholds.start + 4].copy_from_slice(&17_000_u32.to_le_bytes());
    bytes[thresholds.start + 4..thresholds.end].copy_from_slice(&59_000_u32.to_le_bytes());
    bytes[columns].copy_from_slice(&[0, 1]);
    bytes[layout.weights()].copy_from_slice(&[10, 200, 20, 180]);
    bytes[layout.feature_codes()].copy_from_slice(&[0, 2]);
    let checksum = crc32(&bytes[Field::CHECKSUM.end..]).to_le_bytes();
    bytes[Field::CHECKSUM].copy_from_slice(&checksum);
    Some(bytes)
}

/// Decides on every packet; `None` if the table is invalid.
pub(crate) fn run() -> Option<Digest> {
    let bytes = table()?;
    let table = Table::parse(&bytes).ok()?;
    let (mut ports, mut queues) = ([PortState::IDLE; PORTS], [QueueState::EMPTY; PORTS]);
    let mut packets = [PacketState::FREE; BUFFER_BYTES as usize / 64];
    let switch = SwitchConstants {
        queues_per_port: 1,
        buffer_bytes: BUFFER_BYTES,
        base_rtt_ns: 25_200,
        line_rate_bps: &[10_000_000_000; PORTS],
        service: Service::RoundRobin,
        wire_overhead_bytes: 20,
        transmit_ring_packets: 0,
        slack_bytes: 0,
        reserved_bytes: &[],
        pushable: 1,
    };
    let memory = Memory {
        ports: &mut ports,
        queues: &mut queues,
        packets: &mut packets,
        heard_ns: &mut [],
        classes: &mut [],
        averages: &mut [],
        rings: &mut [],
        deficits: &mut [],
        reserves: &mut [],
    };
    let mut credence = Credence::with_table(switch, memory, table).ok()?;
    let mut digest = Digest { hash: 0, verdicts: [0; 5] };
    let (mut random, mut now_ns) = (1_u32, 0);
    for packet in 0..PACKETS {
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        // The load varies, and port 0 gets half of it.
        let port = if random >> 31 == 0 { 0 } else { (random >> 16) % PORTS as u32 };
        let size_bytes = 64 + (random >> 8) % 1437;
        let sends = if packet / 512 % 2 == 0 { packet % 3 == 0 } else { true };
        now_ns += if sends { 560 } else { 40 };
        let verdict = credence.arrival(port, 0, size_bytes, now_ns);
        digest.add(verdict as u32);
        digest.verdicts[verdict as usize] += 1;
        for port in (0..PORTS as u32).filter(|_| sends) {
            credence.departure(port, 0, 700, now_ns);
            digest.add(credence.threshold_bytes(port, 0) ^ credence.queue_bytes(port, 0));
        }
    }
    Some(digest)
}

impl Digest {
    /// FNV-1a by words.
    fn add(&mut self, value: u32) {
        self.hash = (self.hash ^ value).wrapping_mul(0x0100_0193);
    }
}

// The numbers of verdicts are part of the digest.
const _: () =
    assert!(PacketVerdict::Safeguarded as usize == 0 && PacketVerdict::PredictedDrop as usize == 4);
