//! The strongest counterexample to Theorem 1 of the Credence paper: prints its numbers, and draws
//! `lab/notes/figures/theorem-1.svg` (`lab/notes/theory.md`).
//!
//! `cargo run --release -p dropcast-lab --example theorem_1 -- [FILE.svg]`

#![allow(clippy::print_stdout, reason = "a program that prints")]

#[path = "../tests/theory/starvation.rs"]
mod starvation;

use dropcast_data::SwitchSpec;
use dropcast_switch::{
    CredencePolicy, DynamicThresholds, Fit, FollowLqd, FollowMax, Lqd, NoObserver, OfflineOptimum,
    Packet, PaybackCredence, Policy, Recorded, Slotted, Switch, Victim,
};
use starvation::{Predicted, guarantees, most_extras, starvation};
use std::fmt::Display;
use std::io;

const COLUMNS: [&str; 7] = [
    "LQD",
    "FollowLQD without predicted drops",
    "Credence",
    "Credence that pays back",
    "FollowMax",
    "Dynamic Thresholds, alpha 8",
    "OPT",
];
/// Of those that are drawn.
const COLORS: [&str; 4] = ["#8a8a8a", "#1f77b4", "#d62728", "#2ca02c"];

fn main() -> io::Result<()> {
    println!("| N | B | rounds | {} | eta | LQD/Credence |", COLUMNS.join(" | "));
    for (ports, buffer, rounds) in
        [(3, 6, 200), (4, 12, 200), (8, 56, 200), (16, 240, 1000), (16, 1600, 2000)]
    {
        let sent = Course::of_all(ports, buffer, &of_most_extras(ports, buffer, rounds));
        let [lqd, follow, credence, pays_back, max, tuned, opt] = sent.map(|course| course.total());
        let ratio = |of: usize| lqd as f64 / of as f64;
        println!(
            "| {ports} | {buffer} | {rounds} | {lqd} | {follow} | {credence} | {pays_back} | {max} \
             | {tuned} | {opt} | {:.4} | {:.3} |",
            ratio(follow),
            ratio(credence),
        );
    }
    println!("| LQD / (N = 16, B = 240) | {} |", COLUMNS[1..].join(" | "));
    for (name, slots) in guarantees(16, 240) {
        let sent = Course::of_all(16, 240, &slots).map(|course| course.total() as f64);
        let ratios = sent[1..].iter().map(|own| format!("{:.3}", sent[0] / own));
        println!("| {name} | {} |", ratios.collect::<Vec<_>>().join(" | "));
    }
    if let Some(path) = std::env::args().nth(1) {
        std::fs::write(path, picture())?;
    }
    Ok(())
}

fn of_most_extras(ports: usize, buffer: usize, rounds: usize) -> Predicted {
    starvation(ports, buffer, most_extras(ports, buffer), rounds)
}

/// What a switch did, slot by slot.
struct Course {
    /// Packets accepted, or for LQD not lost, and held, after the arrivals of each slot.
    slots: Vec<Slot>,
}

struct Slot {
    transmitted: usize,
    lengths: Vec<u32>,
}

impl Course {
    /// In the order of [`COLUMNS`].
    fn of_all(ports: usize, buffer: usize, slots: &Predicted) -> [Course; COLUMNS.len()] {
        let spec = SwitchSpec::uniform(ports as u16, 1, buffer as u32, 1);
        let drops: Vec<bool> = slots.iter().flatten().map(|&(_, drop)| drop).collect();
        let predictor = || Recorded(|id: u64| drops[id as usize]);
        let (victim, fit, service) = (Victim::Tail, Fit::Exact, Slotted::default);
        let follow = FollowLqd::new(&spec, victim, fit, service());
        let credence = CredencePolicy::new(&spec, victim, fit, service(), predictor());
        let pays_back = PaybackCredence::new(&spec, victim, fit, service(), predictor());
        let quarter = spec.buffer_bytes / 4;
        let max = FollowMax::new(&spec, victim, fit, service(), predictor(), quarter);
        let packets = (0..)
            .zip(slots)
            .flat_map(|(now, packets)| packets.iter().map(move |(queue, _)| (now, *queue)));
        let opt = OfflineOptimum::slotted(ports, packets);
        [
            Course::run(&spec, slots, |_| true, Lqd::new(victim)),
            Course::run(&spec, slots, |drop| !drop, follow),
            Course::run(&spec, slots, |_| true, credence),
            Course::run(&spec, slots, |_| true, pays_back),
            Course::run(&spec, slots, |_| true, max),
            Course::run(&spec, slots, |_| true, DynamicThresholds::new(8.0)),
            Course::run(&spec, slots, |_| true, opt),
        ]
    }

    /// `is_shown`: whether packets are shown to the policy, by their prediction.
    fn run(
        spec: &SwitchSpec,
        slots: &Predicted,
        is_shown: impl Fn(bool) -> bool,
        policy: impl Policy,
    ) -> Self {
        let mut switch = Switch::new(spec, Fit::Exact, policy, Slotted::default());
        let mut course = Course { slots: Vec::new() };
        let mut transmitted = 0;
        let mut ids = 0..;
        for (now, packets) in (0..).zip(slots) {
            switch.advance(now, &mut NoObserver);
            for (&(queue, drop), id) in packets.iter().zip(ids.by_ref()) {
                if is_shown(drop) {
                    switch.admit(&Packet::new(id, queue, 1), now, &mut NoObserver);
                }
            }
            let lengths = switch.buffer().lengths().to_vec();
            // Every queue that is not empty sends one at the end of the slot.
            transmitted += lengths.iter().filter(|&&length| length > 0).count();
            course.slots.push(Slot { transmitted, lengths });
        }
        course
    }

    /// Packets transmitted, those still held at the end included.
    fn total(&self) -> usize {
        let last = self.slots.last().expect("a sequence has a slot");
        let held: u32 = last.lengths.iter().map(|&length| length.saturating_sub(1)).sum();
        last.transmitted + held as usize
    }
}

/// An SVG picture that stands alone.
struct Svg(String);

impl Svg {
    fn rect(&mut self, x: usize, y: usize, width: usize, height: usize, color: &str) {
        self.0.push_str(&format!(
            "<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" fill=\"{color}\"/>\n"
        ));
    }

    fn text(&mut self, x: usize, y: usize, size: usize, text: impl Display) {
        self.0.push_str(&format!(
            "<text x=\"{x}\" y=\"{y}\" font-size=\"{size}\" fill=\"#333\">{text}</text>\n"
        ));
    }

    fn line(&mut self, points: &[(usize, usize)], color: &str, width: usize) {
        let points: Vec<String> = points.iter().map(|(x, y)| format!("{x},{y}")).collect();
        let points = points.join(" ");
        self.0.push_str(&format!(
            "<polyline points=\"{points}\" fill=\"none\" stroke=\"{color}\" stroke-width=\"{width}\"/>\n"
        ));
    }
}

/// Left: what the buffers hold in the first slots at 4 ports; right: packets transmitted at 16.
fn picture() -> String {
    let mut svg =
        Svg("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 1000 430\" width=\"1000\" \
         height=\"430\" font-family=\"sans-serif\">\n<title>What a safeguard that is never paid \
         back costs</title>\n"
            .to_owned());
    svg.rect(0, 0, 1000, 430, "white");
    draw_buffers(&mut svg);
    draw_transmitted(&mut svg);
    svg.0.push_str("</svg>\n");
    svg.0
}

fn draw_buffers(svg: &mut Svg) {
    const PORTS: usize = 4;
    const BUFFER: usize = 12;
    const QUEUES: [&str; PORTS] = ["#d62728", "#1f77b4", "#ffbf00", "#2ca02c"];
    let slots = of_most_extras(PORTS, BUFFER, 4);
    let courses = Course::of_all(PORTS, BUFFER, &slots);
    let title = format!("Packets held, after arrivals: {PORTS} ports, buffer {BUFFER}");
    svg.text(10, 20, 15, title);
    let shown = [(0, "LQD"), (1, "FollowLQD without the predicted drops"), (2, "Credence")];
    let (width, height) = (40, 7);
    let left_of = |slot: usize| 14 + slot * (width + 4);
    for (row, (course, name)) in shown.into_iter().enumerate() {
        let base = 140 + 118 * row;
        svg.text(14, base - 92, 13, name);
        for (at, slot) in courses[course].slots.iter().enumerate() {
            let mut top = base;
            for (&length, color) in slot.lengths.iter().zip(QUEUES) {
                for _ in 0..length {
                    top -= height;
                    svg.rect(left_of(at), top + 1, width, height - 1, color);
                }
            }
            svg.line(&[(left_of(at), base + 1), (left_of(at) + width, base + 1)], "black", 1);
        }
        let full = base - BUFFER * height;
        svg.line(&[(10, full), (left_of(courses[course].slots.len()), full)], "#999", 1);
    }
    for at in 0..slots.len() {
        svg.text(left_of(at) + width / 2 - 4, 393, 12, at);
    }
    svg.text(14, 410, 12, "slot");
    for (queue, color) in QUEUES.into_iter().enumerate() {
        let x = 120 + 90 * queue;
        svg.rect(x, 401, 14, 9, color);
        svg.text(x + 19, 410, 12, format!("queue {queue}"));
    }
}

fn draw_transmitted(svg: &mut Svg) {
    const LEFT: usize = 630;
    const RIGHT: usize = 985;
    const TOP: usize = 40;
    const BOTTOM: usize = 385;
    let (ports, buffer, rounds) = (16, 240, 100);
    let courses = Course::of_all(ports, buffer, &of_most_extras(ports, buffer, rounds));
    let last = |course: &Course| course.slots.last().map_or(0, |slot| slot.transmitted);
    let most = courses[..COLORS.len()].iter().map(last).max().unwrap_or(0).next_multiple_of(500);
    let slots = courses[0].slots.len().next_multiple_of(50);
    let x = |slot: usize| LEFT + (RIGHT - LEFT) * slot / slots;
    let y = |packets: usize| BOTTOM - (BOTTOM - TOP) * packets / most;
    svg.text(570, 20, 15, format!("Packets transmitted: {ports} ports, buffer {buffer}"));
    svg.line(&[(LEFT, TOP), (LEFT, BOTTOM), (RIGHT, BOTTOM)], "#999", 1);
    for packets in (0..=most).step_by(500) {
        svg.line(&[(LEFT - 4, y(packets)), (LEFT, y(packets))], "#999", 1);
        svg.text(LEFT - 42, y(packets) + 4, 12, packets);
    }
    for slot in (0..=slots).step_by(50) {
        svg.line(&[(x(slot), BOTTOM), (x(slot), BOTTOM + 4)], "#999", 1);
        svg.text(x(slot) - 8, BOTTOM + 18, 12, slot);
    }
    svg.text((LEFT + RIGHT) / 2, 420, 12, "slot");
    // Three of them are one line to the eye: their widths differ.
    for (row, (at, width)) in [(0, 9), (1, 5), (3, 2), (2, 2)].into_iter().enumerate() {
        let points = courses[at].slots.iter().enumerate();
        let points: Vec<_> = points.map(|(slot, of)| (x(slot), y(of.transmitted))).collect();
        svg.line(&points, COLORS[at], width);
        let legend = TOP + 14 + 18 * row;
        svg.line(&[(LEFT + 12, legend - 4), (LEFT + 32, legend - 4)], COLORS[at], width);
        svg.text(LEFT + 38, legend, 12, COLUMNS[at]);
    }
}
