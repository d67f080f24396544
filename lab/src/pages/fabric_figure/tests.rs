//! Every figure to its end, tiny; and the docs' tables of it have its titles, rows and columns.

mod docs;

use super::{csv, page, panels};
use crate::closed_loop::{Experiment, Oracles};
use crate::fabric_oracle::training_experiment;
use crate::reproduce::fabric::{
    FIGURES, FabricFigure, MeasuredFigure, Panels, Scale, abm, measure, oracles, pred, smartbuf,
    smartbuf_bursts,
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

/// Figures at a scale, and whether each has everything.
fn measured(
    figures: &'static [FabricFigure],
    scale: &Scale,
    oracles: &Oracles,
) -> Vec<MeasuredFigure> {
    let asked: Vec<_> = figures.iter().collect();
    let all = measure(&asked, scale, oracles, &Resources::default(), &Silent);
    let all = all.expect("a valid scale");
    assert_eq!(all.len(), figures.len());
    for (measured, figure) in all.iter().zip(figures) {
        assert_eq!(measured.figure, figure);
        is_whole(measured);
    }
    all
}

fn is_whole(measured: &MeasuredFigure) {
    let (figure, policies) = (measured.figure, measured.policies());
    assert_eq!(measured.cells.len(), figure.points.len() * policies.len(), "{}", figure.name);
    let table = csv(measured);
    let rows_of_a_cell = match figure.panels {
        Panels::Metrics(metrics) => metrics.len(),
        Panels::Cdf => 103,
    };
    assert_eq!(table.lines().count(), 1 + measured.cells.len() * rows_of_a_cell);
    for (name, panel) in panels(measured) {
        assert_eq!(panel.series.len(), policies.len(), "{name}");
        assert!(panel.to_svg(Page::Alone).contains(policies[0]), "{name}");
    }
    let page = page(measured);
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

/// What needs no oracle, and switches have, is beside every policy of the papers.
fn has_what_papers_leave_out(figures: &[MeasuredFigure]) {
    for measured in figures {
        let policies = measured.policies();
        let both = ["Complete Sharing", "DT, alpha 8"];
        assert!(both.iter().all(|one| policies.contains(one)), "{}", measured.figure.name);
    }
}

#[test]
fn every_figure_of_credence_is_measured_and_drawn() {
    let oracles = oracles(&training(), &Resources::default(), &Silent);
    let oracles = oracles.expect("drops to learn from");
    let all = measured(&FIGURES, &tiny(Scale::small()), &oracles);
    has_what_papers_leave_out(&all);
    docs::tables_are_those_of("closed-loop", &["small", "paper"], &all);
}

#[test]
fn every_figure_of_abm_is_measured_and_drawn() {
    let few_requests = Scale { per_server_hz: 100.0, ..tiny(abm::small()) };
    let all = measured(&abm::FIGURES, &few_requests, &Oracles::default());
    has_what_papers_leave_out(&all);
    docs::tables_are_those_of("abm", &["abm"], &all);
}

#[test]
fn every_figure_of_smartbuf_is_measured_and_drawn() {
    let few_requests = Scale { per_server_hz: 100.0, ..tiny(smartbuf::scale()) };
    let mut all = measured(&smartbuf::FIGURES, &few_requests, &Oracles::default());
    let figures: Vec<_> = smartbuf_bursts::FIGURES.iter().collect();
    // Requests enough that limits are learned, and one beside the long flow.
    let given_ns = Some(11_000_000);
    let scale = Scale { per_server_hz: 40.0, runs: 1, ..smartbuf::scale() };
    let resources = Resources::default();
    let of_bursts = smartbuf_bursts::measure(&figures, &scale, given_ns, &resources, &Silent);
    let of_bursts = of_bursts.expect("a valid scale");
    assert_eq!(of_bursts.len(), figures.len());
    of_bursts.iter().for_each(is_whole);
    all.extend(of_bursts);
    docs::tables_are_those_of("smartbuf", &["smartbuf"], &all);
}

/// PRED's schemes are AQMs, and no policy is a rival of theirs.
#[test]
fn every_figure_of_pred_is_measured_and_drawn() {
    let figures: Vec<_> = pred::figures().collect();
    let options =
        pred::Options { runs: 1, seed: 1, duration_ns: Some(12_000_000), slow_start: false };
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
    docs::tables_are_those_of("pred", &["pred"], &all);
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
