//! The flows that the Credence authors' ns-3 code was given, in this fabric: slowdowns beside ns-3's.
//!
//!     cargo run --release -p dropcast-simulate --example against_ns3 -- FOLDER [SEEDS]
//!
//! FOLDER holds `flows.csv` and `fct-ns3-*.csv`.
#![allow(clippy::print_stdout, clippy::unwrap_used)]

use dropcast_simulate::*;
use dropcast_switch::PolicySpec;
use std::io::BufReader;
use std::path::Path;

#[derive(Default)]
struct Flows(Vec<FlowRecord>, u64);
impl Sink for Flows {
    fn flow_ended(&mut self, record: &FlowRecord) {
        self.0.push(*record);
    }
    fn dropped(&mut self, drop: &dropcast_simulate::Drop) {
        self.1 += u64::from(drop.switch_id == 0);
    }
}

fn percentiles(mut slowdowns: Vec<f64>) -> String {
    slowdowns.sort_by(f64::total_cmp);
    let at = |p: f64| slowdowns[((slowdowns.len() - 1) as f64 * p).round() as usize];
    format!("{:7.1}/{:6.1}/{:6.1}", at(0.5), at(0.95), at(0.99))
}

fn line(rows: &[(u64, f64, bool)]) -> String {
    let pick = |f: &dyn Fn(&(u64, f64, bool)) -> bool| {
        percentiles(rows.iter().filter(|r| f(r)).map(|r| r.1).collect())
    };
    let late = rows.iter().filter(|r| r.2).collect::<Vec<_>>();
    let share = late.iter().filter(|r| r.1 * 71475.0 >= 1e7).count() as f64 / late.len() as f64;
    let mut steps = [0; 9];
    for r in rows.iter().filter(|r| r.2) {
        steps[((r.1 * 71475.0 / 1e7) as usize).min(8)] += 1;
    }
    println!("{steps:?}");
    format!(
        "{} | {} | {} | {:.1}%",
        pick(&|r| r.2),
        pick(&|r| !r.2 && r.0 <= 100_000),
        pick(&|r| !r.2 && r.0 >= 1_000_000),
        share * 100.0
    )
}

fn main() {
    let folder = std::env::args().nth(1).unwrap();
    let seeds: u64 = std::env::args().nth(2).map_or(1, |s| s.parse().unwrap());
    for (name, policy) in [
        ("lqd", "lqd"),
        ("cs", "complete-sharing"),
        ("followlqd", "follow-lqd"),
        ("credence-accept", "credence"),
        ("dt", "dt:alpha=[64,0.5]"),
        ("abm", "abm:alpha=[64,0.5],first_rtt_alpha=1024"),
    ] {
        let policy: PolicySpec = policy.parse().unwrap();
        let text = std::fs::read_to_string(Path::new(&folder).join(format!("fct-ns3-{name}.csv")))
            .unwrap();
        let rows: Vec<(u64, f64, bool)> = text
            .lines()
            .skip(1)
            .map(|l| {
                let c: Vec<&str> = l.split(',').collect();
                (c[1].parse().unwrap(), c[4].parse().unwrap(), c[5] == "1")
            })
            .collect();
        println!("{name:10} ns-3   {}", line(&rows));
        for seed in 1..=seeds {
            let file = std::fs::File::open(Path::new(&folder).join("flows.csv")).unwrap();
            let flows = FlowList::from_csv(BufReader::new(file), Transport::Dctcp, 1).unwrap();
            let fabric =
                Fabric::try_from(FabricConfig { seed, ..FabricConfig::default() }).unwrap();
            let mut sink = Flows::default();
            let begin = std::time::Instant::now();
            let simulation = Simulation::new(&fabric, |_, site| policy.build(site), flows).unwrap();
            let outcome = simulation.run(&mut sink).unwrap();
            let seconds = begin.elapsed().as_secs_f64();
            let rows: Vec<(u64, f64, bool)> = sink
                .0
                .iter()
                .map(|r| {
                    (r.flow.size_bytes, r.slowdown().unwrap(), r.flow.class != FlowClass::Single)
                })
                .collect();
            println!(
                "{name:10} seed {seed} {} leaf 0 drops {} all {} | {:.2} M hops/s {:.2} s ends {:.3} s hops {}",
                line(&rows),
                sink.1,
                outcome.all_dropped(),
                outcome.hops as f64 / seconds / 1e6,
                seconds,
                outcome.end_ns as f64 / 1e9,
                outcome.hops
            );
        }
    }
}
