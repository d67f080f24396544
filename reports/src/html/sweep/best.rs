//! The best model of each feature set, ready to be used.

use super::{forest_cells, recipe};
use crate::html::body::Body;
use crate::html::table::Cell;
use crate::sweep_figures;
use crate::sweep_view::{Measure, Recipe, part_name};
use dropcast_train::{SweepBest, SweepRow, SweepTable};

pub(super) fn write(page: &mut Body, sweep: &SweepTable, recipes: &[Recipe<'_>]) {
    page.section("best", "The best model of each feature set");
    let of = |best: &SweepBest| Some(model(recipes, best, sweep.rows.get(best.row)?));
    let rows: Vec<Vec<Cell>> = sweep.best.iter().filter_map(of).collect();
    if rows.is_empty() {
        page.paragraph("No forest has both a size and a score, so none is the best.");
        return;
    }
    page.paragraph(&format!(
        "Each is trained with the recipe of the best {} on {} rows, and saved as a model.{}",
        Measure::from(sweep.front.measure).name(),
        part_name(sweep.front.part),
        match &sweep.budget {
            Some(budget) => format!(" It is squeezed into the budget {budget}."),
            None => String::new(),
        }
    ));
    let first = ["features", "trees\u{D7}depth of the recipe"];
    let heads = [&first[..], &forest_cells::HEADS, &["model", "recipe"]].concat();
    page.table("Saved models.", &heads, &rows);
}

fn model(recipes: &[Recipe<'_>], best: &SweepBest, row: &SweepRow) -> Vec<Cell> {
    let mut cells =
        vec![Cell::text(best.features.join(", ")), Cell::text(sweep_figures::shape_name(row))];
    cells.extend(forest_cells::cells(row.seed, &best.size, |part| best.scores(part)));
    cells.extend([Cell::text(best.model.clone()), recipe::cell(recipes, &row.setting)]);
    cells
}
