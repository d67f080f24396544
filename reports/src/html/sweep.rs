//! A sweep as a page.

mod best;
mod forest_cells;
mod forests;
mod front;
mod paper;
mod recipe;
mod shapes;

use super::body::Body;
use super::document::Document;
use super::table::Cell;
use crate::PageError;
use crate::plot::escape;
use crate::sweep_view::{Measure, Recipe, part_name, recipe_name, recipes, shown_part};
use crate::words::sweep::alpha_sentence;
use dropcast_train::{PartSize, SweepRow, SweepTable};
use std::cmp::Ordering;

/// A sweep as a single HTML file with plots as inline SVG and the sweep's JSON inside. The same
/// sweep gives the same bytes.
///
/// # Errors
/// See [`PageError`]; none that we know of.
pub fn sweep_page(sweep: &SweepTable) -> Result<String, PageError> {
    let mut page = Body::default();
    let recipes = recipes(sweep);
    let part = shown_part(sweep);
    summary(&mut page, sweep, &recipes);
    best::write(&mut page, sweep, &recipes);
    front::write(&mut page, sweep, &recipes);
    shapes::write(&mut page, &recipes, part);
    paper::write(&mut page, &recipes, part);
    forests::write(&mut page, &recipes, part);
    provenance(&mut page, sweep);
    let document = Document {
        title: "Drop prediction: a sweep of forests",
        header: &header(sweep),
        json: &serde_json::to_string_pretty(sweep)?,
    };
    Ok(document.write(page))
}

fn header(sweep: &SweepTable) -> String {
    let names: Vec<&str> = sweep.data.iter().map(|origin| origin.name.as_str()).collect();
    format!(
        "<h1>Sweep of forests</h1>\n<p class=\"faint\">{} forests in {} configurations, trained on {}.</p>\n",
        sweep.rows.len(),
        sweep.summary.len(),
        escape(&names.join(", "))
    )
}

fn summary(page: &mut Body, sweep: &SweepTable, recipes: &[Recipe<'_>]) {
    page.section("summary", "Summary");
    best(page, sweep, recipes);
    let (front, shown) = (part_name(sweep.front.part), part_name(shown_part(sweep)));
    page.paragraph(&format!(
        "Forests are compared on {front} rows. Scores below are of {shown} rows unless stated \
         otherwise. A configuration stands and falls with its median seed; its scores in tables are means over seeds."
    ));
    parts(page, sweep);
    if let Some(sentence) = alpha_sentence(sweep) {
        page.paragraph(&sentence);
    }
    if front == shown && front == "test" {
        page.warning(
            "There are no validation rows: the best forest was chosen on the rows that score it, \
             which flatters it.",
        );
    }
    if front == "training" {
        page.warning("All rows are training rows: these scores flatter every forest.");
    }
    if recipes.len() > 1 {
        let row = |recipe: &Recipe<'_>| {
            let first = recipe.shapes.first().map(|shape| &shape.summary.setting);
            let name = first.map_or(Cell::text(""), |setting| recipe::cell(recipes, setting));
            vec![name, Cell::text(recipe.own_settings.clone())]
        };
        let rows: Vec<_> = recipes.iter().map(row).collect();
        let caption = "Recipes: settings other than trees, depth and seed.";
        page.table(caption, &["name", "settings"], &rows);
    }
}

/// Sizes of the training, validation and test rows.
fn parts(page: &mut Body, sweep: &SweepTable) {
    let row = |(name, part): (&str, PartSize)| {
        vec![
            Cell::text(name.to_owned()),
            Cell::Count(Some(part.rows)),
            Cell::Count(Some(part.drops)),
            Cell::Count(part.episodes),
        ]
    };
    let rows: Vec<_> = sweep.parts.named().map(row).collect();
    let caption = "Rows by part. Drops of one episode follow each other within the time in which one \
                   port drains a full buffer, and are strongly correlated.";
    page.table(caption, &["part", "rows", "drops", "episodes"], &rows);
    for (name, part) in sweep.parts.named().filter(|(_, part)| part.has_few_episodes()) {
        let episodes = part.episodes.unwrap_or_default();
        let episodes = match episodes {
            1 => "1 episode".to_owned(),
            all => format!("{all} episodes"),
        };
        page.warning(&format!(
            "The drops of the {name} part come in only {episodes}: scores on them are uncertain."
        ));
    }
}

/// The forest that is proposed, and the best one regardless of size.
fn best(page: &mut Body, sweep: &SweepTable, recipes: &[Recipe<'_>]) {
    let (part, measure) = (sweep.front.part, Measure::from(sweep.front.measure));
    let score = |row: &SweepRow| {
        let score = row.scores(part).and_then(|scores| measure.value(scores))?;
        Some(if measure == Measure::Eta { -score } else { score })
    };
    let front = sweep.rows.iter().filter(|row| row.pareto);
    let scored = front.filter_map(|row| Some((score(row)?, row)));
    let best = scored.max_by(|a, b| a.0.total_cmp(&b.0).then_with(|| smaller(a.1, b.1)));
    let Some((_, best)) = best else { return };
    let proposed = sweep.proposed.and_then(|at| sweep.rows.get(at)).unwrap_or(best);
    let is_best = std::ptr::eq(proposed, best);
    let alike = sweep.summary.iter().filter(|summary| summary.within_noise).count();
    page.lead(&format!(
        "Proposed: {}. {}",
        named(proposed, recipes),
        if is_best {
            format!(
                "Its configuration has the best median {} on {} rows, and no smaller one of the front is within noise of it.",
                measure.name(),
                part_name(part)
            )
        } else {
            format!(
                "It is the smallest of the Pareto front within noise of the best {} on {} rows, seed by seed: {alike} of {} \
                 configurations are.",
                measure.name(),
                part_name(part),
                sweep.summary.len()
            )
        }
    ));
    if let Some(model) = &proposed.model {
        page.paragraph(&format!("Its model: {model}."));
    }
    cards(page, sweep, proposed);
    if !is_best {
        let of = |row: &SweepRow, part, measure: Measure| {
            let value = row.scores(part).and_then(|scores| measure.value(scores));
            crate::numbers::optional(value, 4)
        };
        let entries = |row: &SweepRow| {
            row.size.ternary_entries.map_or_else(|| "?".to_owned(), crate::numbers::count)
        };
        let shown = shown_part(sweep);
        page.paragraph(&format!(
            "The best {0} on {1} rows, regardless of size, has {2}: {0} {3}, against {4} of the \
             proposed one. On {5} rows its F1 is {6}, against {7}. It takes {8} ternary entries, \
             against {9}.",
            measure.name(),
            part_name(part),
            named(best, recipes),
            of(best, part, measure),
            of(proposed, part, measure),
            part_name(shown),
            of(best, shown, Measure::F1),
            of(proposed, shown, Measure::F1),
            entries(best),
            entries(proposed)
        ));
    }
}

fn named(row: &SweepRow, recipes: &[Recipe<'_>]) -> String {
    let recipe = match recipe_name(recipes, &row.setting) {
        "" => String::new(),
        name => format!(", {name}"),
    };
    let trees = match row.setting.trees {
        1 => "1 tree".to_owned(),
        trees => format!("{trees} trees"),
    };
    format!("{trees} of depth {}{recipe}, seed {}", row.setting.max_depth, row.seed)
}

/// The scores of the proposed forest.
fn cards(page: &mut Body, sweep: &SweepTable, row: &SweepRow) {
    let part = shown_part(sweep);
    page.paragraph(&format!("Its scores on {} rows:", part_name(part)));
    let shown = row.scores(part);
    let of = |measure: Measure| Cell::Ratio(shown.and_then(|scores| measure.value(scores)), 4);
    page.cards(&[
        ("F1", of(Measure::F1)),
        ("precision", of(Measure::Precision)),
        ("recall", of(Measure::Recall)),
        ("\u{3B7}, exact, packets", of(Measure::Eta)),
        ("ternary entries", Cell::Count(row.size.ternary_entries)),
    ]);
}

fn smaller(a: &SweepRow, b: &SweepRow) -> Ordering {
    b.size.ternary_entries.cmp(&a.size.ternary_entries)
}

fn provenance(page: &mut Body, sweep: &SweepTable) {
    page.folded_section("provenance", "Provenance");
    let split = serde_json::to_value(&sweep.split).ok();
    page.paragraph(&format!(
        "Made by {}. Split: {}.",
        sweep.tool,
        super::model_card::fields(split)
    ));
    let rows: Vec<Vec<Cell>> = sweep
        .data
        .iter()
        .map(|origin| vec![Cell::text(origin.name.clone()), Cell::text(origin.sha256.clone())])
        .collect();
    page.table("Labelled traces, with the SHA-256 of their bytes.", &["file", "SHA-256"], &rows);
    page.paragraph(
        "All numbers of this page are those of sweep.json, which it contains in the element \
         \u{201C}report\u{201D}; docs/sweep.md explains each.",
    );
}
