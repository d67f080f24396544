//! Policies compared in the fabric.

use dropcast_lab::closed_loop::Experiment;
use dropcast_pipeline::progress::Silent;
use dropcast_pipeline::resources::Resources;
use dropcast_switch::policies::ndt::{NdtNetwork, NetworkShape};
use std::num::NonZeroUsize;

fn experiment(text: &str) -> Experiment {
    toml::from_str(text).expect("an experiment")
}

const SMALL: &str = "
    policies = ['lqd', 'complete-sharing', 'dt:alpha=[0.5]', 'credence']
    runs = 3
    [fabric]
    servers = 4
    spines = 1
    [traffic]
    duration_ns = 4_000_000
    [[traffic.flows]]
    load = 0.5
    [[traffic.incasts]]
    per_server_hz = 500.0
    fan_in = 4
";

#[test]
fn a_comparison_is_the_same_on_any_number_of_threads() {
    let prepared = experiment(SMALL).prepare().expect("valid");
    let with_threads = |threads| {
        let resources = Resources { threads: NonZeroUsize::new(threads), ..Resources::default() };
        prepared.compare(&resources, &Silent).expect("runs")
    };
    let comparison = with_threads(1);
    assert_eq!(comparison, with_threads(3));
    assert_eq!(comparison.policies.len(), 4);
    let lqd = comparison.runs("lqd").expect("compared");
    assert_eq!(lqd.runs.len(), 3);
    assert_ne!(lqd.runs[0], lqd.runs[1], "each run has seeds of its own");
    let none = comparison.difference("incast_slowdown_p95", "lqd", "lqd", 1).expect("incasts");
    assert_eq!(none.mean, 0.0);
    assert_eq!(comparison.difference("incast_slowdown_p95", "lqd", "abm", 1), None);
}

#[test]
fn mistakes_are_found_before_the_first_run() {
    let says = |text: &str, expected: &str| {
        let error = experiment(text).prepare().expect_err(expected).to_string();
        assert!(error.contains(expected), "{error:?} should say {expected:?}");
    };
    says("policies = []", "policies: is empty");
    says("runs = 0", "runs: is 0");
    says("policies = ['credence:model=nowhere.json']", "nowhere.json: cannot be read");
    let with_flows = |text: &str| format!("{text}\n[[traffic.flows]]");
    says(&with_flows("policies = ['credence:flip_probability=2.0']"), "=2.0: flip_probability: ");
    says("flow_list = 'nowhere.csv'", "nowhere.csv: cannot be read");
    says(&with_flows("flow_list = 'flows.csv'"), "flow_list: stands in place of [traffic]");
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("late.csv");
    let late = "start_ns,src_host,dst_host,size_bytes\n10000000001,0,1,100\n";
    std::fs::write(&path, late).expect("a writable folder");
    let list = format!("flow_list = '{}'", path.display());
    says(
        &list,
        "late.csv: flow list: line 2: its start is 10000000001, after the simulation's end",
    );
    let path = folder.path().join("drawn.csv");
    std::fs::write(&path, late.replace("10000000001", "0")).expect("a writable folder");
    let list = format!("flow_list = '{}'\nns3_seed = 8", path.display());
    says(&list, "drawn.csv: ns3_seed: with randomSeed 8 the artifact sends");
    says(
        &with_flows("flow_list_transport = 'cubic'"),
        "flow_list_transport: is for the flows of a flow_list",
    );
    says(
        &with_flows("size_buckets_bytes = [100, 100]"),
        "size_buckets_bytes: has 100 after 100, expected ascending sizes",
    );
    says(&with_flows("ns3_seed = 8"), "ns3_seed: is for the flows of a flow_list");
    says("", "traffic: is empty");
    says(&with_flows("[fabric]\nleaves = 0"), "leaves: is 0");
    says("[[traffic.flows]]\nload = -1.0", "flows[0]: load: is -1");
}

#[test]
fn flows_on_ns3s_paths_are_alike_in_every_run() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("flows.csv");
    // The receivers that the artifact draws with 2 leaves of 2 servers and randomSeed 3.
    let receivers = [(0, [2, 2, 3, 2]), (1, [3, 2, 2, 2])];
    let mut flows = "start_ns,src_host,dst_host,size_bytes\n".to_owned();
    for (from, to) in receivers {
        for (nth, to) in to.into_iter().enumerate() {
            flows += &format!("{},{from},{to},900000\n", nth * 1_000_000);
        }
    }
    std::fs::write(&path, flows).expect("a writable folder");
    let run = |more: &str| {
        let text = format!(
            "policies = ['lqd']\nruns = 2\nflow_list = '{}'\n{more}\n[fabric]\nservers = 2\njitter_ns = 0\nticks_together = true",
            path.display()
        );
        let prepared = experiment(&text).prepare().expect("valid");
        let comparison = prepared.compare(&Resources::default(), &Silent).expect("runs");
        let runs = &comparison.policies[0].runs;
        (runs[0].clone(), runs[1].clone())
    };
    let (first, second) = run("ns3_seed = 3");
    assert_eq!(first, second, "the seed of a run picks no path");
    let (first, second) = run("");
    assert_ne!(first, second);
}

#[test]
fn ndt_reads_its_network() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("ndt.json");
    let neutral = NdtNetwork::neutral(NetworkShape::default()).expect("valid sizes");
    let json = serde_json::to_string(&neutral).expect("a network as JSON");
    std::fs::write(&path, json).expect("a writable folder");
    let policies = [format!("ndt:model={}", path.display()), "dt:alpha=[1.0]".to_owned()];
    let policies = policies.map(|policy| policy.parse().expect("a known policy")).to_vec();
    let prepared = Experiment { policies, runs: 1, ..experiment(SMALL) }.prepare().expect("valid");
    let comparison = prepared.compare(&Resources::default(), &Silent).expect("runs");
    let [ndt, dt] = &comparison.policies[..] else { panic!("two policies") };
    assert_eq!(ndt.runs, dt.runs, "the neutral network is DT with alpha 1");

    std::fs::write(&path, "{}").expect("a writable folder");
    let error = prepared.experiment().prepare().expect_err("no network").to_string();
    assert!(error.contains("ndt.json: missing field `format`"), "{error}");
}
