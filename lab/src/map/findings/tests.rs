use super::*;
use crate::closed_loop::PolicyRuns;
use dropcast_fabric::RunSummary;

/// Innocent timeouts of one policy by run: those that are compared, and for rivals those that are chosen on.
fn runs(policy: &str, values: &[u64]) -> PolicyRuns {
    let run = |&value: &u64| {
        let mut summary = RunSummary { goodput_bps: Some(value as f64), ..RunSummary::default() };
        summary.innocents.timeouts = value;
        summary
    };
    PolicyRuns { policy: policy.to_owned(), runs: values.iter().map(run).collect() }
}

/// Complete Sharing and DT with alpha 8 as rivals, the untrained rule, and one oracle; 5 runs, 2 to choose on.
fn settings() -> MapSettings {
    toml::from_str(
        "runs = 5
         choosing_runs = 2
         policies = ['complete-sharing', 'dt:alpha=8', 'oracle']
         [oracles.good]
         [decisions]
         credence = 'credence'",
    )
    .expect("settings of a map")
}

const FLAT: [u64; 7] = [60; 7];

fn finding(measure: &str, of: [(&str, &[u64]); 5]) -> MapFinding {
    let comparison =
        PairedRuns { policies: of.map(|(policy, values)| runs(policy, values)).to_vec() };
    MapFinding::new(&settings(), &MeasureName(measure.to_owned()), &comparison)
}

fn judged(mut finding: MapFinding) -> MapFinding {
    judge(&mut [&mut finding]);
    finding
}

fn gaining() -> [(&'static str, &'static [u64]); 5] {
    [
        ("lqd", &[10, 11, 12, 11, 11]),
        ("complete-sharing", &FLAT),
        // Luckier than Complete Sharing where it is measured, not where it is chosen.
        ("dt:alpha=8", &[31, 30, 32, 31, 31, 90, 90]),
        ("oracle", &[40, 40, 42, 40, 41]),
        ("credence:model=good", &[15, 16, 17, 16, 16]),
    ]
}

#[test]
fn the_best_rival_is_chosen_on_other_runs_than_those_that_are_compared() {
    let found = judged(finding("innocent_timeouts", gaining()));
    assert_eq!(found.best_plain.as_deref(), Some("complete-sharing"));
    let names: Vec<&str> = found.policies.iter().map(|own| own.policy.as_str()).collect();
    assert_eq!(names, ["lqd", "oracle", "credence-good"]);
    let [lqd, rule, good] = &found.policies[..] else { panic!("three are compared") };
    let mean = |of: &Option<Difference>| of.as_ref().map(|of| of.advantage.mean);
    assert_eq!(mean(&lqd.over_plain), Some(49.0));
    assert_eq!(lqd.over_plain.as_ref().and_then(|over| over.relative), Some(49.0 / 60.0));
    assert_eq!(found.gain(), Some(49.0));
    assert_eq!((rule.share_of_gain, good.share_of_gain), (Some(19.4 / 49.0), Some(44.0 / 49.0)));
    // More is better for goodput: the same numbers say the opposite.
    let goodput = judged(finding("goodput_bps", gaining()));
    assert_eq!(goodput.best_plain.as_deref(), Some("dt:alpha=8"));
    let verdicts = goodput.policies.iter().map(|own| own.over_plain.as_ref().map(|of| of.verdict));
    assert_eq!(verdicts.collect::<Vec<_>>()[0], Some(Significance::Worse));
    assert_eq!((goodput.gain(), goodput.policies[2].share_of_gain), (None, None));
}

#[test]
fn a_difference_that_runs_disagree_on_is_unclear() {
    let mut policies = gaining();
    policies[0].1 = &[10, 61, 59, 80, 40];
    let found = judged(finding("innocent_timeouts", policies));
    let lqd = found.lqd().and_then(|lqd| lqd.over_plain.as_ref()).expect("defined");
    assert!(lqd.advantage.mean > 0.0 && lqd.verdict == Significance::Unclear);
    assert_eq!(found.policies[2].share_of_gain, None);
}

/// A difference that would be a finding alone is none among many that say nothing.
#[test]
fn many_comparisons_are_corrected_for() {
    let mut policies = gaining();
    // Differences of 8, 6, 1, 3 and 2: t = 3.1, p = 0.036.
    policies[0].1 = &[52, 54, 59, 57, 58];
    let verdict =
        |own: &MapFinding| own.lqd().and_then(|lqd| Some(lqd.over_plain.as_ref()?.verdict));
    assert_eq!(
        verdict(&judged(finding("innocent_timeouts", policies))),
        Some(Significance::Better)
    );
    let own = finding("innocent_timeouts", policies);
    policies[0].1 = &[50, 70, 59, 61, 61];
    let noise = finding("innocent_timeouts", policies);
    let mut all = vec![own];
    all.extend(vec![noise; 9]);
    judge(&mut all.iter_mut().collect::<Vec<_>>());
    assert_eq!(verdict(&all[0]), Some(Significance::Unclear));
}

#[test]
fn the_tally_counts_verdicts_and_shares() {
    let findings = [judged(finding("innocent_timeouts", gaining()))];
    let tally = Tally::count(&[&findings, &[]]);
    assert_eq!((tally.points, tally.pairs), (2, 1));
    let one = PairCounts { better: 1, worse: 0, tests: 1 };
    let good = tally.policy("credence-good").expect("compared");
    assert_eq!(good.over_plain, one);
    let share = |of: &str| SubjectShare { of: of.to_owned(), pairs: 1, median: Some(44.0 / 49.0) };
    assert_eq!(good.share_of_gain, [share("all"), share("short")]);
    let rule = tally.policy("oracle").expect("compared");
    assert_eq!(rule.over_plain, one);
    let setting = |policy: &str, best, regret| SettingTally {
        policy: policy.to_owned(),
        best,
        median_regret: Some(regret),
        worse_by_a_tenth: 0,
    };
    // DT is luckier where it is measured.
    let settings = [setting("complete-sharing", 1, 0.0), setting("dt:alpha=8", 0, -29.0 / 60.0)];
    assert_eq!(tally.settings, settings);
}

#[test]
fn of_settings_that_are_as_often_worse_the_less_harmful_is_first() {
    let with = |small: f64, large: f64| MapFinding {
        regrets: [("a-large", large), ("b-small", small)]
            .map(|(policy, regret)| (policy.to_owned(), Some(regret)))
            .into(),
        ..finding("innocent_timeouts", gaining())
    };
    let findings = [with(0.5, 25.0), with(-0.1, -0.2)];
    let tally = Tally::count(&[&findings]);
    let order: Vec<&str> = tally.settings.iter().map(|own| own.policy.as_str()).collect();
    assert_eq!(order, ["b-small", "a-large"]);
    assert!(tally.settings.iter().all(|own| own.worse_by_a_tenth == 1));
}

#[test]
fn the_median_of_two_is_between_them() {
    assert_eq!(median(vec![]), None);
    assert_eq!(median(vec![3.0, 1.0, 2.0]), Some(2.0));
    assert_eq!(median(vec![3.0, 1.0]), Some(2.0));
}

/// Reverie is a rival, but no alpha; a rule is compared with what it runs over, if that is listed.
#[test]
fn alphas_and_bases_are_compared_with_too() {
    let settings: MapSettings = toml::from_str(
        "runs = 5
         choosing_runs = 2
         policies = ['complete-sharing', 'dt:alpha=8', 'reverie', 'oracle:base=dt:alpha=8', 'oracle']
         oracles = {}",
    )
    .expect("settings of a map");
    let over_8 = "oracle:base=dt:alpha=8";
    let of: [(&str, &[u64]); 6] = [
        ("lqd", &[10, 11, 12, 11, 11]),
        ("complete-sharing", &FLAT),
        ("dt:alpha=8", &[71, 70, 72, 71, 71, 70, 70]),
        ("reverie", &[51, 50, 52, 51, 51, 50, 50]),
        (over_8, &[61, 60, 62, 61, 66, 60, 60]),
        ("oracle", &FLAT),
    ];
    let comparison = PairedRuns { policies: of.map(|(name, values)| runs(name, values)).to_vec() };
    let measure = MeasureName("innocent_timeouts".to_owned());
    let found = judged(MapFinding::new(&settings, &measure, &comparison));
    assert_eq!(found.best_plain.as_deref(), Some("reverie"));
    assert_eq!(found.best_alpha.as_deref(), Some("complete-sharing"));
    let mean = |of: &Option<Difference>| of.as_ref().map(|of| of.advantage.mean);
    let lqd = found.lqd().expect("compared");
    assert_eq!((mean(&lqd.over_alpha), mean(&lqd.over_base)), (Some(49.0), None));
    let rule = found.policy(over_8).expect("compared");
    assert_eq!((mean(&rule.over_alpha), mean(&rule.over_base)), (Some(-2.0), Some(9.0)));
    // Its base, alpha 16, is not listed.
    assert_eq!(found.policy("oracle").expect("compared").over_base, None);
    let tally = Tally::count(&[&[found]]);
    let counts = |name: &str| {
        let own = tally.policy(name).expect("compared");
        (own.over_alpha, own.over_base)
    };
    let count = |better, worse| Some(PairCounts { better, worse, tests: 1 });
    assert_eq!(counts(LQD), (count(1, 0), None));
    assert_eq!(counts(over_8), (count(0, 0), count(1, 0)));
}
