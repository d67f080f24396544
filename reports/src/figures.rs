//! The figures of a report's page.

use crate::plot::{Axis, BarFigure, BarGroup, Draw, LineFigure, Scale, Series};
use crate::report::{Distribution, FeatureSection, PolicySection, Report};
use crate::{ReplayPolicy, ScoreBin, numbers};

/// Precision against recall over all vote thresholds.
pub(crate) fn precision_recall(report: &Report) -> LineFigure {
    let curve =
        report.curve.points.iter().filter_map(|point| Some((point.recall?, point.precision?)));
    let chosen = &report.prediction;
    let mut series = vec![Series::new("every vote threshold", Draw::Line, curve)];
    series[0].points.reverse();
    if let (Some(recall), Some(precision)) = (chosen.recall, chosen.precision) {
        let name = format!("this model's, {}", report.model.vote_threshold);
        series.push(Series::new(name, Draw::Marks, [(recall, precision)]));
    }
    if let Some(share) = report.labels.drop_share {
        let ends = [(0.0, share), (1.0, share)];
        series.push(Series::new("predicting at random (share of drops)", Draw::Rule, ends));
    }
    LineFigure {
        title: "Precision and recall".to_owned(),
        description: format!(
            "Precision against recall over all vote thresholds; average precision {}.",
            numbers::optional(report.curve.average_precision, 4)
        ),
        x: Axis::new("Recall (share of the drops that are predicted)").range(0.0, 1.0),
        y: Axis::new("Precision").range(0.0, 1.0),
        series,
        notes: Vec::new(),
    }
}

/// F1, precision and recall against the vote threshold.
pub(crate) fn by_threshold(report: &Report) -> LineFigure {
    let top = f64::from(report.model.max_score.max(1));
    let points = &report.curve.points;
    let steps = |name: &str, score: fn(&crate::CurvePoint) -> Option<f64>| {
        let known = points.iter().filter_map(|p| Some((f64::from(p.vote_threshold), score(p)?)));
        let mut steps: Vec<(f64, f64)> = known.collect();
        // The last value holds to the end, but for a precision that ends where predictions do.
        match (steps.last().copied(), points.iter().find(|point| score(point).is_none())) {
            (Some((_, y)), Some(end)) => steps.push((f64::from(end.vote_threshold), y)),
            (Some((_, y)), None) => steps.push((top, y)),
            (None, _) => {}
        }
        Series::new(name, Draw::Steps, steps)
    };
    let chosen = f64::from(report.model.vote_threshold);
    LineFigure {
        title: "Scores by vote threshold".to_owned(),
        description: format!(
            "F1, precision and recall at every vote threshold from 0 to {top}; the model's is {chosen}."
        ),
        x: Axis::new("Vote threshold (a drop is predicted above this sum of leaf weights)")
            .range(0.0, top),
        y: Axis::new("Score").range(0.0, 1.0),
        series: vec![
            steps("F1", |point| point.f1),
            steps("precision", |point| point.precision),
            steps("recall", |point| point.recall),
            Series::new(
                format!("this model's, {chosen}"),
                Draw::Rule,
                [(chosen, 0.0), (chosen, 1.0)],
            ),
        ],
        notes: Vec::new(),
    }
}

/// What each policy transmits less than LQD, percent.
pub(crate) fn throughput(policies: &[PolicySection]) -> BarFigure {
    let others = || policies.iter().filter(|policy| policy.policy != ReplayPolicy::Lqd);
    let group = |name: &str, of: fn(&PolicySection) -> Option<f64>| {
        let lost: Vec<Option<f64>> =
            others().map(|policy| of(policy).map(|share| (1.0 - share) * 100.0)).collect();
        let label = |lost: &Option<f64>| {
            lost.map_or_else(String::new, |lost| format!("{} %", numbers::ratio(lost, 3)))
        };
        BarGroup { name: name.to_owned(), labels: lost.iter().map(label).collect(), values: lost }
    };
    BarFigure {
        title: "Throughput lost against LQD".to_owned(),
        description: "For each policy, how much less it transmits than push-out LQD on the same \
                      arrivals, in packets and in bytes."
            .to_owned(),
        value: Axis::new("Less than LQD transmits, % (shorter is better)"),
        categories: others().map(|policy| policy.policy.name().to_owned()).collect(),
        groups: vec![
            group("packets", |policy| policy.packets_to_lqd),
            group("bytes", |policy| policy.bytes_to_lqd),
        ],
        notes: Vec::new(),
    }
}

/// The scores that packets of each class get. Ranges that no packet of a class got have no point.
pub(crate) fn scores(report: &Report) -> LineFigure {
    let bins = &report.score_histogram;
    let shares = |name: &str, of: fn(&ScoreBin) -> u64| {
        let all: u64 = bins.iter().map(of).sum();
        let points = bins.iter().filter(|bin| of(bin) > 0).map(|bin| {
            let middle = (f64::from(bin.from) + f64::from(bin.to)) / 2.0;
            (middle, of(bin) as f64 / all as f64 * 100.0)
        });
        Series::new(name, Draw::Line, points)
    };
    let mut series = vec![
        shares("transmitted by LQD", |bin| bin.transmitted),
        shares("dropped by LQD", |bin| bin.dropped),
    ];
    let points = series.iter().flat_map(|series| &series.points);
    let least = points.map(|point| point.y).fold(100.0, f64::min);
    let chosen = f64::from(report.model.vote_threshold);
    let ends = [(chosen, least), (chosen, 100.0)];
    series.push(Series::new(format!("vote threshold, {chosen}"), Draw::Rule, ends));
    LineFigure {
        title: "Forest scores by what LQD did".to_owned(),
        description: "Share of the transmitted and of the dropped packets in each range of forest \
                      scores."
            .to_owned(),
        x: Axis::new("Score (sum of leaf weights)")
            .range(0.0, f64::from(report.model.max_score.max(1))),
        y: Axis::new("Share of the class, %").scale(Scale::Log10).range(least, 100.0),
        series,
        notes: Vec::new(),
    }
}

/// The distribution of a feature by label.
pub(crate) fn feature(feature: &FeatureSection) -> LineFigure {
    let (unit, scale) = match feature.unit.as_deref() {
        Some("bytes") => (", kB", 1e-3),
        Some("queues") => (", queues", 1.0),
        _ => ("", 1.0),
    };
    let curve = |name: &str, distribution: &Distribution| {
        let points =
            distribution.cdf.iter().map(|&(value, share)| (f64::from(value) * scale, share));
        Series::new(name, Draw::Steps, [(0.0, 0.0)].into_iter().chain(points))
    };
    let mut series = Vec::new();
    for (name, distribution) in
        [("transmitted by LQD", &feature.transmitted), ("dropped by LQD", &feature.dropped)]
    {
        if distribution.rows > 0 {
            series.push(curve(name, distribution));
        }
    }
    let top = [feature.transmitted.max, feature.dropped.max].into_iter().flatten().max();
    let top = f64::from(top.unwrap_or(1).max(1)) * scale;
    for series in &mut series {
        series.points.push(crate::plot::Point::new(top, 1.0));
    }
    let words = feature.name.replace('_', " ").replace("avg", "average");
    LineFigure {
        title: format!("Distribution of {words}"),
        description: format!(
            "Cumulative distribution of {words} on arrival, for packets that LQD transmitted and \
             for those it dropped."
        ),
        x: Axis::new(format!("{}{unit}", capitalised(&words))).range(0.0, top),
        y: Axis::new("Share of packets up to this value").range(0.0, 1.0),
        series,
        notes: Vec::new(),
    }
}

pub(crate) fn capitalised(words: &str) -> String {
    let mut letters = words.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
