//! Scores by trees and depth.

use crate::html::body::{Body, Data};
use crate::html::table::Cell;
use crate::sweep_figures::{self, Along};
use crate::sweep_view::{Measure, OverSeeds, Recipe, Shape, part_name};
use dropcast_train::FrontPart;

const MEAN: &str = "Mean over seeds; bars go from the lowest to the highest.";

/// Maximum recipes drawn.
const MOST_RECIPES: usize = 4;

pub(super) fn write(page: &mut Body, recipes: &[Recipe<'_>], part: FrontPart) {
    page.section("shapes", "Trees and depth");
    page.paragraph(&format!("Scores on {} rows.", part_name(part)));
    if recipes.len() > MOST_RECIPES {
        page.paragraph(&format!(
            "The first {MOST_RECIPES} of {} recipes are drawn; all are in the table below.",
            recipes.len()
        ));
    }
    for recipe in recipes.iter().take(MOST_RECIPES) {
        let drawn = [Measure::F1, Measure::Eta];
        for measure in drawn.into_iter().filter(|&measure| has(recipe, part, measure)) {
            draw(page, recipe, part, measure);
        }
    }
}

fn has(recipe: &Recipe<'_>, part: FrontPart, measure: Measure) -> bool {
    recipe.shapes.iter().any(|shape| shape.score(part, measure).is_some())
}

fn draw(page: &mut Body, recipe: &Recipe<'_>, part: FrontPart, measure: Measure) {
    let (trees, depths) = (recipe.trees().len(), recipe.depths().len());
    let data = || data(recipe, part, measure);
    let better = if measure == Measure::Eta { "Lower" } else { "Higher" };
    page.open("figures");
    if trees > 1 {
        let figure = sweep_figures::lines(recipe, part, measure, Along::Trees);
        let rest = sweep_figures::left_out(depths, "depths");
        page.figure(&figure, &format!("{MEAN} {better} is better.{rest}"), &data());
    }
    if depths > 1 {
        let figure = sweep_figures::lines(recipe, part, measure, Along::Depth);
        let rest = sweep_figures::left_out(trees, "numbers of trees");
        page.figure(&figure, &format!("{MEAN} {better} is better.{rest}"), &data());
    }
    if trees > 1 && depths > 1 {
        let figure = sweep_figures::heat(recipe, part, measure);
        let caption = format!("Darker is higher. {better} is better. A dash is undefined.");
        page.figure(&figure, &caption, &data());
    }
    page.close();
}

fn data(recipe: &Recipe<'_>, part: FrontPart, measure: Measure) -> Data<'static> {
    let row = |shape: &Shape<'_>| {
        let score = shape.score(part, measure);
        let setting = &shape.summary.setting;
        let of = |end: fn(OverSeeds) -> f64| Cell::Ratio(score.map(end), 4);
        vec![
            Cell::whole(u32::from(setting.trees)),
            Cell::whole(u32::from(setting.max_depth)),
            of(|score| score.mean),
            of(|score| score.lowest),
            of(|score| score.highest),
        ]
    };
    Data {
        heads: &["trees", "depth", "mean over seeds", "lowest", "highest"],
        groups: vec![("", recipe.shapes.iter().map(row).collect())],
    }
}
