//! What Credence loses and gains with a drop oracle where the load changes, with and without falling
//! back: `cargo run --release -p dropcast-lab --example drift -- MODEL.json ...`
//!
//! Arguments like `8,0.5,0.625` are rules to compare: the bits of the window, the precision below which
//! it falls back, and that from which it recovers. Without one, the default rule is measured. `seed=N`
//! gives other traffic.
//!
//! Each scenario is traffic of a leaf that changes twice, in three parts of 80 ms; the first is what
//! `dropcast run` generates and trains on by default, with other seeds. Prints for each part what the
//! oracle transmits, with and without fallback, compared with no predictions (always accept), the
//! precision of predicted drops at its end, and after how many packets of the part the first drop was
//! predicted and the trust first changed.

use dropcast_arrivals::LeafWorkload;
use dropcast_data::{Event, SwitchSpec};
use dropcast_forest::{Forest, Model};
use dropcast_runtime::{DriftMonitor, DriftRule};
use dropcast_switch::{
    AlwaysAccept, CredencePolicy, Fit, LineRate, Live, Packet, Predictor, Switch, Victim,
};
use serde::de::IgnoredAny;
use std::error::Error;
use std::fmt::Write as _;
use std::io::Write as _;

const PART_NS: u64 = 80_000_000;

type Line<P> = Switch<CredencePolicy<LineRate, P>, LineRate>;

fn main() -> Result<(), Box<dyn Error>> {
    let mut out = std::io::stdout().lock();
    let (seeds, arguments): (Vec<String>, Vec<String>) =
        std::env::args().skip(1).partition(|argument| argument.starts_with("seed="));
    let seed = seeds.first().map_or(Ok(11), |text| text[5..].parse())?;
    let is_rule = |argument: &String| argument.contains(',');
    let (rules, paths): (Vec<String>, Vec<String>) = arguments.into_iter().partition(is_rule);
    let mut rules = rules.iter().map(|text| rule(text)).collect::<Result<Vec<_>, _>>()?;
    if rules.is_empty() {
        rules.push(DriftRule::default());
    }
    for path in paths {
        let model: Model<IgnoredAny> = Model::from_json(&std::fs::read_to_string(&path)?)?;
        let live = Live { features: model.features.clone(), oracle: model.forest.clone() };
        for (name, parts) in scenarios(seed) {
            writeln!(out, "{path}, {name}\n{}", replayed(&parts, &live, &rules)?)?;
        }
    }
    Ok(())
}

fn rule(text: &str) -> Result<DriftRule, Box<dyn Error>> {
    let numbers: Vec<f64> = text.split(',').map(str::parse).collect::<Result<_, _>>()?;
    let [window_bits, fall_below, recover_at] = numbers[..] else {
        return Err("a rule has three numbers".into());
    };
    let share = |share: f64| (share * f64::from(DriftMonitor::ONE)) as u32;
    Ok(DriftRule {
        window_bits: window_bits as u32,
        fall_below: share(fall_below),
        recover_at: share(recover_at),
    })
}

/// What changes, and the parts.
fn scenarios(seed: u64) -> Vec<(&'static str, [LeafWorkload; 3])> {
    let trained = |seed| LeafWorkload { duration_ns: PART_NS, seed, ..LeafWorkload::loaded() };
    let light = |seed| LeafWorkload { load: 0.3, outgoing_load: 0.2, ..trained(seed) };
    let no_control = |seed| LeafWorkload { flow_rate: 1.0, ..trained(seed) };
    let large_bursts = |seed| LeafWorkload {
        load: 0.2,
        incast_burst: 1.5,
        incast_fan_in: 32,
        incast_per_server_hz: 100.0,
        ..trained(seed)
    };
    let no_bursts = |seed| LeafWorkload {
        load: 0.95,
        flow_rate: 1.0,
        incast_per_server_hz: 0.0,
        outgoing_incast_per_server_hz: 0.0,
        ..trained(seed)
    };
    vec![
        ("unchanged", [trained(seed), trained(seed + 1), trained(seed + 2)]),
        ("a lighter load and back", [trained(seed), light(seed + 1), trained(seed + 2)]),
        ("flows at line rate and back", [trained(seed), no_control(seed + 1), trained(seed + 2)]),
        ("twice the bursts and back", [trained(seed), large_bursts(seed + 1), trained(seed + 2)]),
        (
            "no bursts, flows at line rate, and back",
            [trained(seed), no_bursts(seed + 1), trained(seed + 2)],
        ),
        (
            "from flows at line rate to large bursts",
            [no_control(seed), large_bursts(seed + 1), trained(seed + 2)],
        ),
    ]
}

/// What one rule did in one part.
#[derive(Clone, Copy, Default)]
struct Fallen {
    transmitted: u64,
    /// Arrivals until the first prediction or confirmation.
    heard_after: Option<u64>,
    /// Arrivals until the trust changed for the first time.
    seen_after: Option<u64>,
    /// Arrivals at which predictions were followed.
    trusted: u64,
    precision: u32,
}

fn replayed(
    parts: &[LeafWorkload; 3],
    live: &Live<Forest>,
    rules: &[DriftRule],
) -> Result<String, Box<dyn Error>> {
    let spec = parts[0].switch_spec()?;
    let mut always = line(&spec, AlwaysAccept, None);
    let mut oracle = line(&spec, live.clone(), None);
    let mut falling: Vec<_> =
        rules.iter().map(|&rule| line(&spec, live.clone(), Some(rule))).collect();
    let (mut id, mut text) = (0, String::new());
    let (mut all_always, mut all) = (0, vec![0; rules.len()]);
    for (number, workload) in (0..).zip(parts) {
        let mut fallen = vec![Fallen::default(); rules.len()];
        let (mut packets, mut by_always, mut by_oracle) = (0, 0, 0);
        let heard = |line: &Line<_>| line.policy().drift().map_or(0, DriftMonitor::precision);
        let trust = |line: &Line<_>| line.policy().drift().is_some_and(DriftMonitor::is_trusted);
        let before: Vec<(bool, u32)> =
            falling.iter().map(|line| (trust(line), heard(line))).collect();
        for event in workload.arrivals()?.flat_map(|batch| batch.events) {
            let Event { time_ns, port, queue, size_bytes, .. } = event;
            let packet = Packet::new(id, spec.queue_index(port, queue), size_bytes);
            let now = number * PART_NS + time_ns;
            id += 1;
            packets += 1;
            by_always += u64::from(always.arrive(&packet, now));
            by_oracle += u64::from(oracle.arrive(&packet, now));
            for ((line, part), before) in falling.iter_mut().zip(&mut fallen).zip(&before) {
                part.transmitted += u64::from(line.arrive(&packet, now));
                let drift = line.policy().drift().copied().unwrap_or_default();
                part.trusted += u64::from(drift.is_trusted());
                part.precision = drift.precision();
                if drift.precision() != before.1 && part.heard_after.is_none() {
                    part.heard_after = Some(packets);
                }
                if drift.is_trusted() != before.0 && part.seen_after.is_none() {
                    part.seen_after = Some(packets);
                }
            }
        }
        let against = |transmitted| percent(transmitted, by_always);
        writeln!(
            text,
            "  {packets} packets, {by_always} transmitted without predictions, {} with",
            against(by_oracle)
        )?;
        for (rule, part) in rules.iter().zip(&fallen) {
            writeln!(
                text,
                "    {} falling back {}, followed for {:5.1}%, precision at the end {:.2}, first prediction after {}, trust changed after {}",
                against(part.transmitted),
                shown(rule),
                100.0 * part.trusted as f64 / packets as f64,
                share(part.precision),
                number_or_dash(part.heard_after),
                number_or_dash(part.seen_after),
            )?;
        }
        all_always += by_always;
        all.iter_mut().zip(&fallen).for_each(|(sum, part)| *sum += part.transmitted);
    }
    for (rule, &transmitted) in rules.iter().zip(&all) {
        writeln!(text, "  all {} falling back {}", percent(transmitted, all_always), shown(rule))?;
    }
    Ok(text)
}

fn line<P: Predictor>(spec: &SwitchSpec, predictor: P, rule: Option<DriftRule>) -> Line<P> {
    let (victim, fit) = (Victim::default(), Fit::default());
    let policy = CredencePolicy::new(spec, victim, fit, LineRate::new(spec), predictor);
    let policy = match rule {
        Some(rule) => policy.falling_back(rule),
        None => policy,
    };
    Switch::new(spec, fit, policy, LineRate::new(spec))
}

fn number_or_dash(packets: Option<u64>) -> String {
    packets.map_or_else(|| "-".to_owned(), |packets| packets.to_string())
}

fn percent(transmitted: u64, by_always: u64) -> String {
    let more = transmitted as f64 - by_always as f64;
    format!("{:+.3}%", 100.0 * more / by_always as f64)
}

fn share(precision: u32) -> f64 {
    f64::from(precision) / f64::from(DriftMonitor::ONE)
}

fn shown(rule: &DriftRule) -> String {
    let (fall, recover) = (share(rule.fall_below), share(rule.recover_at));
    format!("({}; {fall:.3}, {recover:.3})", rule.window())
}
