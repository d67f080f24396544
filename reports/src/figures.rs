//! The figures of a report's page.

use crate::answer::{Losses, Row};
use crate::numbers;
use crate::plot::{
    Axis, AxisScale, BarFigure, BarGroup, BarLook, Draw, LineFigure, Point, Series, Unit,
};
use dropcast_measure::ScoreBin;
use dropcast_measure::{CurvePoint, FeatureImportance, Loss};
use dropcast_measure::{Distribution, FeatureSection, Report};

/// Precision against recall over all vote thresholds.
pub(crate) fn precision_recall(report: &Report) -> LineFigure {
    let point = |point: &CurvePoint| {
        let label = Some(format!("vote threshold {}", point.vote_threshold));
        Some(Point { label, ..Point::new(point.recall?, point.precision?) })
    };
    let points = report.curve.points.iter().rev().filter_map(point).collect();
    let curve = Series { points, ..Series::new("every vote threshold", Draw::Line, []) };
    let chosen = &report.prediction;
    let mut series = vec![curve];
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
    let steps = |name: &str, score: fn(&CurvePoint) -> Option<f64>| {
        let known = points.iter().filter_map(|p| Some((f64::from(p.vote_threshold), score(p)?)));
        let mut steps: Vec<(f64, f64)> = known.collect();
        // The last value holds to the end; precision ends with the last prediction.
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

/// What policies lose more than the switch does now, and in words those that are off the scale: they lose more than twice
/// what can be saved.
pub(crate) fn losses(losses: &Losses<'_>) -> (BarFigure, String) {
    let against = |row: &Row<'_>| row.of.against_now_bytes;
    let saved = losses.rows.iter().map(|row| -against(row)).max().unwrap_or(0);
    let (off, on): (Vec<_>, Vec<_>) =
        losses.rows.iter().partition(|row| saved > 0 && against(row) > saved.saturating_mul(2));
    let unit = losses.unit.name;
    let off: Vec<String> =
        off.iter().map(|row| format!("{} ({} {unit})", row.cells[0], row.cells[2])).collect();
    let name = |row: &Row<'_>| {
        let now = if row.is_now() { " (now)" } else { "" };
        row.cells[0].replace("Dynamic Thresholds, ", "") + now
    };
    let range = |row: &Row<'_>| Some((row.of.low_bytes? as f64, row.of.high_bytes? as f64));
    let group = BarGroup {
        name: "against now".to_owned(),
        values: on.iter().map(|row| Some(against(row) as f64)).collect(),
        labels: on.iter().map(|row| row.cells[2].clone()).collect(),
        ranges: on.iter().map(|row| range(row)).collect(),
    };
    let figure = BarFigure {
        title: "Bytes lost, against now".to_owned(),
        description:
            "For each policy, how many bytes more than the switch it loses now of the same \
                      arrivals, with an interval."
                .to_owned(),
        value: Axis::new(format!("More lost than now, {unit} (left of 0: less)")).unit(
            match unit {
                "kB" => Unit::Kilo,
                "MB" => Unit::Mega,
                _ => Unit::One,
            },
        ),
        categories: on.iter().map(|row| name(row)).collect(),
        groups: vec![group],
        look: BarLook::Dots,
        ..BarFigure::default()
    };
    (figure, off.join(", "))
}

/// Scores by class. Ranges without packets of a class have no point.
pub(crate) fn scores(report: &Report) -> LineFigure {
    let bins = &report.score_histogram;
    let shares = |name: &str, of: fn(&ScoreBin) -> u64| {
        let all: u64 = bins.iter().map(of).sum();
        let points = bins.iter().filter(|bin| of(bin) > 0).map(|bin| {
            let middle = (f64::from(bin.from) + f64::from(bin.to)) / 2.0;
            (middle, of(bin) as f64 / all as f64)
        });
        Series::new(name, Draw::Line, points)
    };
    let mut series = vec![
        shares("transmitted by LQD", |bin| bin.transmitted),
        shares("dropped by LQD", |bin| bin.dropped),
    ];
    let points = series.iter().flat_map(|series| &series.points);
    let least = points.map(|point| point.y).fold(1.0, f64::min);
    let chosen = f64::from(report.model.vote_threshold);
    let ends = [(chosen, least), (chosen, 1.0)];
    series.push(Series::new(format!("vote threshold, {chosen}"), Draw::Rule, ends));
    LineFigure {
        title: "Forest scores by what LQD did".to_owned(),
        description: "Share of the transmitted and of the dropped packets in each range of forest \
                      scores."
            .to_owned(),
        x: Axis::new("Score (sum of leaf weights)")
            .range(0.0, f64::from(report.model.max_score.max(1))),
        y: Axis::new("Share of the class, %")
            .unit(Unit::Percent)
            .scale(AxisScale::Log10)
            .range(least, 1.0),
        series,
        notes: Vec::new(),
    }
}

/// Reliability diagram: the share of drops against the mean score, by range of scores.
pub(crate) fn reliability(report: &Report) -> LineFigure {
    let ranges = report.calibration.ranges.iter().filter_map(|range| {
        let label = format!(
            "{} packets with scores {} to {}",
            numbers::count(range.rows),
            range.from,
            range.to
        );
        Some(Point { label: Some(label), ..Point::new(range.mean_score?, range.drop_share?) })
    });
    let model = Series { points: ranges.collect(), ..Series::new("this model", Draw::Line, []) };
    LineFigure {
        title: "Reliability of scores".to_owned(),
        description:
            "For ranges of scores, the share of packets that LQD dropped against the mean \
                      score as a share of the highest; a line of equal shares for comparison."
                .to_owned(),
        x: Axis::new("Mean score (as a share of the highest)").range(0.0, 1.0),
        y: Axis::new("Share of packets dropped").range(0.0, 1.0),
        series: vec![
            model,
            Series::new("perfectly calibrated", Draw::Rule, [(0.0, 0.0), (1.0, 1.0)]),
        ],
        notes: Vec::new(),
    }
}

/// Permutation importance of each feature.
pub(crate) fn permutation_loss(features: &[FeatureImportance]) -> BarFigure {
    let group = |name: &str, of: fn(&FeatureImportance) -> Option<Loss>| {
        let label = |loss: Option<Loss>| {
            loss.map_or_else(String::new, |loss| numbers::short((loss.mean * 1e3).round() / 1e3))
        };
        BarGroup {
            name: name.to_owned(),
            values: features.iter().map(|feature| of(feature).map(|loss| loss.mean)).collect(),
            labels: features.iter().map(|feature| label(of(feature))).collect(),
            ..BarGroup::default()
        }
    };
    BarFigure {
        title: "Permutation importance".to_owned(),
        description:
            "For each feature, how much average precision and F1 fall when its values are \
                      permuted."
                .to_owned(),
        value: Axis::new("Loss when the feature's values are permuted (longer: more important)"),
        categories: features.iter().map(|feature| feature.name.clone()).collect(),
        groups: vec![
            group("average precision", |feature| feature.average_precision_loss),
            group("F1", |feature| feature.f1_loss),
        ],
        ..BarFigure::default()
    }
}

/// Gini importance of each feature.
pub(crate) fn gini_shares(features: &[FeatureImportance]) -> BarFigure {
    let shares: Vec<Option<f64>> = features.iter().map(|feature| feature.gini_share).collect();
    let label = |share: &Option<f64>| {
        share.map_or_else(String::new, |share| format!("{} %", numbers::ratio(share * 100.0, 1)))
    };
    BarFigure {
        title: "Gini importance".to_owned(),
        description: "For each feature, its share of the decrease of Gini impurity by the splits \
                      of all trees."
            .to_owned(),
        value: Axis::new("Share of the decrease of Gini impurity, %").unit(Unit::Percent),
        categories: features.iter().map(|feature| feature.name.clone()).collect(),
        groups: vec![BarGroup {
            name: "share".to_owned(),
            labels: shares.iter().map(label).collect(),
            values: shares,
            ..BarGroup::default()
        }],
        ..BarFigure::default()
    }
}

/// The distribution of a feature by label.
pub(crate) fn feature(feature: &FeatureSection) -> LineFigure {
    let (name, unit) = match feature.unit.as_deref() {
        Some("bytes") => (", kB", Unit::Kilo),
        Some("queues") => (", queues", Unit::One),
        _ => ("", Unit::One),
    };
    let curve = |name: &str, distribution: &Distribution| {
        let points = distribution.cdf.iter().map(|&(value, share)| (f64::from(value), share));
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
    let top = f64::from(top.unwrap_or(1).max(1));
    for series in &mut series {
        series.points.push(Point::new(top, 1.0));
    }
    let words = feature.name.replace('_', " ").replace("avg", "average");
    LineFigure {
        title: format!("Distribution of {words}"),
        description: format!(
            "Cumulative distribution of {words} on arrival, for packets that LQD transmitted and \
             for those it dropped."
        ),
        x: Axis::new(format!("{}{name}", capitalised(&words))).unit(unit).range(0.0, top),
        y: Axis::new("Share of packets up to this value").range(0.0, 1.0),
        series,
        notes: Vec::new(),
    }
}

pub(crate) fn capitalised(words: &str) -> String {
    let mut letters = words.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}
