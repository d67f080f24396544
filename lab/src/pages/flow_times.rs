//! How long flows took in an experiment, drawn.

use super::experiment_text::significant;
use crate::closed_loop::{AtShare, FlowGroup, FlowMeasure, FlowTimes};
use dropcast_reports::plot::{
    Axis, AxisScale, BarFigure, BarGroup, LineFigure, Page, Point, Series, Unit,
};

/// The percentiles that are drawn as bars: their names, and the shares of the flows.
const PERCENTILES: [(&str, f64); 3] = [("p50", 0.5), ("p95", 0.95), ("p99", 0.99)];

/// Pictures of the distributions, with the names of their files: for each group of flows and measure the whole as lines and its
/// percentiles as bars, as SVG and for LaTeX. They have no title.
pub fn flow_times(all: &[FlowTimes]) -> Vec<(String, String)> {
    let mut figures: Vec<(FlowGroup, FlowMeasure)> =
        all.iter().map(|times| (times.group, times.measure)).collect();
    figures.sort_unstable();
    figures.dedup();
    let files = |(group, measure): (FlowGroup, FlowMeasure)| {
        let own: Vec<&FlowTimes> =
            all.iter().filter(|times| (times.group, times.measure) == (group, measure)).collect();
        let what = match measure {
            FlowMeasure::FctNs => "fct",
            FlowMeasure::Slowdown => "slowdown",
        };
        let name = format!("flow-times-{}-{what}", group.name());
        let (lines, bars) = (lines(&own, group, measure), bars(&own, group, measure));
        [
            (format!("{name}.svg"), lines.to_svg(Page::Alone)),
            (format!("{name}.tex"), lines.to_pgfplots()),
            (format!("{name}-percentiles.svg"), bars.to_svg(Page::Alone)),
            (format!("{name}-percentiles.tex"), bars.to_pgfplots()),
        ]
    };
    figures.into_iter().flat_map(files).collect()
}

/// What an axis of values is called, and what one unit of the measure is on it.
fn axis(group: FlowGroup, measure: FlowMeasure) -> (Axis, f64) {
    let flows = group.words();
    match measure {
        FlowMeasure::FctNs => (Axis::new(format!("completion time of {flows}, us")), 1e-3),
        FlowMeasure::Slowdown => (Axis::new(format!("slowdown of {flows}")), 1.0),
    }
}

fn lines(own: &[&FlowTimes], group: FlowGroup, measure: FlowMeasure) -> LineFigure {
    let (x, unit) = axis(group, measure);
    let series = |times: &&FlowTimes| {
        let point = |at: &AtShare| Point {
            range: Some((at.low * unit, at.high * unit)),
            ..Point::new(at.mean * unit, at.share)
        };
        let points = times.points.iter().map(point).collect();
        Series { name: times.policy.clone(), points, ..Series::default() }
    };
    LineFigure {
        description: format!(
            "Share of {} within a {}, by policy: the mean over the runs, and a band from the least to the largest run.",
            group.words(),
            measure_words(measure)
        ),
        x: x.scale(AxisScale::Log10),
        y: Axis::new("share of flows, %").unit(Unit::Percent).range(0.0, 1.0),
        series: own.iter().map(series).collect(),
        ..LineFigure::default()
    }
}

/// A percentile that some run does not reach, because flows did not complete, has no bar.
fn bars(own: &[&FlowTimes], group: FlowGroup, measure: FlowMeasure) -> BarFigure {
    let (value, unit) = axis(group, measure);
    let bar = |(name, share): (&str, f64)| {
        let at = |times: &&FlowTimes| times.points.iter().find(|at| at.share == share).copied();
        let points: Vec<Option<AtShare>> = own.iter().map(at).collect();
        let label = |at: &Option<AtShare>| {
            at.map_or_else(|| "not reached".to_owned(), |at| significant(at.mean * unit))
        };
        BarGroup {
            name: name.to_owned(),
            values: points.iter().map(|at| at.map(|at| at.mean * unit)).collect(),
            labels: points.iter().map(label).collect(),
            ranges: points.iter().map(|at| at.map(|at| (at.low * unit, at.high * unit))).collect(),
        }
    };
    BarFigure {
        description: format!(
            "Percentiles of the {} of {}, by policy: the mean over the runs, and a line from the least to the largest run.",
            measure_words(measure),
            group.words()
        ),
        value,
        categories: own.iter().map(|times| times.policy.clone()).collect(),
        groups: PERCENTILES.into_iter().map(bar).collect(),
        ..BarFigure::default()
    }
}

fn measure_words(measure: FlowMeasure) -> &'static str {
    match measure {
        FlowMeasure::FctNs => "completion time",
        FlowMeasure::Slowdown => "slowdown",
    }
}
