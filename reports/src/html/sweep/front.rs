//! The Pareto front: quality against size.

use super::{forest_cells, recipe};
use crate::html::body::{Body, Data};
use crate::html::table::Cell;
use crate::sweep_figures;
use crate::sweep_view::{Measure, Recipe, part_name};
use dropcast_train::{SweepRow, SweepTable};

pub(super) fn write(page: &mut Body, sweep: &SweepTable, recipes: &[Recipe<'_>]) {
    page.section("front", "Quality against size");
    let measure = Measure::from(sweep.front.measure);
    if let Some(figure) = sweep_figures::front(sweep, recipes) {
        page.figure(
            &figure,
            &format!(
                "Every forest by its ternary entries and its {} on {} rows. The steps are the \
                 Pareto front: no smaller forest is as good. Labels are trees\u{D7}depth.",
                measure.name(),
                part_name(sweep.front.part)
            ),
            &data(sweep, measure),
        );
    } else {
        page.paragraph("No forest has both a size and a score, so there is no Pareto front.");
    }
    let mut front: Vec<&SweepRow> = sweep.rows.iter().filter(|row| row.pareto).collect();
    front.sort_by_key(|row| row.size.ternary_entries);
    let rows: Vec<Vec<Cell>> = front.into_iter().map(|row| forest(recipes, row)).collect();
    if !rows.is_empty() {
        let heads =
            [&["trees\u{D7}depth"][..], &forest_cells::HEADS, &["model", "recipe"]].concat();
        page.table("Pareto-optimal forests, smallest first.", &heads, &rows);
    }
}

fn forest(recipes: &[Recipe<'_>], row: &SweepRow) -> Vec<Cell> {
    let mut cells = vec![Cell::text(sweep_figures::shape_name(row))];
    cells.extend(forest_cells::cells(row.seed, &row.size, |part| row.scores(part)));
    let model = Cell::text(row.model.clone().unwrap_or_default());
    cells.extend([model, recipe::cell(recipes, &row.setting)]);
    cells
}

fn data(sweep: &SweepTable, measure: Measure) -> Data<'static> {
    let of = |pareto: bool| -> Vec<Vec<Cell>> {
        let rows = sweep.rows.iter().filter(|row| row.pareto == pareto);
        let cells = |row: &SweepRow| {
            let score = row.scores(sweep.front.part).and_then(|scores| measure.value(scores));
            vec![
                Cell::whole(u32::from(row.setting.trees)),
                Cell::whole(u32::from(row.setting.max_depth)),
                Cell::Count(Some(row.seed)),
                Cell::Count(row.size.ternary_entries),
                Cell::Ratio(score, 4),
            ]
        };
        rows.map(cells).collect()
    };
    Data {
        heads: &["trees", "depth", "seed", "ternary entries", "score"],
        groups: vec![("Pareto front", of(true)), ("other forests", of(false))],
    }
}
