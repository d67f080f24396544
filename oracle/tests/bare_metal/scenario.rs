//! Traffic for a small switch under Credence, generated and decided without `std`: the same code
//! runs in the test and on the device.

use dropcast_oracle::{
    Credence, Field, Layout, MAGIC, Table, VERSION, Verdict, VirtualLqd, VirtualPacket,
    VirtualQueue, crc32,
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
    let mut queues = [VirtualQueue::EMPTY; PORTS];
    let mut packets = [VirtualPacket::FREE; BUFFER_BYTES as usize / 64];
    let mut lengths = [0; PORTS];
    let lqd = VirtualLqd::new(BUFFER_BYTES, &mut queues, &mut packets);
    let mut credence = Credence::new(PORTS as u32, &mut lengths, lqd, table);

    let mut digest = Digest { hash: 0, verdicts: [0; 5] };
    let mut random = 1_u32;
    for packet in 0..PACKETS {
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        // The load varies, and queue 0 gets half of it.
        let queue = if random >> 31 == 0 { 0 } else { (random >> 16) as usize % PORTS };
        let size_bytes = 64 + (random >> 8) % 1437;
        let features = [credence.lqd().queue_bytes(queue), credence.lqd().occupancy_bytes()];
        let verdict = credence.arrives(queue, size_bytes, &features, |_, _| {});
        digest.add(verdict as u32);
        digest.verdicts[verdict as usize] += 1;
        let sends = if packet / 512 % 2 == 0 { packet % 3 == 0 } else { true };
        for port in (0..PORTS).filter(|_| sends) {
            if let Some(size_bytes) = credence.virtual_departs(port) {
                digest.add(size_bytes);
            }
            credence.departs(port, 700);
            digest.add(credence.lqd().queue_bytes(port) ^ credence.queue_bytes(port));
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
const _: () = assert!(Verdict::Safeguarded as usize == 0 && Verdict::PredictedDrop as usize == 4);
