//! Reads packets with verdicts (`dropcast_rule_packets.csv`) and prints a verdict for each that arrives.

mod dropcast_rule_config;

use std::io::Read;

fn main() {
    let mut rule = dropcast_rule_config::init().expect("the constants of a switch");
    let per_port = dropcast_rule_config::CONSTANTS.alpha_128.len();
    let mut packets = String::new();
    std::io::stdin().read_to_string(&mut packets).expect("text");
    for line in packets.lines().skip(1) {
        let fields: Vec<u64> = line.split(',').map(|field| field.parse().expect("a number")).collect();
        let [now_ns, kind, port, queue, size_bytes, _] = fields[..] else { panic!("{line}") };
        let queue = port as usize * per_port + queue as usize;
        if kind == 1 {
            rule.departure(queue, size_bytes as u32, now_ns);
        } else {
            println!("{}", u8::from(rule.arrival(queue, size_bytes as u32, now_ns).accepts()));
        }
    }
    assert_eq!(size_of_val(&rule), SIZE);
}
