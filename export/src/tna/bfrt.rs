//! Entries as a script for bfrt_python, the Python shell of Tofino's driver.

use crate::about::{about, commented};
use crate::p4::{INGRESS, P4, P4Table, entries_file};
use crate::target::EmittedFile;

/// `NAME_bfrt.py`.
pub(super) fn script(p4: &P4<'_>) -> EmittedFile {
    let name = &p4.model.prefix;
    let what =
        format!("{name}_bfrt.py: entries for {}_tna.p4{}", p4.prefix(), p4.compiled_for_entries());
    let mut lines = about(p4.model, &what);
    lines.push(format!("Load them with: bfshell -b $PWD/{name}_bfrt.py"));
    lines.push(
        "Of the entries that match, Tofino takes the one with the lowest priority.".to_owned(),
    );
    lines.push(
        "The vote is emptied first and loaded last: meanwhile no drop is predicted.".to_owned(),
    );
    let mut text = commented(&lines, "#");
    text += &format!("\noracle = bfrt.{}_tna.pipe.{INGRESS}.oracle\n", p4.prefix());
    text += &p4.tables.last().map(empty).unwrap_or_default();
    text.extend(p4.tables.iter().map(of_table));
    text += "\nbfrt.complete_operations()\n";
    entries_file(p4, "_bfrt.py", text)
}

/// Empties a table and sets its default action.
fn empty(table: &P4Table) -> String {
    let (default, data) = table.default_action();
    let arguments = default.params.iter().zip(data);
    let arguments: Vec<String> =
        arguments.map(|((param, _), code)| format!("{param}={code}")).collect();
    format!(
        "\noracle.{name}.clear()\noracle.{name}.set_default_with_{}({})\n",
        default.name,
        arguments.join(", "),
        name = table.name
    )
}

/// Empties a table, sets its default action and adds its entries.
fn of_table(table: &P4Table) -> String {
    let name = &table.name;
    let mut text = empty(table);
    if table.entries.is_empty() {
        return text;
    }
    let keys = table.keys.iter().flat_map(|key| [key.name.clone(), format!("{}_mask", key.name)]);
    let priority = ["MATCH_PRIORITY".to_owned()];
    let params = table.action().params.iter().map(|(param, _)| param.clone());
    let columns: Vec<String> = keys.chain(priority).chain(params).collect();
    text += &format!("for {} in [\n", columns.join(", "));
    for entry in &table.entries {
        let patterns = entry.patterns.iter().flat_map(|pattern| [&pattern.value, &pattern.mask]);
        let cells = patterns.map(ToString::to_string);
        let cells = cells.chain([(32 - entry.priority).to_string()]);
        let cells: Vec<String> = cells.chain(entry.data.iter().map(ToString::to_string)).collect();
        text += &format!("    ({}),\n", cells.join(", "));
    }
    let arguments: Vec<String> =
        columns.iter().map(|column| format!("{column}={column}")).collect();
    text + &format!(
        "]:\n    oracle.{name}.add_with_{}({})\n",
        table.action().name,
        arguments.join(", ")
    )
}
