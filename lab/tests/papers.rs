//! The main claim of each paper in the fabric, small: that it holds, or, where lab/notes/papers.md says so, that it does not.
//! NDT's is in lab/ndt/tests/claim.rs.

use dropcast_lab::closed_loop::Oracles;
use dropcast_lab::fabric_oracle::training_experiment;
use dropcast_lab::reproduce::fabric::{
    FIGURES, FabricFigure, MeasuredFigure, Scale, abm, measure, oracles, pred, smartbuf,
};
use dropcast_pipeline::progress::Silent;
use dropcast_pipeline::resources::Resources;

/// A figure at one of its points.
fn at(figure: &FabricFigure, points: &'static [f64]) -> &'static FabricFigure {
    Box::leak(Box::new(FabricFigure { points, ..figure.clone() }))
}

/// The mean of a number over the runs.
fn mean(measured: &MeasuredFigure, point: f64, policy: &str, metric: &str) -> f64 {
    let cell = measured.cell(point, policy).expect("a policy of the figure");
    cell.runs.interval(metric, 1).expect("flows of that class").mean
}

/// ABM absorbs the incasts that DT drops, and does so with a tuned alpha and Complete Sharing as rivals, too.
#[test]
#[ignore = "slow"]
fn abm_absorbs_incasts_beside_cubic() {
    let figure = at(&abm::FIGURES[0], &[0.6]);
    let scale = Scale { duration_ns: 20_000_000, runs: 2, ..abm::small() };
    let resources = Resources::default();
    let measured = measure(&[figure], &scale, &Oracles::default(), &resources, &Silent);
    let measured = &measured.expect("a valid scale")[0];
    let late = |policy| mean(measured, 0.6, policy, "incast_over_10_ms");
    assert!(late("DT") > 0.03, "DT drops incasts: {}", late("DT"));
    for rival in ["DT", "DT, alpha 8", "Complete Sharing"] {
        assert!(late("ABM") < late(rival) / 2.0, "{}, {rival} {}", late("ABM"), late(rival));
    }
}

/// Credence absorbs the bursts that DT and ABM drop. It gains nothing over DT with an alpha of 8.
#[test]
#[ignore = "slow"]
fn credence_absorbs_incasts_as_does_a_tuned_alpha() {
    let figure = at(&FIGURES[0], &[0.4]);
    let scale = Scale { duration_ns: 20_000_000, runs: 2, ..Scale::small() };
    let mut training = training_experiment();
    training.traffic.duration_ns = 20_000_000;
    let resources = Resources::default();
    let oracles = oracles(&training, &resources, &Silent).expect("drops to learn from");
    let measured = measure(&[figure], &scale, &oracles, &resources, &Silent);
    let measured = &measured.expect("a valid scale")[0];
    let p95 = |policy| mean(measured, 0.4, policy, "incast_slowdown_p95");
    let credence = p95("Credence, level4");
    assert!(credence < p95("DT") / 5.0, "{credence}, DT {}", p95("DT"));
    assert!(credence < p95("ABM") / 5.0, "{credence}, ABM {}", p95("ABM"));
    let tuned = p95("DT, alpha 8");
    assert!(credence > 0.95 * tuned, "Credence gains over alpha 8: {credence}, {tuned}");
}

/// FCS keeps the queue as N grows, if it counts for as long as a round trip takes with its queue. At the paper's T_QLA of
/// 5 RTTs PRED's queue is longer than FCS's alone; at 40 RTTs it is shorter.
#[test]
#[ignore = "slow"]
fn pred_settles_only_with_longer_trials() {
    let figures: Vec<_> = pred::figures().filter(|figure| figure.name == "pred-settling").collect();
    let options =
        pred::Options { runs: 1, seed: 1, slow_start: false, duration_ns: Some(120_000_000) };
    let resources = Resources::default();
    let measured =
        pred::measure(&figures, &options, &resources, &Silent).expect("a valid duration");
    let queue = |flows, scheme| mean(&measured[0], flows, scheme, "queue_packets_mean");
    let growth = |scheme| queue(20.0, scheme) / queue(2.0, scheme);
    assert!(growth("RED, lambda 0.2") > 2.0, "{}", growth("RED, lambda 0.2"));
    assert!(growth("Only FCS, T_FCS 5 RTTs") < 1.3, "{}", growth("Only FCS, T_FCS 5 RTTs"));
    let alone = queue(16.0, "Only FCS");
    assert!(queue(16.0, "PRED") > 1.3 * alone, "PRED settles: {}, {alone}", queue(16.0, "PRED"));
    let longer = queue(16.0, "PRED, T_QLA 40 RTTs");
    assert!(longer < alone, "{longer}, {alone}");
    let rate = mean(&measured[0], 16.0, "PRED, T_QLA 40 RTTs", "bottleneck_gbps");
    assert!(rate > 9.7, "{rate} Gbit/s");
    let equation = queue(2.0, "Equation 1 for RED");
    assert!(equation > 2.0 * queue(2.0, "RED, lambda 0.2"), "equation 1 holds: {equation}");
    for flows in [2.0, 20.0] {
        let ratio =
            queue(flows, "Equation 1 for RED, windows of 2/p") / queue(flows, "RED, lambda 0.2");
        assert!((0.8..1.4).contains(&ratio), "{flows} flows: {ratio}");
    }
}

/// One run of a figure of PRED's.
fn of_pred(name: &str, duration_ns: u64) -> MeasuredFigure {
    let figures: Vec<_> = pred::figures().filter(|figure| figure.name == name).collect();
    let options =
        pred::Options { runs: 1, seed: 1, slow_start: false, duration_ns: Some(duration_ns) };
    let measured = pred::measure(&figures, &options, &Resources::default(), &Silent);
    measured.expect("a valid duration").remove(0)
}

/// HPCC keeps a queue of almost nothing at 95% of the line, where DCTCP with PRED has a queue and the line, and six flows that
/// begin at once make its queue grow by more than PRED's.
#[test]
#[ignore = "slow"]
fn hpcc_keeps_its_queue_empty_beside_pred() {
    let measured = of_pred("pred-fig19", 22_000_000);
    let queue = |scheme| mean(&measured, 20.0, scheme, "queue_packets_mean");
    let rate = |scheme| mean(&measured, 20.0, scheme, "bottleneck_gbps");
    assert!(queue("HPCC") < 0.5 && queue("PRED") > 20.0, "{}, {}", queue("HPCC"), queue("PRED"));
    assert!((rate("HPCC") - 95.0).abs() < 1.5 && rate("PRED") > 97.0, "{}", rate("HPCC"));
    let longest = |scheme, ms| mean(&measured, ms, scheme, "queue_packets_most");
    let growth = |scheme| longest(scheme, 21.0) - longest(scheme, 20.0);
    assert!(growth("HPCC") > 1.2 * growth("PRED"), "{}, {}", growth("HPCC"), growth("PRED"));
}

/// With DCQCN's flows RED's queue grows, too, and PRED's does not, if its trials are long.
#[test]
#[ignore = "slow"]
fn pred_holds_the_queue_of_dcqcn() {
    let measured = of_pred("pred-fig21a", 60_000_000);
    let queue = |flows, scheme| mean(&measured, flows, scheme, "queue_packets_mean");
    let growth = |scheme| queue(20.0, scheme) / queue(2.0, scheme);
    for (scheme, least) in [("RED, lambda 0.2", 4.0), ("RED, lambda 2", 1.7)] {
        assert!(growth(scheme) > least, "{scheme}: {}", growth(scheme));
    }
    let held = growth("PRED, T_QLA 40 RTTs, T_FCS 5 RTTs");
    assert!(held < 2.0, "{held}");
}

/// Smartbuf learns its limits from peaks that a limit has cut, and drops incasts that DT absorbs; never below DT's threshold, it
/// is DT. Static partitions are far worse.
#[test]
#[ignore = "slow"]
fn smartbuf_drops_incasts_that_dt_absorbs() {
    let policies = &[
        ("Smartbuf", "smartbuf"),
        ("at least DT", "smartbuf:reading=at-least-dt"),
        ("DT, alpha 1", "dt:alpha=1"),
        ("Complete Partitioning", "complete-partitioning"),
    ];
    let all = &smartbuf::FIGURES[0];
    let figure = FabricFigure { points: &[0.8], policies, claims: &[], ..all.clone() };
    let figure: &'static FabricFigure = Box::leak(Box::new(figure));
    let (scale, resources) = (smartbuf::scale(), Resources::default());
    let measured = measure(&[figure], &scale, &Oracles::default(), &resources, &Silent);
    let measured = &measured.expect("a valid scale")[0];
    let late = |policy| mean(measured, 0.8, policy, "incast_over_10_ms");
    let (smartbuf, dt) = (late("Smartbuf"), late("DT, alpha 1"));
    assert!(smartbuf > dt + 0.01, "Smartbuf gains: {smartbuf}, {dt}");
    assert!(late("at least DT") < dt + 0.002, "{}, {dt}", late("at least DT"));
    let parts = late("Complete Partitioning");
    assert!(parts > 5.0 * smartbuf, "{parts}, {smartbuf}");
}
