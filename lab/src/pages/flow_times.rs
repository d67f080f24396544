//! How long flows took in an experiment, drawn.

use crate::closed_loop::{FlowTimes, Measure};
use dropcast_reports::plot::{Axis, Draw, LineFigure, Page, Scale, Series, Unit};
use dropcast_simulate::FlowKind;

/// Pictures of the distributions, with the names of their files: one for each class of flows and measure. They have no title.
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
        let name = format!("flow-times-{}-{what}.svg", kind.name());
        (name, figure(all, kind, measure).to_svg(Page::Alone))
    };
    figures.into_iter().map(file).collect()
}

fn figure(all: &[FlowTimes], kind: FlowKind, measure: Measure) -> LineFigure {
    let class = kind.name();
    let (label, unit) = match measure {
        Measure::FctNs => (format!("completion time of {class} flows, us"), 1e-3),
        Measure::Slowdown => (format!("slowdown of {class} flows"), 1.0),
    };
    let own = all.iter().filter(|times| (times.kind, times.measure) == (kind, measure));
    let series = |times: &FlowTimes| {
        let points = times.points.iter().map(|point| (point.mean * unit, point.share));
        Series::new(&times.policy, Draw::Line, points)
    };
    LineFigure {
        description: format!(
            "Share of {class} flows within a {}, by policy.",
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
