//! What each set of features costs a chip, beside how well its forests carry over; the page is
//! `docs/verilog.md`.
//!
//!     cargo run --release -p dropcast-lab --example chip_features -- F1.json FOLDER
//!
//! `F1.json` is what `dev/benches/leave_one_trace_out.py --json` writes: by set and trace, the F1 of each seed.
//! Prints a table in Markdown and writes `chip-features-work.svg` and `chip-features-stages.svg` to the folder.
//! Without arguments it prints the costs alone.

use dropcast_features::{Chip, FeatureCost, FeatureSet};
use dropcast_reports::plot::{Axis, AxisScale, Draw, Labels, LineFigure, Page, Point, Series};
use std::collections::BTreeMap;
use std::error::Error;
use std::io::Write;
use std::path::Path;

/// The leaf of the Credence artifact: 20 ports with two queues each.
const LEAF: Chip = Chip { queues: 40, buffer_bytes: 1_052_672 };

/// A switch with more queues.
const LARGE: Chip = Chip { queues: 256, ..LEAF };

/// The set that others are compared with.
const DEFAULT: &str = "level4";

/// By set and trace, the F1 of each seed.
type Measured = BTreeMap<String, BTreeMap<String, Vec<f64>>>;

struct Row {
    name: String,
    cost: [FeatureCost; 2],
    /// Mean over traces, then mean and standard deviation over seeds.
    f1: Option<(f64, f64)>,
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let measured: Measured = match arguments.first() {
        Some(file) => serde_json::from_str(&std::fs::read_to_string(file)?)?,
        None => FeatureSet::named().map(|(name, _)| (name.to_owned(), BTreeMap::new())).collect(),
    };
    let mut rows = Vec::new();
    for (name, traces) in &measured {
        let set: FeatureSet = name.parse()?;
        let cost = [LEAF, LARGE].map(|chip| set.cost(chip));
        rows.push(Row { name: name.clone(), cost, f1: over_seeds(traces) });
    }
    rows.sort_by_key(|row| std::cmp::Reverse(work(row.cost[0])));
    let default: FeatureSet = DEFAULT.parse()?;
    write!(std::io::stdout().lock(), "{}", table(&rows, [LEAF, LARGE].map(|of| default.cost(of))))?;
    if let Some(folder) = arguments.get(1) {
        let work =
            figure(&rows, "operations and memory accesses for a packet", AxisScale::Log2, work);
        std::fs::write(Path::new(folder).join("chip-features-work.svg"), work)?;
        let stages = figure(&rows, "dependent stages", AxisScale::Linear, |cost| cost.stages);
        std::fs::write(Path::new(folder).join("chip-features-stages.svg"), stages)?;
    }
    Ok(())
}

/// What a packet takes: accesses and operations.
fn work(cost: FeatureCost) -> u32 {
    cost.accesses + cost.operations()
}

fn over_seeds(traces: &BTreeMap<String, Vec<f64>>) -> Option<(f64, f64)> {
    let seeds = traces.values().map(Vec::len).min().filter(|&seeds| seeds > 0)?;
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let of_seed = |seed: usize| mean(&traces.values().map(|f1| f1[seed]).collect::<Vec<_>>());
    let by_seed: Vec<f64> = (0..seeds).map(of_seed).collect();
    let middle = mean(&by_seed);
    let squares: f64 = by_seed.iter().map(|f1| (f1 - middle).powi(2)).sum();
    Some((middle, (squares / (seeds.max(2) - 1) as f64).sqrt()))
}

fn table(rows: &[Row], default: [FeatureCost; 2]) -> String {
    let mut text = format!(
        "| set | F1 | bytes a queue | bytes a switch | accesses | adders | comparators | multipliers | stages \
         | work, share of `{DEFAULT}`'s | the same, {} queues |\n|---|---|---|---|---|---|---|---|---|---|---|\n",
        LARGE.queues
    );
    for Row { name, cost, f1 } in rows {
        let FeatureCost {
            queue_bytes,
            switch_bytes,
            accesses,
            adders,
            comparators,
            multipliers,
            stages,
        } = cost[0];
        let f1 =
            f1.map_or_else(String::new, |(mean, deviation)| format!("{mean:.3} ({deviation:.3})"));
        let share = |at: usize| {
            format!("{:.0}%", 100.0 * f64::from(work(cost[at])) / f64::from(work(default[at])))
        };
        text += &format!(
            "| `{name}` | {f1} | {queue_bytes} | {switch_bytes} | {accesses} | {adders} | {comparators} \
             | {multipliers} | {stages} | {} | {} |\n",
            share(0),
            share(1)
        );
    }
    text
}

fn figure(rows: &[Row], label: &str, scale: AxisScale, of: fn(FeatureCost) -> u32) -> String {
    let point = |row: &Row| {
        let (y, deviation) = row.f1?;
        let interval = Some((y - deviation, y + deviation));
        let label = Some(row.name.clone());
        Some(Point { interval, label, ..Point::new(f64::from(of(row.cost[0])), y) })
    };
    let points: Vec<Point> = rows.iter().filter_map(point).collect();
    // Those that no cheaper one equals.
    let is_front =
        |point: &&Point| points.iter().all(|other| other.y <= point.y || other.x > point.x);
    let mut front: Vec<Point> = points.iter().filter(is_front).cloned().collect();
    front.sort_by(|one, other| one.x.total_cmp(&other.x));
    front.iter_mut().for_each(|point| point.label = None);
    let sets =
        Series { labels: Labels::AboveLeft, ..Series::new("sets of features", Draw::Marks, []) };
    LineFigure {
        title: format!("F1 on traces left out, against {label}"),
        description: format!(
            "Sets of features by the F1 of their forests and the {label}; those without a cheaper and better one \
             are joined"
        ),
        x: Axis::new(format!("{label}, {} queues", LEAF.queues)).scale(scale),
        y: Axis::new("mean F1"),
        series: vec![
            Series { points: front, ..Series::new("no cheaper one is as good", Draw::Steps, []) },
            Series { points, ..sets },
        ],
        notes: Vec::new(),
    }
    .to_svg(Page::Alone)
}
