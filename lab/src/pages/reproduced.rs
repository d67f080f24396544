//! Figures of the paper, measured again, as the files that show them.

use super::{abm_equations, fabric_figure, fig14, fig15};
use crate::reproduce::Reproduced;
use crate::reproduce::abm_equations::EquationPanel;
use crate::reproduce::fabric::MeasuredFigure;
use crate::reproduce::fig14::Fig14SweepRow;
use dropcast_reports::plot::{LineFigure, Page};

/// The files of the figure `name`, with their names: numbers as CSV, pictures as SVG without title and claim, and a page with
/// the pictures' captions.
pub fn files(name: &str, measured: &Reproduced) -> Vec<(String, String)> {
    match measured {
        Reproduced::Fabric(figures) => figures.iter().flat_map(of_the_fabric).collect(),
        Reproduced::Fig14 { case, measured, others } => {
            let figure = fig14::figure(measured, case);
            let csv = figure.to_csv("flip_probability", "lqd_over_algorithm");
            let page = "# Figure 14\n\n".to_owned();
            let cases = (format!("{name}-cases.csv"), Fig14SweepRow::to_csv(others));
            let mut files = with_pictures(name, page, vec![(name.to_owned(), figure)]);
            files.extend([(format!("{name}.csv"), csv), cases]);
            files
        }
        Reproduced::Fig15(recipes) => {
            let figure = |(whose, (recipe, rows)): (&str, &(_, Vec<_>))| {
                (format!("{name}-{whose}"), fig15::figure(rows, recipe))
            };
            let figures: Vec<_> =
                ["paper", "ours"].into_iter().zip(&**recipes).map(figure).collect();
            let csv = |(name, figure): &(String, LineFigure)| {
                (format!("{name}.csv"), figure.to_csv("trees", "score"))
            };
            let tables: Vec<_> = figures.iter().map(csv).collect();
            let mut files = with_pictures(name, "# Figure 15\n\n".to_owned(), figures);
            files.extend(tables);
            files
        }
        Reproduced::Equations(panels) => {
            let figure = |panel: &EquationPanel| {
                (format!("{name}-{}", panel.name), abm_equations::figure(panel))
            };
            let page = abm_equations::page(panels);
            let mut files = with_pictures(name, page, panels.iter().map(figure).collect());
            files.push((format!("{name}.csv"), abm_equations::csv(panels)));
            files
        }
    }
}

fn of_the_fabric(measured: &MeasuredFigure) -> Vec<(String, String)> {
    let name = measured.figure.name;
    let (page, panels) = (fabric_figure::page(measured), fabric_figure::panels(measured));
    let mut files = with_pictures(name, page, panels);
    files.push((format!("{name}.csv"), fabric_figure::csv(measured)));
    files
}

/// Pictures as SVG, and the page `NAME.md` with them behind `page`: what a picture's title and notes say is its caption there, and not
/// drawn.
fn with_pictures(
    name: &str,
    mut page: String,
    pictures: Vec<(String, LineFigure)>,
) -> Vec<(String, String)> {
    let mut files = Vec::new();
    for (file, figure) in pictures {
        let LineFigure { title, description, notes, .. } = &figure;
        page += &format!("![{description}]({file}.svg)\n\n*{title}.* {}\n\n", notes.join(" "));
        let plain = LineFigure { title: String::new(), notes: Vec::new(), ..figure };
        files.push((format!("{file}.svg"), plain.to_svg(Page::Alone)));
    }
    files.push((format!("{name}.md"), page.trim_end().to_owned() + "\n"));
    files
}

/// What was measured, in words and tables; figures 14 and 15 have only pictures.
pub fn page(measured: &Reproduced) -> Option<String> {
    match measured {
        Reproduced::Fabric(figures) => Some(figures.iter().map(fabric_figure::page).collect()),
        Reproduced::Equations(panels) => Some(abm_equations::page(panels)),
        Reproduced::Fig14 { .. } | Reproduced::Fig15(_) => None,
    }
}
