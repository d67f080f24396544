//! Entries as commands of BMv2's simple_switch_CLI.

use super::names::INGRESS;
use super::p4_table::{Entry, P4Table};
use super::program::P4;
use super::text_file::entries_file;
use crate::about::{about, commented};
use crate::tables::{Code, Ternary};
use crate::target::EmittedFile;

/// `NAME_cli.txt`.
pub(super) fn commands(p4: &P4<'_>) -> EmittedFile {
    let name = &p4.model.prefix;
    let what = format!(
        "{name}_cli.txt: entries for {}_v1model.p4{}",
        p4.prefix(),
        p4.compiled_for_entries()
    );
    let mut lines = about(p4.model, &what);
    lines.push(format!("Load them with: simple_switch_CLI < {name}_cli.txt"));
    lines.push(
        "Entries of an earlier model are removed first, so it can be loaded again.".to_owned(),
    );
    lines.push(
        "The vote is emptied first and loaded last: meanwhile no drop is predicted.".to_owned(),
    );
    lines.push("The last number is the priority; in BMv2 the lowest wins.".to_owned());
    // No blank lines: at each, simple_switch_CLI repeats the previous command.
    let text = commented(&lines, "#");
    let vote = p4.tables.last().map(empty).unwrap_or_default();
    entries_file(p4, "_cli.txt", text + &vote + &p4.tables.iter().map(of_table).collect::<String>())
}

/// Empties a table and sets its default action.
fn empty(table: &P4Table) -> String {
    let oracle = format!("{INGRESS}.oracle");
    let (default, data) = table.default_action();
    let text = format!(
        "table_clear {oracle}.{name}\ntable_set_default {oracle}.{name} {oracle}.{} {}\n",
        default.name,
        joined(data),
        name = table.name
    );
    text.replace(" \n", "\n")
}

/// Empties a table, sets its default action and adds its entries.
fn of_table(table: &P4Table) -> String {
    let oracle = format!("{INGRESS}.oracle");
    let mut text = empty(table);
    let pattern = |pattern: &Ternary| format!("{}&&&{}", pattern.value, pattern.mask);
    for Entry { patterns, priority, data } in &table.entries {
        let patterns: Vec<String> = patterns.iter().map(pattern).collect();
        text += &format!(
            "table_add {oracle}.{} {oracle}.{} {} => {} {}\n",
            table.name,
            table.action().name,
            patterns.join(" "),
            joined(data),
            33 - priority
        );
    }
    // Actions without data leave a space.
    text.replace("=>  ", "=> ").replace(" \n", "\n")
}

fn joined(data: &[Code]) -> String {
    data.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
}
