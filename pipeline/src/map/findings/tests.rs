use super::*;
use crate::closed_loop::PolicyRuns;
use dropcast_simulate::RunSummary;

/// Goodputs or innocent timeouts of one policy, by run.
fn runs(policy: &str, values: [u64; 5]) -> PolicyRuns {
    let run = |value: u64| {
        let mut summary = RunSummary { goodput_bps: Some(value as f64), ..RunSummary::default() };
        summary.innocents.timeouts = value;
        summary
    };
    PolicyRuns { policy: policy.to_owned(), runs: values.map(run).to_vec() }
}

fn finding(measure: &str, policies: [(&str, [u64; 5]); 5]) -> Finding {
    let policies = policies.map(|(policy, values)| runs(policy, values)).to_vec();
    let oracle = "good".to_owned();
    let policy = format!("credence:model={oracle}");
    let oracle = OraclePolicy { name: oracle, policy };
    Finding::new(&Measure(measure.to_owned()), &[oracle], &Comparison { policies }, 1)
}

#[test]
fn a_share_of_the_gain_is_told_where_lqd_wins_every_run() {
    let policies = [
        ("lqd", [10, 11, 12, 11, 11]),
        ("complete-sharing", [60, 60, 60, 60, 60]),
        ("follow-lqd", [31, 30, 32, 31, 31]),
        ("credence", [40, 40, 42, 40, 41]),
        ("credence:model=good", [16, 15, 17, 16, 16]),
    ];
    let found = finding("innocent_timeouts", policies);
    assert_eq!(found.best_without_oracle, Some("follow-lqd"));
    assert!(found.is_beyond_interval && found.is_in_every_run);
    assert_eq!(found.gain.map(|gain| gain.mean), Some(20.0));
    assert_eq!(found.relative_gain, Some(20.0 / 31.0));
    let [accept, good] = &found.oracles[..] else { panic!("accept and one oracle") };
    assert_eq!((accept.oracle.as_str(), accept.share_of_gain), ("accept", Some(-9.6 / 20.0)));
    assert_eq!((good.oracle.as_str(), good.share_of_gain), ("good", Some(15.0 / 20.0)));
    assert!(good.helps && !good.does_harm && !accept.helps && !accept.does_harm);
    // More is better for goodput: the same numbers say the opposite.
    let goodput = finding("goodput_bps", policies);
    assert_eq!(goodput.best_without_oracle, Some("complete-sharing"));
    assert!(!goodput.is_in_every_run && goodput.oracles[1].does_harm);
    assert_eq!(goodput.oracles[1].share_of_gain, None);
}

#[test]
fn one_run_that_disagrees_is_enough_to_claim_nothing() {
    let found = finding(
        "innocent_timeouts",
        [
            ("lqd", [10, 11, 12, 31, 12]),
            ("complete-sharing", [60, 60, 60, 60, 60]),
            ("follow-lqd", [51, 50, 52, 31, 52]),
            ("credence", [40, 40, 42, 40, 40]),
            ("credence:model=good", [39, 41, 39, 39, 39]),
        ],
    );
    assert!(!found.is_in_every_run, "equal in the last run");
    assert!(!found.oracles[1].helps && !found.oracles[1].does_harm);
}

#[test]
fn the_tally_counts_findings_and_what_chance_would_give() {
    let prone = finding(
        "innocent_timeouts",
        [
            ("lqd", [1, 1, 1, 1, 1]),
            ("complete-sharing", [4, 4, 4, 4, 4]),
            ("follow-lqd", [3, 3, 3, 3, 3]),
            ("credence", [3, 3, 3, 3, 3]),
            ("credence:model=good", [2, 2, 2, 2, 2]),
        ],
    );
    let settings = MapSettings {
        runs: 5,
        oracles: [("good".to_owned(), Default::default())].into(),
        ..MapSettings::default()
    };
    let findings = [prone];
    let tally = Tally::count(&settings, &[&findings, &[]]);
    assert_eq!((tally.points, tally.points_beyond_interval), (2, 1));
    assert_eq!((tally.tests, tally.in_every_run, tally.beyond_interval_by_a_tenth), (1, 1, 1));
    assert_eq!(tally.in_every_run_by_chance, 1.0 / 32.0);
    let shares: Vec<_> = tally.oracles.iter().map(|own| own.median_share_of_gain).collect();
    assert_eq!(shares, [Some(0.0), Some(0.5)]);
    let of_incasts = &tally.oracles[1].by_subject;
    let share = SubjectShare { pairs: 1, median_share_of_gain: Some(0.5) };
    assert_eq!(of_incasts.iter().collect::<Vec<_>>(), [(&"short".to_owned(), &share)]);
    assert_eq!((tally.oracles[1].helps, tally.oracles[1].does_harm), (1, 0));
}

#[test]
fn the_median_of_two_is_between_them() {
    assert_eq!(median(vec![]), None);
    assert_eq!(median(vec![3.0, 1.0, 2.0]), Some(2.0));
    assert_eq!(median(vec![3.0, 1.0]), Some(2.0));
}
