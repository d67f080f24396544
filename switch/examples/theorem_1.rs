//! The strongest counterexample to Theorem 1 of the Credence paper: prints its numbers, and draws
//! `docs/figures/theorem-1.svg` (`docs/theory.md`).
//!
//! `cargo run --release -p dropcast-switch --example theorem_1 -- [FILE.svg]`

#![allow(clippy::print_stdout, reason = "a program that prints")]

#[path = "../tests/theory/starvation.rs"]
mod starvation;

use dropcast_data::SwitchSpec;
use dropcast_switch::{
    Credence, Fit, FollowLqd, Lqd, NoObserver, Packet, PaybackCredence, Policy, Recorded, Slotted,
    Switch, Victim,
};
use plotters::prelude::*;
use starvation::{Predicted, starvation};
use std::error::Error;
use std::path::Path;

const COLUMNS: [&str; 4] =
    ["LQD", "FollowLQD without predicted drops", "Credence", "Credence that pays back"];
const COLORS: [RGBColor; 4] = [
    RGBColor(0x8a, 0x8a, 0x8a),
    RGBColor(0x1f, 0x77, 0xb4),
    RGBColor(0xd6, 0x27, 0x28),
    RGBColor(0x2c, 0xa0, 0x2c),
];

fn main() -> Result<(), Box<dyn Error>> {
    println!("| N | B | rounds | {} | eta | LQD/Credence | LQD/pays back |", COLUMNS.join(" | "));
    for (ports, buffer, rounds) in
        [(3, 6, 200), (4, 12, 200), (8, 56, 200), (16, 240, 1000), (16, 1600, 2000)]
    {
        let sent = Course::of_all(ports, buffer, &starvation(ports, buffer, rounds));
        let [lqd, follow, credence, pays_back] = sent.map(|course| course.total());
        let ratio = |of: usize| lqd as f64 / of as f64;
        println!(
            "| {ports} | {buffer} | {rounds} | {lqd} | {follow} | {credence} | {pays_back} \
             | {:.4} | {:.3} | {:.4} |",
            ratio(follow),
            ratio(credence),
            ratio(pays_back),
        );
    }
    if let Some(path) = std::env::args().nth(1) {
        draw(Path::new(&path))?;
    }
    Ok(())
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
    fn of_all(ports: usize, buffer: usize, slots: &Predicted) -> [Course; 4] {
        let spec = SwitchSpec::uniform(ports as u16, 1, buffer as u32, 1);
        let drops: Vec<bool> = slots.iter().flatten().map(|&(_, drop)| drop).collect();
        let predictor = || Recorded(|id: u64| drops[id as usize]);
        let (victim, fit, service) = (Victim::Tail, Fit::Exact, Slotted::default);
        let follow = FollowLqd::new(&spec, victim, fit, service());
        let credence = Credence::new(&spec, victim, fit, service(), predictor());
        let pays_back = PaybackCredence::new(&spec, victim, fit, service(), predictor());
        [
            Course::run(&spec, slots, |_| true, Lqd::new(victim)),
            Course::run(&spec, slots, |drop| !drop, follow),
            Course::run(&spec, slots, |_| true, credence),
            Course::run(&spec, slots, |_| true, pays_back),
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
                    switch.admit(&Packet { id, queue, size_bytes: 1 }, now, &mut NoObserver);
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

/// Left: what the buffers hold in the first slots at 4 ports; right: packets transmitted at 16.
fn draw(path: &Path) -> Result<(), Box<dyn Error>> {
    let root = SVGBackend::new(path, (1000, 430)).into_drawing_area();
    root.fill(&WHITE)?;
    let (left, right) = root.split_horizontally(560);
    draw_buffers(&left)?;
    draw_transmitted(&right)?;
    root.present()?;
    Ok(())
}

type Area<'a> = DrawingArea<SVGBackend<'a>, plotters::coord::Shift>;

fn text<'a>(size: i32) -> TextStyle<'a> {
    ("sans-serif", size).into_text_style(&(0, 0)).color(&RGBColor(0x33, 0x33, 0x33))
}

fn draw_buffers(area: &Area<'_>) -> Result<(), Box<dyn Error>> {
    const PORTS: usize = 4;
    const BUFFER: usize = 12;
    const QUEUES: [RGBColor; PORTS] = [
        RGBColor(0xd6, 0x27, 0x28),
        RGBColor(0x1f, 0x77, 0xb4),
        RGBColor(0xff, 0xbf, 0x00),
        RGBColor(0x2c, 0xa0, 0x2c),
    ];
    let slots = starvation(PORTS, BUFFER, 4);
    let courses = Course::of_all(PORTS, BUFFER, &slots);
    let title = format!("Packets held, after arrivals: {PORTS} ports, buffer {BUFFER}");
    area.draw_text(&title, &text(15), (10, 8))?;
    let shown = [(0, "LQD"), (1, "FollowLQD without the predicted drops"), (2, "Credence")];
    let (width, height) = (40, 7);
    for (row, (course, name)) in shown.into_iter().enumerate() {
        let base = 140 + 118 * row as i32;
        area.draw_text(name, &text(13), (14, base - 104))?;
        for (at, slot) in courses[course].slots.iter().enumerate() {
            let x = 14 + at as i32 * (width + 4);
            let mut y = base;
            for (&length, color) in slot.lengths.iter().zip(QUEUES) {
                for _ in 0..length {
                    let cell = [(x, y - height + 1), (x + width, y)];
                    area.draw(&Rectangle::new(cell, color.filled()))?;
                    y -= height;
                }
            }
            area.draw(&PathElement::new([(x, base + 1), (x + width, base + 1)], BLACK))?;
        }
        let full = base - BUFFER as i32 * height;
        let right = 14 + courses[course].slots.len() as i32 * (width + 4);
        area.draw(&PathElement::new([(10, full), (right, full)], BLACK.mix(0.4)))?;
    }
    for at in 0..slots.len() {
        let x = 14 + at as i32 * (width + 4) + width / 2 - 4;
        area.draw_text(&at.to_string(), &text(12), (x, 382))?;
    }
    area.draw_text("slot", &text(12), (14, 398))?;
    for (queue, color) in QUEUES.into_iter().enumerate() {
        let x = 120 + 90 * queue as i32;
        area.draw(&Rectangle::new([(x, 401), (x + 14, 409)], color.filled()))?;
        area.draw_text(&format!("queue {queue}"), &text(12), (x + 19, 398))?;
    }
    Ok(())
}

fn draw_transmitted(area: &Area<'_>) -> Result<(), Box<dyn Error>> {
    let (ports, buffer, rounds) = (16, 240, 100);
    let courses = Course::of_all(ports, buffer, &starvation(ports, buffer, rounds));
    let last = |course: &Course| course.slots.last().map_or(0, |slot| slot.transmitted);
    let most = courses.iter().map(last).max().unwrap_or(0);
    let slots = courses[0].slots.len();
    let title = format!("Packets transmitted: {ports} ports, buffer {buffer}");
    area.draw_text(&title, &text(15), (10, 8))?;
    let mut chart = ChartBuilder::on(area)
        .margin_top(34)
        .margin_right(14)
        .x_label_area_size(38)
        .y_label_area_size(50)
        .build_cartesian_2d(0..slots, 0..most)?;
    chart.configure_mesh().x_desc("slot").light_line_style(WHITE).draw()?;
    // Three of them are one line to the eye: widths tell them apart.
    for (at, width) in [(0, 9), (1, 5), (3, 2), (2, 2)] {
        let points = courses[at].slots.iter().enumerate().map(|(slot, of)| (slot, of.transmitted));
        let style = COLORS[at].stroke_width(width);
        chart
            .draw_series(LineSeries::new(points, style))?
            .label(COLUMNS[at])
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 18, y)], style));
    }
    let position = SeriesLabelPosition::UpperLeft;
    chart.configure_series_labels().position(position).background_style(WHITE).draw()?;
    Ok(())
}
