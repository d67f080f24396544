//! The paper's Figure 15, with ours.

use crate::figure15::DEPTH;
use crate::html::body::{Body, Data};
use crate::html::table::Cell;
use crate::sweep_figures;
use crate::sweep_view::{Measure, Recipe, Shape};
use dropcast_train::FrontPart;

/// Maximum recipes drawn.
const MOST_RECIPES: usize = 4;

pub(super) fn write(page: &mut Body, recipes: &[Recipe<'_>], part: FrontPart) {
    page.section("paper", "The paper's Figure 15");
    let drawn =
        recipes.iter().filter_map(|recipe| Some((recipe, sweep_figures::paper(recipe, part)?)));
    let drawn: Vec<_> = drawn.take(MOST_RECIPES).collect();
    if drawn.is_empty() {
        page.paragraph(&format!(
            "It needs several numbers of trees at depth {DEPTH}, which this sweep does not have."
        ));
        return;
    }
    page.open("figures");
    for (recipe, figure) in drawn {
        page.figure(
            &figure,
            "Lines are this sweep's forests. Single marks are the values in the text of the \
             Credence paper (section 4.1) for its forest of 4 trees, trained on another trace. The \
             paper prints no numbers of its curves.",
            &data(recipe, part),
        );
    }
    page.close();
}

fn data(recipe: &Recipe<'_>, part: FrontPart) -> Data<'static> {
    let row = |shape: &Shape<'_>| {
        let score = |measure| Cell::Ratio(shape.score(part, measure).map(|score| score.mean), 4);
        vec![
            Cell::whole(u32::from(shape.summary.setting.trees)),
            score(Measure::Precision),
            score(Measure::Recall),
            score(Measure::F1),
            score(Measure::Eta),
        ]
    };
    let shapes = recipe.shapes.iter();
    let shapes = shapes.filter(|shape| shape.summary.setting.max_depth == DEPTH);
    Data {
        heads: &["trees", "precision", "recall", "F1", "\u{3B7}"],
        groups: vec![("", shapes.map(row).collect())],
    }
}
