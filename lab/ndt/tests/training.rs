//! Training and comparing on a small switch.

use dropcast_ndt::{Scenario, Training, compare, train};
use dropcast_switch::PolicySpec;
use dropcast_switch::policies::ndt::{NdtNetwork, NetworkShape};
use std::num::NonZeroUsize;

fn small() -> Scenario {
    Scenario {
        ports: 4,
        buffer_bytes: 60_000,
        duration_ns: 20_000_000,
        load: 0.9,
        ..Scenario::default()
    }
}

fn threads(count: usize) -> NonZeroUsize {
    count.try_into().expect("at least 1")
}

#[test]
fn the_neutral_network_is_dt_with_alpha_1() {
    let neutral = NdtNetwork::neutral(NetworkShape::default()).expect("valid sizes");
    let ndt = PolicySpec::Ndt(Default::default());
    let dt: PolicySpec = "dt:alpha=[1.0]".parse().expect("a known policy");
    for nth in 0..4 {
        let trace = small().trace(nth);
        let fct_ns = trace.fct_ns(&ndt, Some(&neutral));
        assert!(!fct_ns.is_empty());
        assert_eq!(fct_ns, trace.fct_ns(&dt, None), "trace {nth}");
    }
    assert_ne!(small().trace(0).fct_ns(&dt, None), small().trace(1).fct_ns(&dt, None));
}

#[test]
fn training_is_the_same_on_any_number_of_threads_and_no_worse_than_dt_where_it_chose() {
    let training = Training { generations: 3, population: 6, traces: 3, ..Training::default() };
    let mut reported = Vec::new();
    let trained = train(&small(), &training, threads(1), |generation| reported.push(generation));
    assert_eq!(trained, train(&small(), &training, threads(3), |_| {}));
    assert_eq!(trained.generations, reported);
    assert!(trained.validation <= 0.0, "{}", trained.validation);
    let best = reported.iter().map(|generation| generation.validation).fold(0.0, f64::min);
    assert_eq!(trained.validation, best);
}

#[test]
fn the_neutral_network_compares_as_dt() {
    let neutral = NdtNetwork::neutral(NetworkShape::default()).expect("valid sizes");
    let compared = compare(&small(), &neutral, 3, threads(2));
    let row = |name: &str| {
        compared.iter().find(|row| row.policy.starts_with(name)).expect("one of the policies")
    };
    assert_eq!(row("ndt").traces, row("dt").traces);
    assert_eq!(row("ndt").mean_beyond_dt.expect("flows").mean, 0.0);
    assert_eq!(row("ndt").better_than_dt, Some(0.0));
    assert_ne!(row("complete-partitioning").traces, row("dt").traces);
}
