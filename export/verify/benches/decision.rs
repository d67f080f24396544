//! Time of the exported decision, on one core: `cargo bench -p dropcast-verify --bench decision`.
//!
//! The sample of `data/samples` and a busy leaf of 20 ports with 2 queues each, through the decision in
//! C, with random forests of 4 trees of depth 4, or with the models given
//! (`-- model.json another.json`). Prints nanoseconds per packet, arrival and
//! departure together, virtual LQD's own arrival and departure included: the median and the fastest of
//! several passes. `asked` is the share of packets whose fate depended on the forest.

#[allow(dead_code, reason = "the forests of the exports' tests")]
#[path = "../../../export/tests/it/forests.rs"]
mod forests;

use dropcast_arrivals::LeafWorkload;
use dropcast_data::{Event, EventKind, EventOptions, EventReader, SwitchSpec, read_switches};
use dropcast_export::{Origin, export};
use dropcast_features::FeatureSet;
use dropcast_forest::{Forest, Model};
use dropcast_switch::{
    Buffer, CredencePolicy, Fit, LineRate, Live, Observer, Packet, Removal, Switch, Victim,
};
use forests::{Shape, random_forest};
use serde::de::IgnoredAny;
use std::error::Error;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

const COMPILERS: [[&str; 2]; 4] =
    [["gcc", "-O2"], ["gcc", "-O3"], ["clang", "-O2"], ["clang", "-O3"]];

fn main() -> Result<(), Box<dyn Error>> {
    let mut out = std::io::stdout().lock();
    let models: Vec<String> =
        std::env::args().skip(1).filter(|arg| !arg.starts_with('-')).collect();
    for (name, spec, events) in [sample()?, busy()?] {
        for (features, forest) in forests(&models, &spec)? {
            let log = log(&spec, &features, &forest, &events);
            for [compiler, level] in COMPILERS {
                let measured = measure(&spec, &features, &forest, &log, [compiler, level])?;
                writeln!(out, "{name:8} {compiler:5} {level} {measured}  {features}")?;
            }
        }
    }
    Ok(())
}

fn sample() -> Result<(&'static str, SwitchSpec, Vec<Event>), Box<dyn Error>> {
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/samples");
    let specs = read_switches(&samples.join("leaf.toml"))?;
    let options = EventOptions { specs: Some(specs.clone()), ..EventOptions::default() };
    let mut events = Vec::new();
    for batch in EventReader::open(&samples.join("leaf-events.parquet"), options)? {
        events.extend(batch?.events);
    }
    let spec = specs.get(events[0].switch_id).ok_or("not described")?.clone();
    Ok(("sample", spec, events))
}

/// A leaf whose buffer is small for its traffic: virtual LQD pushes out often, and most packets' fate
/// depends on the forest.
fn busy() -> Result<(&'static str, SwitchSpec, Vec<Event>), Box<dyn Error>> {
    let workload = LeafWorkload {
        duration_ns: 50_000_000,
        flow_rate: 1.0,
        load: 0.5,
        incast_per_server_hz: 150.0,
        ..LeafWorkload::loaded()
    };
    let events = workload.arrivals()?.flat_map(|batch| batch.events).collect();
    Ok(("busy", workload.switch_spec()?, events))
}

/// The models of these files, or random ones.
fn forests(
    models: &[String],
    spec: &SwitchSpec,
) -> Result<Vec<(FeatureSet, Forest)>, Box<dyn Error>> {
    let mut forests = Vec::new();
    for path in models {
        let model: Model<IgnoredAny> = Model::from_json(&fs::read_to_string(path)?)?;
        forests.push((model.features, model.forest));
    }
    if models.is_empty() {
        for features in ["level4", "level1", "class1", "cut1", "paper4", "carry4", "queue_length"] {
            let features: FeatureSet = features.parse()?;
            let forest = random(spec, &features);
            forests.push((features, forest));
        }
    }
    Ok(forests)
}

fn random(spec: &SwitchSpec, features: &FeatureSet) -> Forest {
    let largest = spec.buffer_bytes;
    let shape = Shape { trees: 4, depth: 4, features: features.len(), largest, stops: 0 };
    let random = random_forest(shape, 1);
    // Three quarters of the largest score: few drops are predicted.
    Forest { features: features.names(), vote_threshold: 3 * 255, ..random }
}

struct Departures<'a>(&'a mut Vec<[u32; 6]>, usize);

impl Observer for Departures<'_> {
    fn removed(&mut self, removal: &Removal, _: &Buffer) {
        let place = [removal.queue / self.1, removal.queue % self.1];
        self.0.push(record(1, place, removal.packet.size_bytes, removal.time));
    }
}

fn record(kind: u32, [port, queue]: [usize; 2], size_bytes: u32, time_ns: u64) -> [u32; 6] {
    [kind, port as u32, queue as u32, size_bytes, time_ns as u32, (time_ns >> 32) as u32]
}

/// The arrivals, and the departures of the switch that decides so.
fn log(
    spec: &SwitchSpec,
    features: &FeatureSet,
    forest: &Forest,
    events: &[Event],
) -> Vec<[u32; 6]> {
    let (victim, fit) = (Victim::default(), Fit::default());
    let live = Live { features: features.clone(), oracle: forest.clone() };
    let policy = CredencePolicy::new(spec, victim, fit, LineRate::new(spec), live);
    let mut switch = Switch::new(spec, fit, policy, LineRate::new(spec));
    let mut records = Vec::new();
    let queues_per_port = usize::from(spec.queues_per_port);
    let arrivals = events.iter().filter(|event| event.kind == EventKind::Arrival);
    for (id, event) in (0..).zip(arrivals) {
        let packet = Packet::new(id, spec.queue_index(event.port, event.queue), event.size_bytes);
        let departures = &mut Departures(&mut records, queues_per_port);
        switch.advance(event.time_ns, departures);
        switch.admit(&packet, event.time_ns, departures);
        let place = [usize::from(event.port), usize::from(event.queue)];
        records.push(record(0, place, event.size_bytes, event.time_ns));
    }
    records
}

fn measure(
    spec: &SwitchSpec,
    features: &FeatureSet,
    forest: &Forest,
    log: &[[u32; 6]],
    [compiler, level]: [&str; 2],
) -> Result<String, Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let mut origin = Origin::new("m", &"0".repeat(64), features);
    origin.average_ns = Some(spec.base_rtt_ns);
    origin.switch = Some(spec.clone());
    for file in export(forest, &origin, "c".parse()?)? {
        fs::write(folder.path().join(file.name), file.bytes)?;
    }
    let rates: Vec<String> = spec.line_rate_bps.iter().map(|rate| format!("{rate}u")).collect();
    let program = include_str!("decision.c").replace("LINE_RATES", &rates.join(", "));
    fs::write(folder.path().join("time.c"), program)?;
    let mut compile = Command::new(compiler);
    compile.current_dir(folder.path()).args(["-std=c99", level, "time.c", "-o", "time"]);
    if !compile.status().is_ok_and(|status| status.success()) {
        return Ok("is not installed, or failed".to_owned());
    }
    let bytes: Vec<u8> = log.iter().flatten().flat_map(|word| word.to_ne_bytes()).collect();
    let mut child = Command::new(folder.path().join("time"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    child.stdin.take().ok_or("not piped")?.write_all(&bytes)?;
    let printed = String::from_utf8(child.wait_with_output()?.stdout)?;
    let words: Vec<f64> = printed.split_whitespace().map(str::parse).collect::<Result<_, _>>()?;
    let [median, fastest, asked, arrivals] = words[..] else { return Err("no times".into()) };
    Ok(format!(
        "{median:6.1} ns, fastest {fastest:6.1}; {arrivals} packets, asked {:4.1}%",
        100.0 * asked / arrivals
    ))
}
