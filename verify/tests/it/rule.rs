//! The untrained rule in C decides about every packet as `dropcast_switch`'s does.

use crate::decision::in_c::{CLANG, GCC, WARNINGS};
use crate::decision::{Departures, record};
use crate::event_log::sample;
use crate::replay::{GXX, found};
use dropcast_data::{Scheduler, SwitchSpec};
use dropcast_export::{Rule, RuleError};
use dropcast_switch::policies::oracle::{OracleParameters, drain_time_ns};
use dropcast_switch::{Fit, LineRate, NoObserver, Packet, PolicySite, Switch, Victim};
use dropcast_verify::Tool;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::fs;
use std::io::Write;
use std::process::{Command, Stdio};

/// Time, queue and size of packets.
type Arrivals = Vec<(u64, usize, u32)>;

/// What the policy decides, and the records that tell the C code the same story.
fn decided(spec: &SwitchSpec, rule: &Rule, arrivals: &Arrivals) -> (Vec<[u32; 6]>, Vec<u8>) {
    let base = format!("dt:alpha={:?}", rule.alpha).replace(' ', "").parse().expect("a policy");
    let parameters = OracleParameters {
        base: Box::new(base),
        model: None,
        horizon_ns: Some(rule.horizon_ns),
        gate: Some(rule.gate),
    };
    let service = LineRate::new(spec);
    let site = PolicySite {
        spec,
        fit: Fit::Exact,
        service: service.clone(),
        victim: Victim::Tail,
        seed: 1,
        model: None,
    };
    let policy = parameters.policy(site).expect("it fits the switch");
    let mut switch = Switch::new(spec, Fit::Exact, policy, service);
    let (mut records, mut verdicts) = (Vec::new(), Vec::new());
    let queues_per_port = usize::from(spec.queues_per_port);
    for (id, &(now, queue, size_bytes)) in (0..).zip(arrivals) {
        switch.advance(now, &mut Departures { records: &mut records, queues_per_port });
        let accepted = switch.admit(&Packet::new(id, queue, size_bytes), now, &mut NoObserver);
        let place = [queue / queues_per_port, queue % queues_per_port];
        records.push(record(0, place, size_bytes, now));
        verdicts.push(u8::from(accepted));
    }
    (records, verdicts)
}

/// The verdicts of the compiled header; none without the compiler.
fn compiled(
    tool: Tool,
    spec: &SwitchSpec,
    rule: &Rule,
    records: &[[u32; 6]],
    arguments: &[&str],
) -> Option<Vec<u8>> {
    let compiler = found(tool)?;
    let folder = tempfile::tempdir().expect("a temporary folder");
    for file in rule.files(spec).expect("a switch that the rule knows") {
        fs::write(folder.path().join(&file.name), &file.bytes).expect("written");
    }
    let (standard, file) =
        if tool.command == "g++" { ("-std=c++17", "rule.cc") } else { ("-std=c99", "rule.c") };
    fs::write(folder.path().join(file), include_str!("rule.c")).expect("written");
    let mut command = compiler.in_folder(folder.path());
    let output = command
        .args([standard, "-O2"])
        .args(WARNINGS)
        .args([file, "-o", "rule"])
        .output()
        .expect("it starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let bytes: Vec<u8> = records.iter().flatten().flat_map(|word| word.to_ne_bytes()).collect();
    let mut child = Command::new(folder.path().join("rule"))
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut stdin = child.stdin.take().expect("piped");
    let output = std::thread::scope(|scope| {
        scope.spawn(move || stdin.write_all(&bytes));
        child.wait_with_output().expect("it ends")
    });
    assert!(output.status.success(), "{}", output.status);
    Some(output.stdout)
}

/// Bursts towards few queues of a switch of these ports.
fn bursts(spec: &SwitchSpec, packets: usize, seed: u64) -> Arrivals {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let (mut now, mut queue) = (0, 0);
    let arrival = |_| {
        if random.random_range(0..40) == 0 {
            queue = random.random_range(0..spec.queues());
            now += random.random_range(0..4) * random.random_range(0..20_000);
        }
        now += random.random_range(0..200);
        let other = random.random_range(0..4) == 0;
        let queue = if other { random.random_range(0..spec.queues()) } else { queue };
        (now, queue, random.random_range(64..1_501))
    };
    (0..packets).map(arrival).collect()
}

fn agree(spec: &SwitchSpec, rule: &Rule, arrivals: &Arrivals, tools: &[Tool]) -> [usize; 2] {
    let (records, expected) = decided(spec, rule, arrivals);
    for &tool in tools {
        let Some(verdicts) = compiled(tool, spec, rule, &records, &[]) else { continue };
        assert_eq!(verdicts.len(), expected.len());
        let first = verdicts.iter().zip(&expected).position(|(ours, theirs)| ours != theirs);
        assert_eq!(first, None, "{}: {rule:?}, {spec:?}", tool.command);
    }
    [0, 1].map(|verdict| expected.iter().filter(|&&one| one == verdict).count())
}

#[test]
fn the_rule_in_c_is_the_policy() {
    let tools = [GCC, CLANG, GXX];
    let mut verdicts = [0, 0];
    for seed in 0..6 {
        let queues_per_port = [1, 2, 3][seed as usize % 3];
        let spec = SwitchSpec {
            queues_per_port,
            scheduler: Scheduler::RoundRobin,
            // Acknowledgements' queue, which LQD does not touch.
            pushable: (0..queues_per_port).map(|queue| queue > 0 || queues_per_port == 1).collect(),
            shared: vec![true; usize::from(queues_per_port)],
            line_rate_bps: vec![8_000_000_000, 2_000_000_000, 8_000_000_000],
            ..SwitchSpec::uniform(3, 8_000_000_000, 60_000, 8_000)
        };
        let gate = [0.0, 0.5, 0.9][seed as usize / 2];
        let rule = Rule { alpha: vec![16.0, 0.5], horizon_ns: drain_time_ns(&spec), gate };
        let arrivals = bursts(&spec, 20_000, seed);
        let some = if seed == 0 { &tools[..] } else { &tools[..1] };
        let [dropped, accepted] = agree(&spec, &rule, &arrivals, some);
        verdicts = [verdicts[0] + dropped, verdicts[1] + accepted];
    }
    assert!(verdicts.iter().all(|&count| count > 1_000), "{verdicts:?}");
}

/// A switch of 40 queues and its sample of packets. Prints what a record takes (`--nocapture`).
#[test]
#[allow(clippy::print_stdout, reason = "what it measured")]
fn the_rule_in_c_is_the_policy_on_the_sample() {
    let input = sample();
    let spec = input.spec;
    let arrivals =
        input.events.iter().filter(|event| event.kind == dropcast_data::EventKind::Arrival);
    let arrivals: Arrivals = arrivals
        .map(|event| (event.time_ns, spec.queue_index(event.port, event.queue), event.size_bytes))
        .collect();
    let rule = Rule { alpha: vec![16.0], horizon_ns: drain_time_ns(&spec), gate: 0.5 };
    agree(&spec, &rule, &arrivals, &[GCC]);
    let (records, _) = decided(&spec, &rule, &arrivals);
    if let Some(told) = compiled(GCC, &spec, &rule, &records, &["time"]) {
        println!("{}", String::from_utf8_lossy(&told).trim());
    }
}

#[test]
fn what_the_header_cannot_do_is_refused() {
    let spec = SwitchSpec::uniform(2, 8_000_000_000, 10_000, 4_000);
    let rule = Rule { alpha: vec![16.0], horizon_ns: 1_000, gate: 0.5 };
    assert!(rule.files(&spec).is_ok());
    let odd = Rule { alpha: vec![0.3], ..rule.clone() };
    assert_eq!(odd.files(&spec), Err(RuleError::Alpha(0.3)));
    let far = Rule { horizon_ns: u64::MAX, ..rule.clone() };
    assert_eq!(far.files(&spec), Err(RuleError::Drain(0)));
    let apart = SwitchSpec { shared: vec![false], ..spec };
    assert_eq!(rule.files(&apart), Err(RuleError::Reserved));
}
