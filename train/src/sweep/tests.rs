//! What a sweep trains and how it is summarised.

use super::*;
use crate::{MaxFeatures, Split, VoteRule};
use proptest::prelude::*;

fn axes(text: &str) -> Result<SweepAxes, String> {
    serde_json::from_str(text).map_err(|error| error.to_string())
}

fn row(entries: u64, eta: Option<f64>) -> SweepRow {
    let plan = SweepPlan::new(&SweepAxes::default()).unwrap();
    let scores = SweepScores { eta_packets: eta, f1: Some(0.5), ..SweepScores::default() };
    SweepRow {
        setting: plan.groups[0].setting((4, 4), VoteRule::F1),
        seed: 1,
        vote_threshold: 0,
        train: SweepScores::default(),
        validation: Some(scores),
        test: None,
        size: ForestSize { ternary_entries: Some(entries), ..ForestSize::default() },
        pareto: false,
        model: None,
    }
}

#[test]
fn axes_are_values_or_lists() {
    let read = axes(
        r#"{"trees": [1, 16], "max_depth": 2, "features": ["paper4", "rank"],
        "votes": ["f1", "eta"], "class_weight": ["none", "1:5"], "criterion": "entropy", "max_features": ["all", "3"]}"#,
    );
    let read = read.unwrap();
    assert_eq!((read.trees.as_slice(), read.max_depth.as_slice()), (&[1, 16][..], &[2][..]));
    assert_eq!(read.votes, [VoteRule::F1, VoteRule::Eta]);
    let three = MaxFeatures::Count(3.try_into().unwrap());
    assert_eq!(read.max_features, [MaxFeatures::All, three]);
    let written = serde_json::to_string(&read).unwrap();
    assert_eq!(axes(&written), Ok(read));
    let fault = |text: &str| axes(text).unwrap_err();
    assert!(fault(r#"{"trees": 129}"#).starts_with("expected 1 to 128, not 129"));
    assert!(fault(r#"{"max_depth": [4, 9]}"#).starts_with("expected 1 to 8, not 9"));
    assert!(fault(r#"{"trees": []}"#).starts_with("expected at least one value"));
    assert!(fault(r#"{"seeds": [1, 2, 1]}"#).starts_with("1 is in the list twice"));
    assert!(fault(r#"{"votes": "f2"}"#).starts_with("unknown vote rule \"f2\""));
    assert!(fault(r#"{"features": "rank,colour"}"#).contains("colour"));
    assert!(fault(r#"{"max_features": "half"}"#).contains("half"));
    let number = "a whole number, or a list of such";
    assert!(fault(r#"{"trees": "4"}"#).starts_with(&format!("expected {number}")));
    assert!(fault(r#"{"trees": 70000}"#).starts_with("expected 1 to 128, not 70000"));
    assert!(fault(r#"{"min_samples_leaf": -1}"#).starts_with("expected at least 1, not -1"));
    assert!(fault(r#"{"class_weight": "0:1"}"#).contains("1e-6 to 1e6, not 0:1"));
    for seeds in ["\"one\"", "[-1]"] {
        let fault = fault(&format!("{{\"seeds\": {seeds}}}"));
        assert!(fault.starts_with("expected a whole number from 0, or a list of such"), "{fault}");
    }
    let text = "expected text in quotes, or a list of such";
    assert!(fault(r#"{"max_features": 2}"#).starts_with(text));
    assert!(fault(r#"{"tree": 1}"#).starts_with("unknown field `tree`"));
}

#[test]
fn every_combination_is_a_row_once() {
    let axes = axes(
        r#"{"trees": [1, 4], "max_depth": [2, 3, 4], "seeds": [7, 8],
        "max_bins": [16, 64], "votes": ["f1", "fixed"]}"#,
    );
    let plan = SweepPlan::new(&axes.unwrap()).unwrap();
    assert_eq!((plan.rows, plan.groups.len()), (48, 2));
    let mut rows = Vec::new();
    for group in &plan.groups {
        let mut places = group.places.clone();
        for size in group.sizes() {
            for &vote in &group.votes {
                for &seed in &group.seeds {
                    let place = places.next().unwrap();
                    rows.push((place, group.forest.max_bins, size, vote.to_string(), seed));
                }
            }
        }
        assert_eq!(places.next(), None);
    }
    rows.sort_by_key(|row| row.0);
    assert!(rows.iter().map(|row| row.0).eq(0..48));
    let first = |vote: &str, seed| (16, (1, 2), vote.to_owned(), seed);
    let shown = |row: &(usize, u16, (u16, u8), String, u64)| (row.1, row.2, row.3.clone(), row.4);
    let heads: Vec<_> = rows[..3].iter().map(shown).collect();
    assert_eq!(heads, [first("f1", 7), first("f1", 8), first("fixed:0.5", 7)]);
}

#[test]
fn no_sweep_is_endless() {
    let seeds: Vec<u64> = (0..=MOST_SWEEP_ROWS as u64).collect();
    assert_eq!(SweepPlan::new(&SweepAxes { seeds, ..SweepAxes::default() }), None);
}

#[test]
fn fronts_prefer_validation_rows_and_eta() {
    let rule = |a, b, c| FrontRule::new(a, b, c);
    let (eta, f1) = (FrontMeasure::EtaPackets, FrontMeasure::F1);
    assert_eq!(rule(true, true, true), FrontRule { part: FrontPart::Validation, measure: eta });
    assert_eq!(rule(false, true, false), FrontRule { part: FrontPart::Test, measure: f1 });
    assert_eq!(rule(false, false, true), FrontRule { part: FrontPart::Train, measure: f1 });
}

#[test]
fn a_table_is_read_as_it_is_written_and_sums_up_seeds() {
    let axes = SweepAxes { seeds: vec![1, 2], ..SweepAxes::default() };
    let plan = SweepPlan::new(&axes).unwrap();
    let front = FrontRule::new(true, false, true);
    let part = |rows: [(u64, Option<f64>); 2]| SweepPart {
        rows: rows.map(|(entries, eta)| row(entries, eta)).to_vec(),
        models: vec![Some("{}".to_owned()); 2],
    };
    let parts = vec![part([(10, Some(1.25)), (14, Some(1.75))])];
    let train = PartSize { rows: 90, drops: 7, episodes: Some(2) };
    let parts_of = SweepParts { train: Some(train), ..SweepParts::default() };
    let (table, models) =
        assemble(&plan, parts.clone(), Vec::new(), (Split::None, parts_of), front).unwrap();
    let file = |name: &str| (format!("models/{name}.json"), "{}".to_owned());
    // Of two seeds the worse one stands for the configuration.
    assert_eq!(models, [file("row-00001"), file("best-level4")]);
    let [best] = &table.best[..] else { panic!("one feature set: {:?}", table.best) };
    assert_eq!((best.row, best.model.as_str()), (1, "models/best-level4.json"));
    assert_eq!((best.validation, best.size), (table.rows[1].validation, table.rows[1].size));
    assert_eq!(table.rows[1].model.as_deref(), Some("models/row-00001.json"));
    assert!(table.rows[1].pareto && !table.rows[0].pareto);
    assert_eq!((table.proposed, table.summary[0].row), (Some(1), 1));
    assert!(table.summary[0].within_noise);
    assert!(table.parts.named().eq([("train", train)]));
    let summary = &table.summary[0];
    assert_eq!((table.summary.len(), summary.seeds), (1, 2));
    let entries = summary.ternary_entries.unwrap();
    assert_eq!((entries.mean, entries.sd), (12.0, Some(8_f64.sqrt())));
    let validation = summary.validation.unwrap();
    let eta = validation.eta_packets.unwrap();
    assert_eq!((eta.lowest, eta.median, eta.highest, eta.mean), (1.25, 1.5, 1.75, 1.5));
    assert_eq!((validation.recall, summary.test), (None, None));
    let text = serde_json::to_string(&table).unwrap();
    assert_eq!(serde_json::from_str::<SweepTable>(&text).unwrap(), table);

    let error =
        assemble(&plan, Vec::new(), Vec::new(), (Split::None, parts_of), front).unwrap_err();
    assert_eq!(error.to_string(), "there are 0 parts where the sweep has 1 groups");
    let mut short = parts;
    short[0].models.clear();
    let error = assemble(&plan, short, Vec::new(), (Split::None, parts_of), front).unwrap_err();
    assert_eq!(error.to_string(), "a part has 0 rows where its group has 2");
}

/// A configuration of eight seeds with these measures above 1, in parts of 128.
fn of_seeds(entries: u64, etas: [u8; 8]) -> SweepPart {
    let rows: Vec<SweepRow> =
        etas.iter().map(|&eta| row(entries, Some(1.0 + f64::from(eta) / 128.0))).collect();
    let models = (0..8).map(|seed| Some(format!("{entries} {seed}"))).collect();
    SweepPart { rows, models }
}

/// The first configuration has the best median and is the largest; the lucky seed of the smallest is better than any.
#[test]
fn the_cheapest_within_noise_of_the_best_median_is_proposed() {
    let axes = SweepAxes { min_samples_leaf: vec![1, 2, 3], ..SweepAxes::default() };
    let plan = SweepPlan::new(&axes.with_seeds()).unwrap();
    assert_eq!((plan.groups.len(), plan.groups[0].seeds.len()), (3, 8));
    let parts = vec![
        of_seeds(30, [10, 11, 12, 13, 14, 15, 16, 17]),
        // Better with two seeds of eight.
        of_seeds(20, [9, 10, 20, 20, 20, 20, 20, 20]),
        // Better with one, by far.
        of_seeds(10, [1, 30, 30, 30, 30, 30, 30, 30]),
    ];
    let front = FrontRule::new(true, false, true);
    let (table, models) =
        assemble(&plan, parts, Vec::new(), (Split::None, SweepParts::default()), front).unwrap();
    let within: Vec<bool> = table.summary.iter().map(|of| of.within_noise).collect();
    assert_eq!(within, [true, true, false]);
    let medians: Vec<f64> = table
        .summary
        .iter()
        .map(|of| table.rows[of.row].validation.unwrap().eta_packets.unwrap())
        .collect();
    assert_eq!(medians, [14.0, 20.0, 30.0].map(|part| 1.0 + part / 128.0));
    let proposed = table.proposed.unwrap();
    assert_eq!(table.rows[proposed].size.ternary_entries, Some(20));
    assert!(table.rows[proposed].pareto);
    let file = table.rows[proposed].model.as_deref().unwrap();
    let text = models.iter().find(|(name, _)| name == file).map(|(_, text)| text.as_str());
    assert_eq!(text, Some(format!("20 {}", proposed - 8).as_str()), "its own model");
    assert_eq!(table.best[0].row, table.summary[0].row, "the best of the set has the best median");
}

proptest! {
    #[test]
    fn the_best_row_of_each_feature_set_is_the_first_that_none_beats(
        rows in prop::collection::vec((0_u64..4, prop::option::of(0_u8..4), 0_usize..3), 0..12)
    ) {
        let sets = ["level4", "rank", "occupancy,rank"].map(|set| {
            set.parse::<dropcast_features::FeatureSet>().unwrap().names()
        });
        let rows: Vec<SweepRow> = rows
            .iter()
            .map(|&(entries, eta, set)| {
                let mut row = row(entries, eta.map(f64::from));
                row.setting.features = sets[set].clone();
                row
            })
            .collect();
        let places: Vec<usize> = (0..rows.len()).collect();
        let found = FrontRule::new(true, true, true).best(&rows, &places);
        let value = |row: &SweepRow| Some((row.validation?.eta_packets?, row.size.ternary_entries?));
        let files = ["best-level4", "best-rank", "best-occupancy-rank"];
        for (set, file) in sets.iter().zip(files) {
            let own = || (0..rows.len()).filter(|&at| rows[at].setting.features == *set);
            let is_best = |&at: &usize| value(&rows[at]).is_some_and(|value_of| {
                own().filter_map(|other| value(&rows[other])).all(|other| value_of <= other)
            });
            let best = found.iter().find(|best| best.features == *set);
            prop_assert_eq!(best.map(|best| best.row), own().find(is_best));
            let model = format!("models/{file}.json");
            prop_assert!(best.is_none_or(|best| best.model == model));
        }
    }

    #[test]
    fn the_front_is_what_nothing_dominates(
        rows in prop::collection::vec((0_u64..9, prop::option::of(0_u8..9)), 0..12)
    ) {
        let rows: Vec<SweepRow> =
            rows.iter().map(|&(entries, eta)| row(entries, eta.map(f64::from))).collect();
        let rule = FrontRule::new(true, true, true);
        let front = rule.front(&rows.iter().collect::<Vec<_>>());
        let point = |at: usize| {
            let row: &SweepRow = &rows[at];
            Some((row.size.ternary_entries?, row.validation?.eta_packets?))
        };
        for (at, &is_on_front) in front.iter().enumerate() {
            let dominated = |(entries, eta): (u64, f64)| (0..rows.len()).any(|other| {
                point(other).is_some_and(|(e, h)| {
                    let no_worse = e <= entries && h <= eta;
                    no_worse && (e < entries || h < eta || other < at)
                })
            });
            let expected = point(at).is_some_and(|point| !dominated(point));
            prop_assert_eq!(is_on_front, expected, "{}", at);
        }
    }
}
