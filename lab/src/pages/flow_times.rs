//! How long flows took in an experiment, drawn.

use crate::closed_loop::{AtShare, FlowTimes, Measure};
use dropcast_reports::plot::{Axis, LineFigure, Page, Point, Scale, Series, Unit};
use dropcast_simulate::FlowKind;

/// Pictures of the distributions, with the names of their files: one as SVG and one for LaTeX for each class of flows and measure. They
/// have no title.
pub fn flow_times(all: &[FlowTimes]) -> Vec<(String, String)> {
    let mut figures: Vec<(FlowKind, Measure)> =
        all.iter().map(|times| (times.kind, times.measure)).collect();
    figures.sort_unstable();
    figures.dedup();
    let file = |(kind, measure): (FlowKind, Measure)| {
        let what = match measure {
            Measure::FctNs => "fct",
            Measure::Slowdown => "slowdown",
        };
        let (name, figure) =
            (format!("flow-times-{}-{what}", kind.name()), figure(all, kind, measure));
        [
            (format!("{name}.svg"), figure.to_svg(Page::Alone)),
            (format!("{name}.tex"), figure.to_pgfplots()),
        ]
    };
    figures.into_iter().flat_map(file).collect()
}

fn figure(all: &[FlowTimes], kind: FlowKind, measure: Measure) -> LineFigure {
    let class = kind.name();
    let (label, unit) = match measure {
        Measure::FctNs => (format!("completion time of {class} flows, us"), 1e-3),
        Measure::Slowdown => (format!("slowdown of {class} flows"), 1.0),
    };
    let own = all.iter().filter(|times| (times.kind, times.measure) == (kind, measure));
    let series = |times: &FlowTimes| {
        let point = |at: &AtShare| Point {
            range: Some((at.low * unit, at.high * unit)),
            ..Point::new(at.mean * unit, at.share)
        };
        let points = times.points.iter().map(point).collect();
        Series { name: times.policy.clone(), points, ..Series::default() }
    };
    LineFigure {
        description: format!(
            "Share of {class} flows within a {}, by policy: the mean over the runs, and a band from the least to the largest run.",
            measure_words(measure)
        ),
        x: Axis::new(label).scale(Scale::Log10),
        y: Axis::new("share of flows, %").unit(Unit::Percent).range(0.0, 1.0),
        series: own.map(series).collect(),
        ..LineFigure::default()
    }
}

fn measure_words(measure: Measure) -> &'static str {
    match measure {
        Measure::FctNs => "completion time",
        Measure::Slowdown => "slowdown",
    }
}
