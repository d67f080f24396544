//! Entries as a P4Runtime WriteRequest in protobuf's text format.

use super::names::{ACTION_ID, TABLE_ID};
use super::p4_table::{Entry, P4Action, P4Table};
use super::program::P4;
use super::text_file::entries_file;
use crate::about::{about, commented};
use crate::tables::{Code, Ternary};
use crate::target::EmittedFile;

/// `NAME_p4runtime.txtpb`.
pub(super) fn entries(p4: &P4<'_>) -> EmittedFile {
    let name = &p4.model.prefix;
    let what = format!(
        "{name}_p4runtime.txtpb: entries for {}_v1model.p4{}",
        p4.prefix(),
        p4.compiled_for_entries()
    );
    let mut lines = about(p4.model, &what);
    lines.extend([
        "A p4.v1.WriteRequest; the identifiers are those of the @id annotations. Of the entries"
            .to_owned(),
        "that match, P4Runtime takes the one with the highest priority.".to_owned(),
        format!("In p4runtime-sh: Write(\"{name}_p4runtime.txtpb\")"),
    ]);
    let mut text = commented(&lines, "#");
    text += "# proto-file: p4/v1/p4runtime.proto\n# proto-message: p4.v1.WriteRequest\n\n";
    text += "device_id: 0\nelection_id { low: 1 }\n";
    for table in &p4.tables {
        let (default, data) = table.default_action();
        text += &format!("# {}\n", table.name);
        text += &update("MODIFY", table, "", (default, data), "is_default_action: true");
        table.entries.iter().for_each(|entry| text += &of_entry("INSERT", table, entry));
    }
    entries_file(p4, "_p4runtime.txtpb", text)
}

/// `NAME_p4runtime_remove.txtpb`: removes these entries, so that those of another model can be inserted; the vote's go first.
pub(super) fn removal(p4: &P4<'_>) -> EmittedFile {
    let name = &p4.model.prefix;
    let what = format!(
        "{name}_p4runtime_remove.txtpb: removes the entries of {name}_p4runtime.txtpb, before another model's are inserted"
    );
    let mut lines = about(p4.model, &what);
    lines.push("The entries of the vote come first: from then on no drop is predicted.".to_owned());
    let mut text = commented(&lines, "#");
    text += "# proto-file: p4/v1/p4runtime.proto\n# proto-message: p4.v1.WriteRequest\n\n";
    text += "device_id: 0\nelection_id { low: 1 }\n";
    for table in p4.tables.iter().rev() {
        text += &format!("# {}\n", table.name);
        table.entries.iter().for_each(|entry| text += &of_entry("DELETE", table, entry));
    }
    entries_file(p4, "_p4runtime_remove.txtpb", text)
}

/// Inserts or deletes an entry. Wildcard fields are left out, as the specification demands.
fn of_entry(kind: &str, table: &P4Table, entry: &Entry) -> String {
    let numbered = (1..).zip(&entry.patterns).filter(|(_, pattern)| !pattern.is_any());
    let matches = numbered.map(|(id, Ternary { value, mask })| {
        let (value, mask) = (bytes(value), bytes(mask));
        format!(
            "      match {{ field_id: {id} ternary {{ value: \"{value}\" mask: \"{mask}\" }} }}\n"
        )
    });
    let priority = format!("priority: {}", 1 + entry.priority);
    let call = (table.action(), entry.data.as_slice());
    update(kind, table, &matches.collect::<String>(), call, &priority)
}

fn update(
    kind: &str,
    table: &P4Table,
    matches: &str,
    (action, data): (&P4Action, &[Code]),
    last: &str,
) -> String {
    let params = (1..)
        .zip(data)
        .map(|(id, code)| format!(" params {{ param_id: {id} value: \"{}\" }}", bytes(code)));
    format!(
        "\
updates {{
  type: {kind}
  entity {{
    table_entry {{
      table_id: {}
{matches}      action {{ action {{ action_id: {}{} }} }}
      {last}
    }}
  }}
}}
",
        TABLE_ID | table.id,
        ACTION_ID | action.id,
        params.collect::<String>()
    )
}

/// The shortest big-endian bytes of a code, escaped in octal: P4Runtime's canonical form.
fn bytes(code: &Code) -> String {
    let bytes = code.words().iter().rev().flat_map(|word| word.to_be_bytes());
    let mut significant: Vec<u8> = bytes.skip_while(|&byte| byte == 0).collect();
    if significant.is_empty() {
        significant.push(0);
    }
    significant.iter().map(|byte| format!("\\{byte:03o}")).collect()
}
