//! Every configuration.

use super::recipe;
use crate::html::body::Body;
use crate::html::table::Cell;
use crate::numbers;
use crate::sweep_view::{Measure, Recipe, Shape};
use dropcast_train::FrontPart;

/// Maximum configurations in the table.
const MOST: usize = 1_000;

pub(super) fn write(page: &mut Body, recipes: &[Recipe<'_>], part: FrontPart) {
    page.section("forests", "All configurations");
    let all: usize = recipes.iter().map(|recipe| recipe.shapes.len()).sum();
    if all > MOST {
        page.paragraph(&format!(
            "The first {} of {} configurations; sweep.json has all.",
            numbers::count(MOST as u64),
            numbers::count(all as u64)
        ));
    }
    let shapes = recipes.iter().flat_map(|recipe| recipe.shapes.iter().map(move |s| (recipe, s)));
    let rows: Vec<Vec<Cell>> =
        shapes.take(MOST).map(|(_, shape)| row(recipes, shape, part)).collect();
    let heads = [
        "trees\u{D7}depth",
        "recipe",
        "seeds",
        "entries",
        "F1",
        "lowest",
        "highest",
        "F1 in training",
        "precision",
        "recall",
        "\u{3B7}",
    ];
    page.table("Means over seeds; F1 also of the worst and the best seed.", &heads, &rows);
}

fn row(recipes: &[Recipe<'_>], shape: &Shape<'_>, part: FrontPart) -> Vec<Cell> {
    let summary = shape.summary;
    let mean = |part, measure| Cell::Ratio(shape.score(part, measure).map(|score| score.mean), 4);
    let f1 = shape.score(part, Measure::F1);
    vec![
        Cell::text(format!("{}\u{D7}{}", summary.setting.trees, summary.setting.max_depth)),
        recipe::cell(recipes, &summary.setting),
        Cell::whole(summary.seeds),
        Cell::Ratio(summary.ternary_entries.map(|entries| entries.mean), 0),
        mean(part, Measure::F1),
        Cell::Ratio(f1.map(|f1| f1.lowest), 4),
        Cell::Ratio(f1.map(|f1| f1.highest), 4),
        mean(FrontPart::Train, Measure::F1),
        mean(part, Measure::Precision),
        mean(part, Measure::Recall),
        mean(part, Measure::Eta),
    ]
}
