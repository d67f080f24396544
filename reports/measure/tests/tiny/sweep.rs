//! A sweep of 48 forests, with numbers made up by a formula.

use dropcast_train::{
    ClassWeight, Criterion, DataOrigin, ForestSize, FrontMeasure, FrontPart, FrontRule,
    MaxFeatures, PartSize, SWEEP_FORMAT_VERSION, Split, Spread, SpreadScores, SweepAlpha,
    SweepBest, SweepParts, SweepRow, SweepScores, SweepSetting, SweepSummary, SweepTable, VoteRule,
};

fn scores(setting: &SweepSetting, seed: u64, part: f64) -> SweepScores {
    let size = f64::from(setting.trees).log2() + f64::from(setting.max_depth);
    let heavy = if setting.class_weight == ClassWeight::None { 0.0 } else { 0.03 };
    let luck = ((seed * 31 + u64::from(setting.trees)) % 7) as f64 / 200.0;
    let f1 = 0.3 + 0.04 * size - 0.05 * part + luck + heavy;
    SweepScores {
        precision: (size > 3.0).then_some(f1 + 0.1),
        recall: Some(f1 - 0.1),
        f1: Some(f1),
        average_precision: Some(f1),
        eta_packets: (part > 0.0).then_some(1.0 + 0.03 * (1.0 - f1)),
        eta_bound: None,
    }
}

fn spread(rows: &[SweepRow], of: impl Fn(&SweepRow) -> Option<f64>) -> Option<Spread> {
    let values: Vec<f64> = rows.iter().map(of).collect::<Option<_>>()?;
    Spread::measure(&values)
}

fn spreads(rows: &[SweepRow], part: FrontPart) -> SpreadScores {
    let over = |of: fn(&SweepScores) -> Option<f64>| spread(rows, |row| of(row.scores(part)?));
    SpreadScores {
        precision: over(|scores| scores.precision),
        recall: over(|scores| scores.recall),
        f1: over(|scores| scores.f1),
        average_precision: over(|scores| scores.average_precision),
        eta_packets: over(|scores| scores.eta_packets),
        eta_bound: None,
    }
}

pub fn sweep() -> SweepTable {
    let mut rows = Vec::new();
    let mut summary = Vec::new();
    for class_weight in [ClassWeight::None, ClassWeight::Balanced] {
        for trees in [1, 2, 4, 8] {
            for max_depth in [2, 4, 6] {
                let setting = SweepSetting {
                    features: vec!["queue_length".to_owned(), "occupancy".to_owned()],
                    trees,
                    max_depth,
                    max_bins: 255,
                    max_features: MaxFeatures::Sqrt,
                    criterion: Criterion::Gini,
                    class_weight,
                    min_samples_leaf: 1,
                    vote: VoteRule::F1,
                };
                let of_seed = |seed| row(&setting, seed);
                let own: Vec<SweepRow> = [1, 2].map(of_seed).to_vec();
                summary.push(SweepSummary {
                    seeds: 2,
                    row: rows.len() + 1,
                    within_noise: trees >= 4,
                    train: spreads(&own, FrontPart::Train),
                    validation: Some(spreads(&own, FrontPart::Validation)),
                    test: Some(spreads(&own, FrontPart::Test)),
                    dct_bytes: spread(&own, |row| row.size.dct_bytes.map(|bytes| bytes as f64)),
                    ternary_entries: spread(&own, |row| row.size.ternary_entries.map(|n| n as f64)),
                    thresholds: spread(&own, |row| Some(row.size.thresholds as f64)),
                    setting,
                });
                rows.extend(own);
            }
        }
    }
    mark_front(&mut rows);
    let winner = rows.iter().rposition(|row| row.pareto).expect("some row is on the front");
    let best = SweepBest {
        features: rows[winner].setting.features.clone(),
        row: winner,
        vote_threshold: 90,
        train: rows[winner].train,
        validation: rows[winner].validation,
        test: rows[winner].test,
        size: ForestSize { dct_bytes: Some(196), ternary_entries: Some(61), thresholds: 22 },
        model: "models/best-queue_length-occupancy.json".to_owned(),
    };
    SweepTable {
        format_version: SWEEP_FORMAT_VERSION,
        tool: "dropcast test".to_owned(),
        data: vec![DataOrigin { name: "a.parquet".to_owned(), sha256: "ef".repeat(32), run: 1 }],
        split: Split::None,
        parts: SweepParts {
            train: Some(PartSize { rows: 60_000, drops: 600, episodes: Some(30) }),
            validation: Some(PartSize { rows: 20_000, drops: 90, episodes: Some(4) }),
            test: Some(PartSize { rows: 20_000, drops: 200, episodes: None }),
        },
        front: FrontRule { part: FrontPart::Validation, measure: FrontMeasure::EtaPackets },
        budget: Some("ternary-entries=64".parse().expect("a budget")),
        best_alpha: Some(SweepAlpha {
            alpha: Some(16.0),
            validation: Some(1.000_25),
            test: Some(1.000_5),
        }),
        proposed: rows.iter().position(|row| row.pareto && row.setting.trees >= 4),
        best: vec![best],
        rows,
        summary,
    }
}

fn row(setting: &SweepSetting, seed: u64) -> SweepRow {
    let entries = u64::from(setting.trees) * (1 << setting.max_depth) * 3 + seed * 5;
    SweepRow {
        setting: setting.clone(),
        seed,
        vote_threshold: 100,
        train: scores(setting, seed, 0.0),
        validation: Some(scores(setting, seed, 0.5)),
        test: Some(scores(setting, seed, 1.0)),
        size: ForestSize {
            dct_bytes: Some(entries * 4),
            ternary_entries: Some(entries),
            thresholds: entries / 3,
        },
        pareto: false,
        model: None,
    }
}

fn mark_front(rows: &mut [SweepRow]) {
    let key = |row: &SweepRow| {
        (row.size.ternary_entries, row.validation.and_then(|scores| scores.eta_packets))
    };
    let keys: Vec<_> = rows.iter().map(key).collect();
    for row in rows {
        let (entries, eta) = key(row);
        let beats = |other: &&(Option<u64>, Option<f64>)| {
            other.0 <= entries && other.1 <= eta && **other != (entries, eta)
        };
        row.pareto = !keys.iter().any(|other| beats(&other));
        row.model = row.pareto.then(|| format!("models/{entries:?}.json"));
    }
}
