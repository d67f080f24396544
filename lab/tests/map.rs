//! Policies compared over many conditions.

use dropcast_lab::map::{Map, MapSettings, map};
use dropcast_pipeline::progress::Silent;
use dropcast_pipeline::resources::Resources;
use std::num::NonZeroUsize;

const SMALL: &str = "
    runs = 3
    choosing_runs = 2
    oracles = {}
    policies = ['complete-sharing', 'dt:alpha=[64,0.5]', 'oracle']
    measures = ['incast_slowdown_p95', 'goodput_bps']
    [fabric]
    servers = 4
    spines = 1
    [traffic]
    duration_ns = 3_000_000
    [[traffic.flows]]
    load = 0.5
    [[traffic.incasts]]
    per_server_hz = 500.0
    fan_in = 4
    [[grids]]
    name = 'one'
    load = [0.4, 0.8]
    transports = ['dctcp', '0.9 cubic + 0.1 unresponsive']
    [[grids]]
    name = 'two'
    buffer_kb = [1.3]
    jitter_us = [0.0]
    connections = ['new']
    answers = [{ log-normal = 1.0 }]
    gbps = [25.0]
";

fn settings(text: &str) -> MapSettings {
    toml::from_str(text).expect("settings of a map")
}

fn run(settings: &MapSettings, threads: usize) -> Map {
    let resources = Resources { threads: NonZeroUsize::new(threads), ..Resources::default() };
    map(settings, None, &resources, &Silent).expect("valid settings")
}

#[test]
fn a_map_is_the_same_on_any_number_of_threads() {
    let settings = settings(SMALL);
    let one = run(&settings, 1);
    let json = |map: &Map| serde_json::to_string(map).expect("numbers and names");
    assert_eq!(json(&one), json(&run(&settings, 3)));
    assert_eq!(one.points.len(), 5);
    let policies: Vec<&str> = one.points[0].values.iter().map(|own| own.policy.as_str()).collect();
    assert_eq!(policies, ["lqd", "complete-sharing", "dt:alpha=[64,0.5]", "oracle"]);
    assert_eq!((one.tally.points, one.tally.pairs), (5, 10));
    assert_eq!(one.points[0].values[1].measures["goodput_bps"].runs.len(), 3);
    // With fewer than 5 runs nothing is claimed.
    let clear = one.tally.policies.iter().map(|own| own.over_plain.better + own.over_plain.worse);
    assert_eq!(clear.sum::<u64>(), 0);
    let condition = &one.points[1].condition;
    assert_eq!(condition.value("load"), Some("0.4"));
    assert_eq!(condition.value("transports"), Some("0.9 cubic + 0.1 unresponsive"));
    assert_eq!(condition.value("gbps"), None);
    assert_eq!(one.points[4].condition.value("answers"), Some("log-normal 1"));
}

#[test]
fn every_axis_changes_the_runs() {
    let plain = "
        runs = 2
        choosing_runs = 2
        oracles = {}
        policies = ['complete-sharing']
        measures = ['incast_slowdown_mean', 'single_slowdown_mean']
        [traffic]
        duration_ns = 3_000_000
        [[traffic.flows]]
        load = 0.5
        [[traffic.incasts]]
        per_server_hz = 500.0
        [[grids]]
        name = 'one'
    ";
    let values = |axis: &str| {
        let map = run(&settings(&format!("{plain}{axis}")), 2);
        map.points.iter().map(|point| format!("{:?}", point.values)).collect::<Vec<_>>()
    };
    let [unchanged] = &values("")[..] else { panic!("a grid without axes is one point") };
    for axis in [
        "load = [0.9]",
        "burst = [1.5]",
        "fan_in = [4]",
        "buffer_kb = [0.5]",
        "transports = ['dctcp+new-reno']",
        "gbps = [25]",
        "sizes = ['hadoop']",
        "spread_us = [100]",
        "answers = [{ log-normal = 1.0 }]",
        "connections = ['new']",
        "train = [3]",
        "window = [3]",
        "whole_answers = [true]",
        "min_rto_ms = [0.2]",
        "jitter_us = [0]",
    ] {
        assert_ne!(values(axis)[0], *unchanged, "{axis}");
    }
    for same in [
        "gbps = [10]",
        "load = [0.5]",
        "spread_us = [20]",
        "answers = ['equal']",
        "train = [1]",
        "window = [10]",
        "min_rto_ms = [200]",
        "jitter_us = [1]",
    ] {
        assert_eq!(values(same)[0], *unchanged, "{same}");
    }
}

#[test]
fn mistakes_are_named() {
    let says = |text: &str, expected: &str| {
        let error = match toml::from_str::<MapSettings>(text) {
            Ok(settings) => map(&settings, None, &Resources::default(), &Silent)
                .expect_err(expected)
                .to_string(),
            Err(error) => error.to_string(),
        };
        assert!(error.contains(expected), "{error:?} should say {expected:?}");
    };
    says("runs = 1", "runs: is 1");
    says("measures = ['fct']", "measures: \"fct\" is none of incast_flows");
    says("[[grids]]\nload = [0.4]", "grids[0]: name: is \"\"");
    says("[[grids]]\nname = 'a'\nbuffer_kb = [0.0]", "grids[0]: buffer_kb: is 0");
    says("[[grids]]\nname = 'a'\n[[grids]]\nname = 'a'", "\"a\" is taken");
    says("[[grids]]\nname = 'a'\njitter_us = [-1.0]", "grids[0]: jitter_us: is -1");
    says("[[grids]]\nname = 'a'\ntransports = ['quic']", "\"quic\" is no transport");
    says("[[grids]]\nname = 'a'\ntransports = ['0.5 dctcp + 0.4 cubic']", "shares add up to 0.9");
    says("[[grids]]\nname = 'a'\nload = [-1.0]", "load: is -1");
    says("[[grids]]\nname = 'a'\nload = [0.4, 0.40]", "grids[0]: load: has 0.4 twice");
    // Axes that would change nothing.
    let grid = |axis: &str, rest: &str| format!("{rest}\n[[grids]]\nname = 'a'\n{axis}");
    let collectives = "[[traffic.collectives]]\nservers = [0, 1]";
    says(&grid("transports = ['cubic']", collectives), "transports: has no flows");
    let silent = "[[traffic.incasts]]\nper_server_hz = 0.0";
    says(&grid("burst = [0.5]", silent), "burst: has no incasts");
    says(&grid("load = [0.5]", "decisions = {}"), "decisions: is empty");
    says(
        &grid("load = [0.5]", "policies = ['oracle']"),
        "policies: have none without a prediction",
    );
    says(&grid("", "[decisions]\nfilter = 'dt'"), "decisions.filter: asks no oracle");
    says(&grid("", "[decisions]\nfilter = 'credence:model=x'"), "decisions.filter: has a model");
    says(&grid("", "choosing_runs = 1"), "choosing_runs: is 1");
    says("[oracles.'a b']\n[[grids]]\nname = 'a'", "oracles: \"a b\"");
}
