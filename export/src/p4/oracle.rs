//! The oracle: a control in core P4_16, independent of the architecture.

use super::entries::{Leaves, Prefixes};
use super::names::{ACTION_ID, P4, TABLE_ID};
use super::text_file::text_file;
use crate::about::{about, commented};
use crate::ident::plain;
use crate::tables::{CodeKey, FeatureTable, LeafEntry, PrefixEntry, Ternary, TreeTable};
use crate::target::EmittedFile;

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
        entries_default(p4) + &features_struct(p4),
        control(p4),
        format!("#endif // {upper}_ORACLE_P4\n"),
    ];
    text_file(p4, "_oracle.p4", text.join("\n"))
}

fn usage(p4: &P4<'_>) -> String {
    let entries = if has_const_entries(p4) {
        "\
// The entries are constant, unless @_RUNTIME_ENTRIES is defined: then each table has only its
// default action until entries are loaded.
"
    } else {
        "\
// Each table has only its default action until entries are loaded: compilers take long to read this
// many as constants. Define @_CONST_ENTRIES to have them as constants nevertheless.
"
    };
    format!(
        "\
// {}Oracle() oracle; ... oracle.apply(features, score, drop) looks up a code for each feature,
// then a weight for each tree, and adds the weights up. drop is 1 if push-out Longest Queue Drop is
// predicted to drop the packet, else 0.
//
{}// Of the constant entries below, the first that matches wins.
",
        p4.type_name(),
        entries.replace('@', &p4.macro_name())
    )
}

/// Above this many entries, constant entries are opt-in. p4c's time and memory grow faster than
/// their number (`docs/p4.md`).
const MOST_CONST_ENTRIES: usize = 500;

fn has_const_entries(p4: &P4<'_>) -> bool {
    let features: usize = p4.tables.features.iter().map(|of| of.prefixes.len()).sum();
    features + p4.trees().map(|(_, tree)| tree.leaves.len()).sum::<usize>() <= MOST_CONST_ENTRIES
}

/// The includer's default kind of entries.
fn entries_default(p4: &P4<'_>) -> String {
    if has_const_entries(p4) {
        return String::new();
    }
    format!(
        "#ifndef {upper}_CONST_ENTRIES\n#define {upper}_RUNTIME_ENTRIES 1\n#endif\n\n",
        upper = p4.macro_name()
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
control {}Oracle(in {}_features_t x, out bit<{}> score, out bit<16> drop) {{
{body}
{}
{}}}
",
        p4.type_name(),
        p4.model.prefix,
        p4.score_bits(),
        vote_table(p4),
        apply(p4)
    )
}

/// No initial values: the tables write every variable, and on Tofino an initial value is another
/// write to a container.
fn variables(p4: &P4<'_>) -> String {
    let mut text = String::new();
    for (at, tree) in p4.trees() {
        for CodeKey { column, thresholds } in &tree.keys {
            text += &format!("    bit<{}> {};\n", thresholds.len(), p4.code(at, *column));
        }
        text += &format!("    bit<{}> weight_{at};\n", p4.score_bits());
    }
    text + &format!("    bit<{}> excess;\n", p4.score_bits())
}

fn feature_table(p4: &P4<'_>, feature: &FeatureTable) -> String {
    let action = p4.feature_action(feature);
    let id = p4.feature_id(feature);
    let width = |tree: usize| p4.tables.key(tree, feature.column).map_or(0, CodeKey::width);
    let params: Vec<String> =
        feature.trees.iter().map(|&tree| format!("bit<{}> for_tree_{tree}", width(tree))).collect();
    let set =
        |&tree: &usize| format!("        {} = for_tree_{tree};\n", p4.code(tree, feature.column));
    let call = |prefix: &PrefixEntry| {
        let codes = p4.tables.codes(feature, prefix.range);
        let codes: Vec<String> = codes.iter().map(ToString::to_string).collect();
        format!("{action}({})", codes.join(", "))
    };
    let prefixes = Prefixes::new(feature);
    let entries = prefixes.entries.iter().map(|prefix| {
        let pattern = Ternary::of_prefix(prefix.value, prefix.length);
        format!("            {} : {};\n", keyset(&[pattern]), call(prefix))
    });
    let key = format!("            x.{0} : ternary @name(\"{0}\");\n", p4.field(feature.column));
    format!(
        "    @id({:#010x})\n    action {action}({}) {{\n{}    }}\n\n{}",
        ACTION_ID | id,
        params.join(", "),
        feature.trees.iter().map(set).collect::<String>(),
        Table {
            id,
            name: &p4.feature_table(feature),
            keys: &key,
            action: &action,
            default: &call(&prefixes.default),
            entries: &entries.collect::<Vec<_>>(),
        }
        .text(p4)
    )
}

fn tree_table(p4: &P4<'_>, at: usize, tree: &TreeTable) -> String {
    let action = format!("set_weight_{at}");
    let id = p4.tree_id(at);
    let Leaves { entries, default } = Leaves::new(tree);
    let entry = |leaf: &&LeafEntry| {
        format!("            {} : {action}({});\n", keyset(&tree.patterns(leaf)), leaf.weight)
    };
    let key = |key: &CodeKey| {
        let code = p4.code(at, key.column);
        format!("            {code} : ternary @name(\"{}\");\n", p4.field(key.column))
    };
    format!(
        "    @id({:#010x})\n    action {action}(bit<{}> weight) {{\n        weight_{at} = weight;\n    }}\n\n{}",
        ACTION_ID | id,
        p4.score_bits(),
        Table {
            id,
            name: &format!("tree_{at}"),
            keys: &tree.keys.iter().map(key).collect::<String>(),
            action: &action,
            default: &format!("{action}({})", default.weight),
            entries: &entries.iter().map(entry).collect::<Vec<_>>(),
        }
        .text(p4)
    )
}

/// A table of one action.
struct Table<'a> {
    id: u32,
    name: &'a str,
    keys: &'a str,
    action: &'a str,
    /// The default action and its data.
    default: &'a str,
    entries: &'a [String],
}

impl Table<'_> {
    fn text(&self, p4: &P4<'_>) -> String {
        let Table { name, keys, action, default, entries, .. } = self;
        format!(
            "    @id({:#010x})
    table {name} {{
        key = {{
{keys}        }}
        actions = {{
            {action};
        }}
#ifdef {}_RUNTIME_ENTRIES
        default_action = {default};
        size = {};
#else
        const default_action = {default};
        const entries = {{
{}        }}
#endif
    }}
",
            TABLE_ID | self.id,
            p4.macro_name(),
            entries.len(),
            entries.concat()
        )
    }
}

/// The vote, as a lookup: Tofino compilers refuse both an `if` that compares 16 bits with a
/// constant and an action that adds, compares and writes the answer.
fn vote_table(p4: &P4<'_>) -> String {
    let [accept, drop] = p4.vote_ids();
    format!(
        "    @id({:#010x})
    action predict_accept() {{
        drop = 0;
    }}

    @id({:#010x})
    action predict_drop() {{
        drop = 1;
    }}

    @id({:#010x})
    table vote {{
        key = {{
            excess : exact @name(\"excess\");
        }}
        actions = {{
            predict_accept;
            predict_drop;
        }}
        const default_action = predict_drop();
        const entries = {{
            0 : predict_accept();
        }}
    }}
",
        ACTION_ID | accept,
        ACTION_ID | drop,
        TABLE_ID | accept,
    )
}

/// The match of an entry: one pattern, or several in parentheses.
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
    // In pairs, to keep the chain of dependent additions short.
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
        vote.apply();
    }}
",
        p4.tables.vote_threshold
    )
}
