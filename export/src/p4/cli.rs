//! Entries as commands of BMv2's simple_switch_CLI.

use super::names::P4;
use super::oracle::by_priority;
use super::text_file;
use crate::about::{about, commented};
use crate::tables::Ternary;
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
    lines.push("The last number is the priority; in BMv2 the lowest wins.".to_owned());
    let mut text = commented(&lines, "#");
    for feature in &p4.tables.features {
        text.push('\n');
        let (table, action) = (p4.feature_table(feature), p4.feature_action(feature));
        for prefix in by_priority(feature) {
            let pattern = Ternary::of_prefix(prefix.value, prefix.length);
            let codes = p4.tables.codes(feature, prefix.range);
            let codes: Vec<String> = codes.iter().map(ToString::to_string).collect();
            text += &command(&table, &action, &[pattern], &codes, 33 - u32::from(prefix.length));
        }
    }
    for (at, tree) in p4.trees() {
        text.push('\n');
        for leaf in &tree.leaves {
            let (table, action) = (format!("tree_{at}"), format!("set_weight_{at}"));
            let weight = leaf.weight.to_string();
            text += &command(&table, &action, &tree.patterns(leaf), &[weight], 1);
        }
    }
    text_file(p4, "_cli.txt", text)
}

fn command(
    table: &str,
    action: &str,
    patterns: &[Ternary],
    data: &[String],
    priority: u32,
) -> String {
    let pattern = |pattern: &Ternary| format!("{}&&&{}", pattern.value, pattern.mask);
    let patterns: Vec<String> = patterns.iter().map(pattern).collect();
    format!(
        "table_add Ingress.oracle.{table} Ingress.oracle.{action} {} => {} {priority}\n",
        patterns.join(" "),
        data.join(" ")
    )
}
