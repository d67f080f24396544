//! Reads packets with verdicts (`dropcast_spare_tails_packets.csv`) and prints a verdict for each that arrives. The base is
//! Dynamic Thresholds.

mod dropcast_spare_tails_config;

use dropcast_runtime::spare_tails::{Arriving, FlowState, QueueBursts};
use dropcast_spare_tails_config::{CONSTANTS, FLOWS, QUEUES, init};
use std::io::Read;

/// By queue within a port.
const ALPHA: &[u64] = &ALPHAS;

/// Bytes beside the shared buffer that only the queue may use, by queue within a port.
const RESERVED_BYTES: &[u32] = &RESERVES;

fn main() {
    let (mut queues, mut flows) = ([QueueBursts::NONE; QUEUES], [FlowState::EMPTY; FLOWS]);
    let mut early = init(&mut queues, &mut flows).expect("the constants of a switch");
    let (mut lengths, mut occupancy_bytes) = ([0_u32; QUEUES], 0);
    let mut packets = String::new();
    std::io::stdin().read_to_string(&mut packets).expect("text");
    for line in packets.lines().skip(1) {
        let fields: Vec<u64> = line.split(',').map(|field| field.parse().expect("a number")).collect();
        let [now_ns, kind, port, class, size, flow_hash, _] = fields[..] else { panic!("{line}") };
        let (queue, size_bytes) = (port as usize * ALPHA.len() + class as usize, size as u32);
        let shared = |length: u32| length.saturating_sub(RESERVED_BYTES[class as usize]);
        let queue_bytes = shared(lengths[queue]);
        if kind == 1 {
            lengths[queue] -= size_bytes;
            occupancy_bytes -= queue_bytes - shared(lengths[queue]);
            continue;
        }
        let (after_bytes, free_bytes) = (lengths[queue] + size_bytes, CONSTANTS.buffer_bytes - occupancy_bytes);
        let size_bytes = shared(after_bytes) - queue_bytes;
        let is_below = u64::from(queue_bytes) < ALPHA[class as usize] * u64::from(free_bytes);
        let packet = Arriving { flow_hash, queue, size_bytes, queue_bytes, occupancy_bytes };
        let is_accepted = size_bytes == 0 || early.accepts(&packet, is_below && size_bytes <= free_bytes, now_ns);
        if is_accepted {
            lengths[queue] = after_bytes;
            occupancy_bytes += size_bytes;
        }
        println!("{}", u8::from(is_accepted));
    }
}
