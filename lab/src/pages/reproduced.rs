//! Figures of the paper, measured again, as the files that show them.

use super::{abm_equations, fabric_figure, fig14, fig15};
use crate::reproduce::Reproduced;
use crate::reproduce::fabric::MeasuredFigure;
use crate::reproduce::fig14::Fig14SweepRow;
use dropcast_reports::plot::{LineFigure, Page};

/// The files of the figure `name`, with their names: numbers as CSV, pictures as SVG, and a page, which figures 14 and 15
/// have not.
pub fn files(name: &str, measured: &Reproduced) -> Vec<(String, String)> {
    match measured {
        Reproduced::Fabric(figures) => figures.iter().flat_map(of_the_fabric).collect(),
        Reproduced::Fig14 { case, measured, others } => {
            let figure = fig14::figure(measured, case);
            let mut files = drawn(&figure, name, ("flip_probability", "lqd_over_algorithm"));
            files.push((format!("{name}-cases.csv"), Fig14SweepRow::to_csv(others)));
            files
        }
        Reproduced::Fig15(recipes) => {
            let files =
                ["paper", "ours"].into_iter().zip(recipes.iter()).map(|(whose, (recipe, rows))| {
                    let figure = fig15::figure(rows, recipe);
                    drawn(&figure, &format!("{name}-{whose}"), ("trees", "score"))
                });
            files.flatten().collect()
        }
        Reproduced::Equations(panels) => {
            let (csv, page) = (abm_equations::csv(panels), abm_equations::page(panels));
            let mut files = vec![(format!("{name}.csv"), csv), (format!("{name}.md"), page)];
            files.extend(panels.iter().map(|panel| {
                let svg = abm_equations::figure(panel).to_svg(Page::Alone);
                (format!("{name}-{}.svg", panel.name), svg)
            }));
            files
        }
    }
}

fn of_the_fabric(measured: &MeasuredFigure) -> Vec<(String, String)> {
    let name = measured.figure.name;
    let csv = (format!("{name}.csv"), fabric_figure::csv(measured));
    let page = (format!("{name}.md"), fabric_figure::page(measured));
    let svg = |(name, panel): (String, LineFigure)| (name + ".svg", panel.to_svg(Page::Alone));
    [csv, page].into_iter().chain(fabric_figure::panels(measured).into_iter().map(svg)).collect()
}

/// What was measured, in words and tables; figures 14 and 15 have none.
pub fn page(measured: &Reproduced) -> Option<String> {
    match measured {
        Reproduced::Fabric(figures) => Some(figures.iter().map(fabric_figure::page).collect()),
        Reproduced::Equations(panels) => Some(abm_equations::page(panels)),
        Reproduced::Fig14 { .. } | Reproduced::Fig15(_) => None,
    }
}

/// A figure as CSV, with these names of its axes, and as SVG.
fn drawn(figure: &LineFigure, name: &str, (x, y): (&str, &str)) -> Vec<(String, String)> {
    vec![
        (format!("{name}.csv"), figure.to_csv(x, y)),
        (format!("{name}.svg"), figure.to_svg(Page::Alone)),
    ]
}
