//! Table entries in SWX's format: `match ... priority ... action ...`.

use super::groups::{Group, Groups, Part};
use crate::checked::Checked;
use crate::ident::plain;
use crate::tables::{CodeKey, FeatureTable, LeafEntry, PrefixEntry, Ternary, TreeTable};

/// The tables of a group by name, each with its entries.
pub(super) fn table_entries(groups: &Groups, group: &Group) -> Vec<(String, Vec<String>)> {
    let features = group.tables.features.iter().map(|feature| {
        let entry = |prefix| feature_entry(groups, group, feature, prefix);
        (groups.feature_table(group, feature), feature.prefixes.iter().map(entry).collect())
    });
    let trees = group.trees().map(|(place, tree)| {
        let entry = |leaf| tree_entry(groups, place, tree, leaf);
        (group.tree_table(place), tree.leaves.iter().map(entry).collect())
    });
    features.chain(trees).collect()
}

/// A file of entries.
pub(super) fn text(model: &Checked<'_>, table: &str, entries: &[String]) -> String {
    format!(
        "; Entries of table {table} in {}.spec. Lower priorities win.\n; Model SHA-256 {}.\n{}",
        model.prefix,
        plain(&model.origin.model_sha256),
        entries.concat(),
    )
}

/// Longer prefixes win.
fn feature_entry(
    groups: &Groups,
    group: &Group,
    feature: &FeatureTable,
    prefix: &PrefixEntry,
) -> String {
    let codes = group.tables.codes(feature, prefix.range);
    let of_tree = |(&place, code)| {
        let parts = groups.parts(place, feature.column).into_iter();
        parts.map(|part| format!(" {} {:#x}", part.name, part.word_of(code))).collect::<String>()
    };
    format!(
        "match {:#x}/{:#x} priority {} action set_{}{}\n",
        prefix.value,
        prefix.mask(),
        32 - prefix.length,
        groups.feature_table(group, feature),
        feature.trees.iter().zip(&codes).map(of_tree).collect::<String>(),
    )
}

/// No row matches two, so all have the same priority.
fn tree_entry(groups: &Groups, place: usize, tree: &TreeTable, leaf: &LeafEntry) -> String {
    let patterns = tree.patterns(leaf);
    let of_key = |(key, pattern): (&CodeKey, &Ternary)| {
        let parts = groups.parts(place, key.column).into_iter();
        let part = |part: Part| {
            format!(" {:#x}/{:#x}", part.word_of(&pattern.value), part.word_of(&pattern.mask))
        };
        parts.map(part).collect::<String>()
    };
    format!(
        "match{} priority 0 action add_weight weight {}\n",
        tree.keys.iter().zip(&patterns).map(of_key).collect::<String>(),
        leaf.weight,
    )
}
