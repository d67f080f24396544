//! The oracle: a control in core P4_16, independent of the architecture.

use super::names::{ACTION_ID, TABLE_ID};
use super::p4_table::{Entry, Key, P4Action, P4Table};
use super::program::{P4, word_name};
use super::text_file::program_file;
use crate::about::commented;
use crate::ident::plain;
use crate::tables::{Code, Ternary};
use crate::target::EmittedFile;

/// `NAME_oracle.p4`.
pub(crate) fn oracle_file(p4: &P4<'_>) -> EmittedFile {
    let upper = p4.macro_name();
    let what =
        format!("{}_oracle.p4: would push-out Longest Queue Drop drop this packet?", p4.prefix());
    let text = [
        commented(&p4.about_program(&what), "//"),
        usage(p4),
        format!("#ifndef {upper}_ORACLE_P4\n#define {upper}_ORACLE_P4\n"),
        entries_default(p4) + &features_struct(p4),
        control(p4),
        format!("#endif // {upper}_ORACLE_P4\n"),
    ];
    program_file(p4, "_oracle.p4", text.join("\n"))
}

fn usage(p4: &P4<'_>) -> String {
    let entries = if p4.layout.is_some() {
        "\
// Until entries are loaded no drop is predicted.
"
    } else if has_const_entries(p4) {
        "\
// The entries are constant, unless @_RUNTIME_ENTRIES is defined: then each table has only its
// default action until entries are loaded.
// Of the constant entries below, the first that matches wins.
"
    } else {
        "\
// Each table has only its default action until entries are loaded: compilers take long to read this
// many as constants. Define @_CONST_ENTRIES to have them as constants nevertheless.
// Of the constant entries below, the first that matches wins.
"
    };
    format!(
        "\
// {}Oracle() oracle; ... oracle.apply(features, score, drop) looks up codes of each feature, then
// a weight for each tree, and adds the weights up. drop is 1 if push-out Longest Queue Drop is
// predicted to drop the packet, else 0.
//
// It answers queries and keeps no queues. A switch must add what Credence is around it (docs/p4.md), by
// its traffic manager or a processor beside the pipeline, since registers update one cell for a packet:
//
//   arrival(port, queue, size_bytes, now_ns), all in bytes, before the packet is added:
//     features   x, of virtual LQD's queues
//     threshold  the packet's queue in virtual LQD, with the packet
//     drop if the buffer has no room, else
//     accept while every queue of the switch is shorter than B/N, else
//     drop if queue + size_bytes > threshold + slack_bytes (docs/decision.md), else
//     drop if this oracle predicts it
//   departure(port, queue, size_bytes, now_ns): an accepted packet leaves its queue
//
{}",
        p4.type_name(),
        entries.replace('@', &p4.macro_name())
    )
}

/// Above this many entries, constant entries are opt-in. p4c's time and memory grow faster than
/// their number (`docs/p4.md`).
const MOST_CONST_ENTRIES: usize = 500;

fn has_const_entries(p4: &P4<'_>) -> bool {
    p4.tables.iter().map(|table| table.entries.len()).sum::<usize>() <= MOST_CONST_ENTRIES
}

/// The includer's default kind of entries.
fn entries_default(p4: &P4<'_>) -> String {
    if p4.layout.is_some() || has_const_entries(p4) {
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
    format!("struct {}_features_t {{\n{fields}}}\n", p4.prefix())
}

fn control(p4: &P4<'_>) -> String {
    let tables: Vec<String> = p4.tables.iter().map(|table| of_table(p4, table)).collect();
    format!(
        "\
control {}Oracle(in {}_features_t x, out bit<{}> score, out bit<16> drop) {{
{}
{}{}
{}}}
",
        p4.type_name(),
        p4.prefix(),
        p4.shape.score_bits,
        variables(p4),
        tables.join("\n"),
        additions(p4),
        apply(p4)
    )
}

/// No initial values: the tables write every variable, and on Tofino an initial value is another
/// write to a container.
fn variables(p4: &P4<'_>) -> String {
    let mut text =
        "    // One table writes all of a word, so that tables can share a stage.\n".to_owned();
    for (feature, words) in p4.shape.features.iter().zip(&p4.words) {
        for (word, bits) in words.iter().enumerate() {
            let name = word_name(&p4.field(feature.column), word, words.len());
            text += &format!("    bit<{bits}> {name};\n");
        }
    }
    for sum in 0..p4.sums.0 {
        text += &format!("    bit<{}> sum_{sum};\n", p4.shape.score_bits);
    }
    text
}

/// A table, after its actions.
fn of_table(p4: &P4<'_>, table: &P4Table) -> String {
    let actions: String = table.actions.iter().map(of_action).collect();
    let key = |Key { expression, name }: &Key| {
        format!("            {expression} : ternary @name(\"{name}\");\n")
    };
    let called = |action: &P4Action, data: &[Code]| {
        let data: Vec<String> = data.iter().map(ToString::to_string).collect();
        format!("{}({})", action.name, data.join(", "))
    };
    let (action, data) = table.default_action();
    let default = called(action, data);
    let size = table.size.max(1);
    let entries = if let Some(empty) = &table.empty {
        let empty = called(&table.actions[empty.action], &empty.data);
        format!("        default_action = {empty};\n        size = {size};\n")
    } else {
        let entry = |entry: &Entry| {
            let call = called(table.action(), &entry.data);
            format!("            {} : {call};\n", keyset(&entry.patterns))
        };
        let mut constant = format!("        const default_action = {default};\n");
        if !table.entries.is_empty() {
            let entries: String = table.entries.iter().map(entry).collect();
            constant += &format!("        const entries = {{\n{entries}        }}\n");
        }
        format!(
            "\
#ifdef {}_RUNTIME_ENTRIES
        default_action = {default};
        size = {size};
#else
{constant}#endif
",
            p4.macro_name()
        )
    };
    format!(
        "\
{actions}    @id({:#010x})
    table {} {{
        key = {{
{}        }}
        actions = {{
{}        }}
{entries}    }}
",
        TABLE_ID | table.id,
        table.name,
        table.keys.iter().map(key).collect::<String>(),
        table
            .actions
            .iter()
            .map(|action| format!("            {};\n", action.name))
            .collect::<String>(),
    )
}

fn of_action(action: &P4Action) -> String {
    let param = |(name, bits): &(String, usize)| format!("bit<{bits}> {name}");
    let params: Vec<String> = action.params.iter().map(param).collect();
    format!(
        "    @id({:#010x})\n    action {}({}) {{\n{}    }}\n\n",
        ACTION_ID | action.id,
        action.name,
        params.join(", "),
        action.body.iter().map(|line| format!("        {line}\n")).collect::<String>()
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

/// The sums that each addition adds to another; those of one level do not depend on each other.
fn levels(p4: &P4<'_>) -> Vec<Vec<(usize, usize)>> {
    let mut sums: Vec<usize> = (0..p4.sums.0).collect();
    let mut levels = Vec::new();
    while sums.len() > 1 {
        levels.push(sums.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect());
        sums = sums.chunks(2).map(|pair| pair[0]).collect();
    }
    levels
}

/// An action for each level of additions.
fn additions(p4: &P4<'_>) -> String {
    let addition =
        |(to, from): &(usize, usize)| format!("        sum_{to} = sum_{to} + sum_{from};\n");
    let action = |(level, pairs): (usize, Vec<(usize, usize)>)| {
        let body: String = pairs.iter().map(addition).collect();
        format!("\n    action add_sums_{level}() {{\n{body}    }}\n")
    };
    levels(p4).into_iter().enumerate().map(action).collect()
}

fn apply(p4: &P4<'_>) -> String {
    let (vote, lookups) = p4.tables.split_last().expect("there is the vote");
    let mut text = "    apply {\n".to_owned();
    if let Some(constant) = p4.constant {
        text += &format!("        sum_0 = {constant};\n");
    }
    for table in lookups {
        text += &format!("        {}.apply();\n", table.name);
    }
    for level in 0..p4.sums.levels() {
        text += &format!("        add_sums_{level}();\n");
    }
    text + &format!("        {}.apply();\n    }}\n", vote.name)
}
