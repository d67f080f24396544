//! The size of the forest as match-action tables, in our encoding and in others.

use super::body::Body;
use super::table::Cell;
use dropcast_export::{Encoding, FeatureResources, TableResources, TableTotals};
use dropcast_measure::Report;

pub(super) fn write(page: &mut Body, report: &Report) {
    page.folded_section("resources", "Tables");
    let Some(resources) = &report.resources else {
        let reason = report.resources_omitted.as_deref().unwrap_or("no reason given");
        page.paragraph(&format!("The forest cannot be exported: {reason}."));
        return;
    };
    page.paragraph(&format!(
        "The size of the forest as tables of a switch. These are {}. Nothing here was measured \
         on a device.",
        resources.note
    ));
    totals(page, &resources.totals);
    features(page, &resources.features);
    trees(page, resources);
    encodings(page, &resources.encodings);
}

fn size(count: usize) -> Cell {
    Cell::Count(Some(count as u64))
}

fn totals(page: &mut Body, totals: &TableTotals) {
    let rows = [
        ("tables", size(totals.tables)),
        ("stages by dependencies, not placement", size(totals.stages)),
        ("ternary entries, with default actions", Cell::Count(Some(totals.ternary_entries))),
        ("ternary entries to load as P4", Cell::Count(Some(totals.loaded_entries))),
        (
            "ternary entries if each range is expanded by itself",
            Cell::Count(Some(totals.naive_ternary_entries)),
        ),
        ("ratio of the two", Cell::Ratio(totals.ternary_share, 4)),
        ("range entries of the feature tables", size(totals.range_entries)),
        ("TCAM key bits (and as many mask bits)", size(totals.tcam_key_bits)),
        ("SRAM action data bits", size(totals.sram_action_bits)),
        ("metadata bits per packet", size(totals.metadata_bits)),
    ];
    let rows = rows.map(|(name, count)| vec![Cell::text(name), count]);
    page.table("All tables together.", &["what", "count"], &rows);
}

fn features(page: &mut Body, features: &[FeatureResources]) {
    let row = |feature: &FeatureResources| {
        vec![
            Cell::text(feature.feature.clone()),
            size(feature.thresholds),
            size(feature.code_bits),
            size(feature.range_entries),
            size(feature.ternary_entries),
            size(feature.naive_ternary_entries),
        ]
    };
    let rows: Vec<Vec<Cell>> = features.iter().map(row).collect();
    if rows.is_empty() {
        page.paragraph("No tree has a split: every packet gets the same prediction.");
        return;
    }
    page.table(
        "The table of each feature that some tree uses: its thresholds, the width of its codes, \
         and its entries as ranges, as the fewest prefixes, and with each range expanded into \
         prefixes by itself.",
        &["feature", "thresholds", "code bits", "ranges", "prefixes", "expanded by itself"],
        &rows,
    );
}

/// Forests may have thousands of trees; the JSON has all of them.
const MOST_TREES: usize = 64;

fn trees(page: &mut Body, resources: &TableResources) {
    let trees = &resources.trees;
    let row = |tree: usize| {
        let of = &trees[tree];
        vec![Cell::text(format!("tree {tree}")), size(of.key_bits), size(of.ternary_entries)]
    };
    let rows: Vec<Vec<Cell>> = (0..trees.len().min(MOST_TREES)).map(row).collect();
    let shown = if trees.len() > MOST_TREES { " The first 64; the JSON has all." } else { "" };
    page.table(
        &format!("The table of each tree, one entry for each leaf of the pruned tree.{shown}"),
        &["tree", "key bits", "entries"],
        &rows,
    );
}

/// Shown for a count that takes too long or exceeds 64 bits.
const TOO_MANY: &str = "too many";

fn counted(count: Option<u64>, otherwise: &str) -> Cell {
    if count.is_some() { Cell::Count(count) } else { Cell::text(otherwise) }
}

fn encodings(page: &mut Body, encodings: &[Encoding]) {
    let row = |of: &Encoding| {
        vec![
            Cell::text(of.name.as_ref()),
            counted(of.range_entries, "none"),
            counted(of.ternary_entries, TOO_MANY),
            counted(of.exact_entries, TOO_MANY),
            counted(of.tcam_key_bits, TOO_MANY),
            Cell::Count(Some(of.metadata_bits)),
            Cell::text(of.combines.as_ref()),
            Cell::text(of.source.as_ref()),
        ]
    };
    let rows: Vec<Vec<Cell>> = encodings.iter().map(row).collect();
    page.table(
        "The same trees in our encoding and in published ones, counted from their papers and \
         code. This compares encodings, not systems. Only the sum of weights gives this forest's \
         predictions; the others count votes or take means.",
        &[
            "encoding",
            "ranges",
            "ternary",
            "exact",
            "TCAM key bits",
            "code bits",
            "leaves become",
            "source",
        ],
        &rows,
    );
}
