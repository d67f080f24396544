//! A recipe by name and colour.

use crate::html::table::Cell;
use crate::sweep_view::{MOST_COLOURED, Recipe, recipe_number};
use dropcast_train::SweepSetting;

/// A setting's recipe, with its colour if it has one.
pub(super) fn cell(recipes: &[Recipe<'_>], setting: &SweepSetting) -> Cell {
    match recipe_number(recipes, setting) {
        Some(at) if at < MOST_COLOURED && recipes.len() > 1 => {
            Cell::Series(recipes[at].name.clone(), at)
        }
        Some(at) => Cell::text(recipes[at].name.clone()),
        None => Cell::text(""),
    }
}
