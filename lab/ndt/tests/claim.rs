//! NDT's main claim on its own traffic: its gain over DT is that of a larger alpha (lab/notes/papers.md).

use dropcast_ndt::Scenario;
use dropcast_switch::PolicySpec;

#[test]
fn a_constant_alpha_of_32_has_the_gain_over_alpha_1() {
    let scenario = Scenario { duration_ns: 100_000_000, ..Scenario::default() };
    let mean_ns = |policy: &str, nth| {
        let policy: PolicySpec = policy.parse().expect("a known policy");
        let fct_ns = scenario.trace(nth).fct_ns(&policy, None);
        fct_ns.iter().sum::<u64>() as f64 / fct_ns.len() as f64
    };
    let ratios = (0..6).map(|nth| mean_ns("dt:alpha=32", nth) / mean_ns("dt:alpha=1", nth));
    let ratios: Vec<f64> = ratios.collect();
    let mean = ratios.iter().sum::<f64>() / ratios.len() as f64;
    assert!(mean < 0.92, "the paper's NDT is 8 to 28% better than DT: {ratios:?}");
}
