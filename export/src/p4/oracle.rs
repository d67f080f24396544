//! The oracle: a control of core P4_16, without anything of an architecture.

use super::names::{ACTION_ID, P4, TABLE_ID};
use super::text_file;
use crate::about::{about, commented};
use crate::ident::plain;
use crate::tables::{CodeKey, FeatureTable, LeafEntry, PrefixEntry, Ternary, TreeTable};
use crate::target::EmittedFile;
use std::cmp::Reverse;

/// `NAME_oracle.p4`.
pub(crate) fn oracle_file(p4: &P4<'_>) -> EmittedFile {
    let upper = p4.macro_name();
    let what = format!(
        "{}_oracle.p4: would push-out Longest Queue Drop drop this packet?",
        p4.model.prefix
    );
    let text = [
        commented(&about(p4.model, &what), "//"),
        usage(p4),
        format!("#ifndef {upper}_ORACLE_P4\n#define {upper}_ORACLE_P4\n"),
        features_struct(p4),
        control(p4),
        format!("#endif // {upper}_ORACLE_P4\n"),
    ];
    text_file(p4, "_oracle.p4", text.join("\n"))
}

fn usage(p4: &P4<'_>) -> String {
    format!(
        "\
// {0}Oracle() oracle; ... oracle.apply(features, score, drop) looks up a code for each feature,
// then a weight for each tree, and adds the weights up. The entries are constant, unless
// {1}_RUNTIME_ENTRIES is defined: then the tables are empty until entries are loaded.
// In the entries below, the first that matches wins.
",
        p4.type_name(),
        p4.macro_name()
    )
}

fn features_struct(p4: &P4<'_>) -> String {
    let field = |(column, of): (usize, &crate::Column)| {
        format!("    bit<32> {}; // {}\n", p4.field(column), plain(&of.unit))
    };
    let fields: String = p4.model.origin.columns.iter().enumerate().map(field).collect();
    format!("struct {}_features_t {{\n{fields}}}\n", p4.model.prefix)
}

fn control(p4: &P4<'_>) -> String {
    let mut body = variables(p4);
    for feature in &p4.tables.features {
        body += &format!("\n{}", feature_table(p4, feature));
    }
    for (at, tree) in p4.trees() {
        body += &format!("\n{}", tree_table(p4, at, tree));
    }
    format!(
        "\
control {}Oracle(in {}_features_t x, out bit<{}> score, out bit<1> drop) {{
{body}
{}}}
",
        p4.type_name(),
        p4.model.prefix,
        p4.score_bits(),
        apply(p4)
    )
}

fn variables(p4: &P4<'_>) -> String {
    let mut text = String::new();
    for (at, tree) in p4.trees() {
        for CodeKey { column, thresholds } in &tree.keys {
            text += &format!("    bit<{}> {} = 0;\n", thresholds.len(), p4.code(at, *column));
        }
        text += &format!("    bit<{}> weight_{at} = 0;\n", p4.score_bits());
    }
    text + &format!("    bit<{}> excess;\n", p4.score_bits())
}

fn feature_table(p4: &P4<'_>, feature: &FeatureTable) -> String {
    let (table, action) = (p4.feature_table(feature), p4.feature_action(feature));
    let id = p4.feature_id(feature);
    let width = |tree: usize| p4.tables.key(tree, feature.column).map_or(0, CodeKey::width);
    let params: Vec<String> =
        feature.trees.iter().map(|&tree| format!("bit<{}> for_tree_{tree}", width(tree))).collect();
    let set =
        |&tree: &usize| format!("        {} = for_tree_{tree};\n", p4.code(tree, feature.column));
    let entries = by_priority(feature).into_iter().map(|prefix| {
        let codes = p4.tables.codes(feature, prefix.range);
        let codes: Vec<String> = codes.iter().map(ToString::to_string).collect();
        let pattern = Ternary::of_prefix(prefix.value, prefix.length);
        format!("            {} : {action}({});\n", keyset(&[pattern]), codes.join(", "))
    });
    let key = format!("            x.{0} : ternary @name(\"{0}\");\n", p4.field(feature.column));
    format!(
        "    @id({:#010x})\n    action {action}({}) {{\n{}    }}\n\n{}",
        ACTION_ID | id,
        params.join(", "),
        feature.trees.iter().map(set).collect::<String>(),
        table_text(p4, &table, id, &key, &action, &entries.collect::<Vec<_>>())
    )
}

/// Prefixes in the order of their priority: longer ones first.
pub(crate) fn by_priority(feature: &FeatureTable) -> Vec<PrefixEntry> {
    let mut prefixes = feature.prefixes.clone();
    prefixes.sort_by_key(|prefix| (Reverse(prefix.length), prefix.value));
    prefixes
}

fn tree_table(p4: &P4<'_>, at: usize, tree: &TreeTable) -> String {
    let (table, action) = (format!("tree_{at}"), format!("set_weight_{at}"));
    let id = p4.tree_id(at);
    let entry = |leaf: &LeafEntry| {
        format!("            {} : {action}({});\n", keyset(&tree.patterns(leaf)), leaf.weight)
    };
    let key = |key: &CodeKey| {
        let code = p4.code(at, key.column);
        format!("            {code} : ternary @name(\"{}\");\n", p4.field(key.column))
    };
    let keys: String = tree.keys.iter().map(key).collect();
    let entries: Vec<String> = tree.leaves.iter().map(entry).collect();
    format!(
        "    @id({:#010x})\n    action {action}(bit<8> weight) {{\n        weight_{at} = (bit<{}>) weight;\n    }}\n\n{}",
        ACTION_ID | id,
        p4.score_bits(),
        table_text(p4, &table, id, &keys, &action, &entries)
    )
}

fn table_text(
    p4: &P4<'_>,
    table: &str,
    id: u32,
    keys: &str,
    action: &str,
    entries: &[String],
) -> String {
    format!(
        "    @id({:#010x})
    table {table} {{
        key = {{
{keys}        }}
        actions = {{
            {action};
            @defaultonly NoAction;
        }}
        const default_action = NoAction();
        size = {};
#ifndef {}_RUNTIME_ENTRIES
        const entries = {{
{}        }}
#endif
    }}
",
        TABLE_ID | id,
        entries.len(),
        p4.macro_name(),
        entries.concat()
    )
}

/// What an entry matches: one pattern, or several in parentheses.
fn keyset(patterns: &[Ternary]) -> String {
    let pattern = |pattern: &Ternary| {
        if pattern.is_any() {
            "_".to_owned()
        } else {
            format!("{} &&& {}", pattern.value, pattern.mask)
        }
    };
    let patterns: Vec<String> = patterns.iter().map(pattern).collect();
    match patterns.as_slice() {
        [one] => one.clone(),
        several => format!("({})", several.join(", ")),
    }
}

fn apply(p4: &P4<'_>) -> String {
    let mut text = "    apply {\n".to_owned();
    for feature in &p4.tables.features {
        text += &format!("        {}.apply();\n", p4.feature_table(feature));
    }
    let mut trees: Vec<usize> = p4.trees().map(|(at, _)| at).collect();
    trees.iter().for_each(|at| text += &format!("        tree_{at}.apply();\n"));
    // Two at a time, so that the additions that depend on each other are few.
    while trees.len() > 1 {
        for pair in trees.chunks_exact(2) {
            text += &format!("        weight_{0} = weight_{0} + weight_{1};\n", pair[0], pair[1]);
        }
        trees = trees.chunks(2).map(|pair| pair[0]).collect();
    }
    let constant = p4.tables.constant_score();
    let score = match (trees.first(), constant) {
        (None, constant) => constant.to_string(),
        (Some(at), 0) => format!("weight_{at}"),
        (Some(at), constant) => format!("weight_{at} + {constant}"),
    };
    text + &format!(
        "        score = {score};
        // Saturating: 0 unless the score is above the vote threshold. A tie accepts.
        excess = score |-| {};
        drop = 0;
        if (excess != 0) {{
            drop = 1;
        }}
    }}
",
        p4.tables.vote_threshold
    )
}
