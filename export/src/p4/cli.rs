//! Entries as commands of BMv2's simple_switch_CLI.

use super::entries::{Leaves, Prefixes};
use super::names::{INGRESS, P4};
use super::text_file::text_file;
use crate::about::{about, commented};
use crate::tables::{PrefixEntry, Ternary};
use crate::target::EmittedFile;

/// `NAME_cli.txt`.
pub(super) fn commands(p4: &P4<'_>) -> EmittedFile {
    let name = &p4.model.prefix;
    let what = format!(
        "{name}_cli.txt: entries for {name}_v1model.p4, compiled with -D {}_RUNTIME_ENTRIES",
        p4.macro_name()
    );
    let mut lines = about(p4.model, &what);
    lines.push(format!("Load them with: simple_switch_CLI < {name}_cli.txt"));
    lines.push(
        "Entries of an earlier model are removed first, so it can be loaded again.".to_owned(),
    );
    lines.push("The last number is the priority; in BMv2 the lowest wins.".to_owned());
    // No blank lines: at each, simple_switch_CLI repeats the previous command.
    let mut text = commented(&lines, "#");
    for feature in &p4.tables.features {
        let (table, action) = (p4.feature_table(feature), p4.feature_action(feature));
        let codes = |prefix: &PrefixEntry| -> Vec<String> {
            let codes = p4.tables.codes(feature, prefix.range);
            codes.iter().map(ToString::to_string).collect()
        };
        let prefixes = Prefixes::new(feature);
        text += &start(&table, &action, &codes(&prefixes.default));
        for prefix in &prefixes.entries {
            let pattern = Ternary::of_prefix(prefix.value, prefix.length);
            text +=
                &add(&table, &action, &[pattern], &codes(prefix), 33 - u32::from(prefix.length));
        }
    }
    for (at, tree) in p4.trees() {
        let (table, action) = (format!("tree_{at}"), format!("set_weight_{at}"));
        let leaves = Leaves::new(tree);
        text += &start(&table, &action, &[leaves.default.weight.to_string()]);
        for leaf in leaves.entries {
            text += &add(&table, &action, &tree.patterns(leaf), &[leaf.weight.to_string()], 1);
        }
    }
    text_file(p4, "_cli.txt", text)
}

/// Empties a table and sets its default action.
fn start(table: &str, action: &str, data: &[String]) -> String {
    let oracle = format!("{INGRESS}.oracle");
    format!(
        "table_clear {oracle}.{table}\ntable_set_default {oracle}.{table} {oracle}.{action} {}\n",
        data.join(" ")
    )
}

fn add(table: &str, action: &str, patterns: &[Ternary], data: &[String], priority: u32) -> String {
    let pattern = |pattern: &Ternary| format!("{}&&&{}", pattern.value, pattern.mask);
    let patterns: Vec<String> = patterns.iter().map(pattern).collect();
    format!(
        "table_add {INGRESS}.oracle.{table} {INGRESS}.oracle.{action} {} => {} {priority}\n",
        patterns.join(" "),
        data.join(" ")
    )
}
