//! Prints one byte for each arrival, its verdict. Checks that `init` refuses other switches.

#[path = "m_decision.rs"]
mod m_decision;

use dropcast_runtime::{NotReady, PacketVerdict};
use m_decision::{State, init};
use std::io::{Read, Write};

const PORTS: u32 = SWITCH_PORTS;
const QUEUES: u32 = SWITCH_QUEUES;
const BUFFER: u64 = SWITCH_BUFFER;
const RTT: u64 = SWITCH_RTT;

fn main() {
    let mut state = Box::new(State::NEW);
    let rates = vec![LINE_RATES];
    let mut others = rates.clone();
    others[0] += 1;
    let is = |found: Result<_, NotReady>, expected| {
        assert_eq!(found.map(|_| ()).unwrap_err(), expected);
    };
    is(init(&mut state, PORTS + 1, QUEUES, BUFFER, RTT, &rates).map(drop), NotReady::OtherPorts);
    is(init(&mut state, PORTS, QUEUES + 1, BUFFER, RTT, &rates).map(drop), NotReady::OtherQueues);
    is(init(&mut state, PORTS, QUEUES, BUFFER - 1, RTT, &rates).map(drop), NotReady::OtherBuffer);
    is(init(&mut state, PORTS, QUEUES, BUFFER, RTT + 1, &rates).map(drop), NotReady::OtherBaseRtt);
    is(init(&mut state, PORTS, QUEUES, BUFFER, RTT, &others).map(drop), NotReady::OtherLineRate);
    println!("{}", size_of::<State>());
    let mut credence = init(&mut state, PORTS, QUEUES, BUFFER, RTT, &rates).expect("it is ready");
    let mut records = Vec::new();
    std::io::stdin().read_to_end(&mut records).expect("records");
    let mut verdicts = Vec::new();
    for record in records.chunks_exact(24) {
        let word = |at: usize| u32::from_ne_bytes(record[4 * at..4 * at + 4].try_into().unwrap());
        let now_ns = u64::from(word(4)) | u64::from(word(5)) << 32;
        if word(0) == 0 {
            let verdict: PacketVerdict = credence.arrival(word(1), word(2), word(3), now_ns);
            verdicts.push(verdict as u8);
        } else {
            credence.departure(word(1), word(2), word(3), now_ns);
        }
    }
    assert_eq!(credence.unheld(), 0);
    std::io::stdout().write_all(&verdicts).expect("written");
}
