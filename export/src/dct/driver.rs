//! @NAME_driver.rs: decides about packets, to check @NAME_decision.rs where it runs.
//!
//! Reads @NAME_packets.csv, which dropcast export --target vectors writes; prints 1 (accepted) or 0 for each packet that arrives.
//! Then dropcast verify MODEL --switch FILE --verdicts says whether that is what the model decides.

#[path = "@NAME_decision.rs"]
mod decision;

use decision::{SWITCH, State, init};

fn main() {
    let mut state = Box::new(State::NEW);
    let (ports, rates) = (SWITCH.line_rate_bps.len() as u32, SWITCH.line_rate_bps);
    let (queues, buffer) = (SWITCH.queues_per_port, SWITCH.buffer_bytes.into());
    let ready = init(&mut state, ports, queues, buffer, SWITCH.base_rtt_ns, rates);
    let mut credence = ready.expect("the switch of the file");
    // Names of columns come first.
    for line in std::io::stdin().lines().skip(1) {
        let line = line.expect("text");
        let mut numbers = line.split(',').map(|number| number.parse::<u64>().expect("a number"));
        let [now_ns, kind, port, queue, size_bytes] =
            [(); 5].map(|()| numbers.next().expect("five numbers"));
        let [port, queue, size_bytes] = [port, queue, size_bytes].map(|number| number as u32);
        if kind == 0 {
            let verdict = credence.arrival(port, queue, size_bytes, now_ns);
            println!("{}", u8::from(verdict.accepts()));
        } else {
            credence.departure(port, queue, size_bytes, now_ns);
        }
    }
}
