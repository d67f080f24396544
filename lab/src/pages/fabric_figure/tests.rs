//! Every figure to its end, tiny.

use super::{csv, page, panels};
use crate::closed_loop::{Experiment, Oracles};
use crate::fabric_oracle::training_experiment;
use crate::reproduce::fabric::{
    FIGURES, MeasuredFigure, Panels, Scale, abm, measure, oracles, pred,
};
use dropcast_pipeline::progress::Silent;
use dropcast_pipeline::resources::Resources;
use dropcast_reports::plot::Page;
use std::num::NonZeroUsize;

/// A fabric that is busy for a millisecond.
fn tiny(plain: Scale) -> Scale {
    Scale { duration_ns: 1_000_000, per_server_hz: 500.0, runs: 2, ..plain }
}

/// 6 ms that oracles learn from.
fn training() -> Experiment {
    let mut training = training_experiment();
    training.traffic.duration_ns = 6_000_000;
    let incast = &mut training.traffic.incasts[0];
    (incast.per_server_hz, incast.burst) = (500.0, 1.5);
    training
}

#[test]
fn every_figure_is_measured_and_drawn() {
    let resources = Resources::default();
    let oracles = oracles(&training(), &resources, &Silent).expect("drops to learn from");
    let measured = |figures: &'static [_], oracles, scale| {
        let figures: Vec<_> = figures.iter().collect();
        measure(&figures, &scale, oracles, &resources, &Silent).expect("a valid scale")
    };
    let credence = measured(&FIGURES, &oracles, tiny(Scale::small()));
    let few_requests = Scale { per_server_hz: 100.0, ..tiny(abm::small()) };
    let abm_figures = measured(&abm::FIGURES, &Oracles::default(), few_requests);
    let all: Vec<MeasuredFigure> = credence.into_iter().chain(abm_figures).collect();
    assert_eq!(all.len(), FIGURES.len() + abm::FIGURES.len());
    for (measured, figure) in all.into_iter().zip(FIGURES.iter().chain(&abm::FIGURES)) {
        assert_eq!(measured.figure, figure);
        let policies = measured.policies();
        assert_eq!(measured.cells.len(), figure.points.len() * policies.len(), "{}", figure.name);
        assert!(["Complete Sharing", "DT, alpha 8"].iter().all(|one| policies.contains(one)));
        let table = csv(&measured);
        let rows_of_a_cell = match figure.panels {
            Panels::Metrics(metrics) => metrics.len(),
            Panels::Cdf => 103,
        };
        assert_eq!(table.lines().count(), 1 + measured.cells.len() * rows_of_a_cell);
        for (name, panel) in panels(&measured) {
            assert_eq!(panel.series.len(), policies.len(), "{name}");
            assert!(panel.to_svg(Page::Alone).contains("Complete Sharing"), "{name}");
        }
        let page = page(&measured);
        assert!(page.contains(figure.says), "{page}");
        assert_eq!(
            page.matches("left out").count(),
            figure.claims.iter().filter(|c| c.paper.is_none()).count()
        );
        if let Panels::Metrics(metrics) = figure.panels {
            let known =
                |metric: &&str| measured.cells.iter().any(|c| c.runs.interval(metric, 1).is_some());
            assert!(metrics.iter().all(known), "{}: a number that no run has", figure.name);
        }
    }
}

/// PRED's schemes are AQMs, and no policy is a rival of theirs.
#[test]
fn every_figure_of_pred_is_measured_and_drawn() {
    let figures: Vec<_> = pred::figures().collect();
    let options = pred::Options { runs: 1, seed: 1, duration_ns: Some(12_000_000) };
    let all = pred::measure(&figures, &options, &Resources::default(), &Silent).expect("valid");
    assert_eq!(all.len(), figures.len());
    for (measured, figure) in all.iter().zip(figures) {
        assert_eq!(measured.figure, figure);
        assert_eq!(measured.cells.len(), figure.points.len() * figure.policies.len());
        let Panels::Metrics(metrics) = figure.panels else { panic!("{}", figure.name) };
        for metric in metrics {
            let known = measured.cells.iter().any(|c| c.runs.interval(metric, 1).is_some());
            // 12 ms are shorter than the second point over time, hold no large flow of websearch, and none of data mining.
            let is_short = ["pred-settling-time", "pred-fig22"].contains(&figure.name)
                || metric.starts_with("large");
            assert!(known || is_short, "{}: no run has {metric}", figure.name);
        }
        assert!(page(measured).contains(figure.says), "{}", figure.name);
        assert!(panels(measured).iter().all(|(_, panel)| panel.to_svg(Page::Alone).len() > 500));
    }
}

#[test]
fn a_figure_is_the_same_on_any_number_of_threads() {
    let scale = tiny(Scale::small());
    let oracles =
        oracles(&training(), &Resources::default(), &Silent).expect("drops to learn from");
    let with_threads = |threads| {
        let resources = Resources { threads: NonZeroUsize::new(threads), ..Resources::default() };
        let measured = measure(&[&FIGURES[4]], &scale, &oracles, &resources, &Silent);
        csv(&measured.expect("a valid scale")[0])
    };
    assert_eq!(with_threads(1), with_threads(3));
}
