//! Entries as a script for bfrt_python, the Python shell of Tofino's driver.

use crate::about::{about, commented};
use crate::p4::{INGRESS, Leaves, P4, Prefixes, text_file};
use crate::tables::{FeatureTable, LeafEntry, PrefixEntry, TreeTable};
use crate::target::EmittedFile;

/// `NAME_bfrt.py`.
pub(super) fn script(p4: &P4<'_>) -> EmittedFile {
    let name = &p4.model.prefix;
    let what = format!(
        "{name}_bfrt.py: entries for {name}_tna.p4, compiled with -D {}_RUNTIME_ENTRIES",
        p4.macro_name()
    );
    let mut lines = about(p4.model, &what);
    lines.push(format!("Load them with: bfshell -b $PWD/{name}_bfrt.py"));
    lines.push(
        "Of the entries that match, Tofino takes the one with the lowest priority.".to_owned(),
    );
    let mut text = commented(&lines, "#");
    text += &format!("\noracle = bfrt.{name}_tna.pipe.{INGRESS}.oracle\n");
    for feature in &p4.tables.features {
        text += &feature_entries(p4, feature);
    }
    for (at, tree) in p4.trees() {
        text += &tree_entries(p4, at, tree);
    }
    text += "\nbfrt.complete_operations()\n";
    text_file(p4, "_bfrt.py", text)
}

fn feature_entries(p4: &P4<'_>, feature: &FeatureTable) -> String {
    let params: Vec<String> = feature.trees.iter().map(|tree| format!("for_tree_{tree}")).collect();
    let codes = |prefix: &PrefixEntry| -> Vec<String> {
        let codes = p4.tables.codes(feature, prefix.range);
        codes.iter().map(ToString::to_string).collect()
    };
    let entry = |prefix: &PrefixEntry| {
        let (value, mask) = (prefix.value, prefix.mask());
        let codes = codes(prefix).join(", ");
        format!("    ({value:#x}, {mask:#x}, {}, {codes}),\n", 32 - prefix.length)
    };
    let prefixes = Prefixes::new(feature);
    let default = codes(&prefixes.default);
    let default = params.iter().zip(default).map(|(param, code)| format!("{param}={code}"));
    let field = p4.field(feature.column);
    let arguments: String = params.iter().map(|param| format!(", {param}={param}")).collect();
    format!(
        "
oracle.{table}.clear()
oracle.{table}.set_default_with_{action}({default})
# value, mask, priority, {params}
for value, mask, priority, {params} in [
{entries}]:
    oracle.{table}.add_with_{action}({field}=value, {field}_mask=mask, MATCH_PRIORITY=priority{arguments})
",
        default = default.collect::<Vec<_>>().join(", "),
        params = params.join(", "),
        entries = prefixes.entries.iter().map(entry).collect::<String>(),
        table = p4.feature_table(feature),
        action = p4.feature_action(feature),
    )
}

fn tree_entries(p4: &P4<'_>, at: usize, tree: &TreeTable) -> String {
    let fields: Vec<String> = tree.keys.iter().map(|key| p4.field(key.column)).collect();
    let entry = |leaf: &&LeafEntry| {
        let patterns = tree.patterns(leaf);
        let patterns =
            patterns.iter().map(|pattern| format!("{}, {}", pattern.value, pattern.mask));
        let patterns: Vec<String> = patterns.collect();
        format!("    ({}, {}),\n", patterns.join(", "), leaf.weight)
    };
    let names: Vec<String> = fields.iter().map(|field| format!("{field}, {field}_mask")).collect();
    let arguments: String = fields
        .iter()
        .map(|field| format!("{field}={field}, {field}_mask={field}_mask, "))
        .collect();
    let leaves = Leaves::new(tree);
    format!(
        "
oracle.tree_{at}.clear()
oracle.tree_{at}.set_default_with_set_weight_{at}(weight={default})
# {names}, weight; no two match the same packet
for {names}, weight in [
{entries}]:
    oracle.tree_{at}.add_with_set_weight_{at}({arguments}MATCH_PRIORITY=0, weight=weight)
",
        default = leaves.default.weight,
        names = names.join(", "),
        entries = leaves.entries.iter().map(entry).collect::<String>(),
    )
}
