//! Entries as a P4Runtime WriteRequest in protobuf's text format.

use super::entries::{Leaves, Prefixes};
use super::names::{ACTION_ID, P4, TABLE_ID};
use super::text_file::text_file;
use crate::about::{about, commented};
use crate::tables::{Code, LeafEntry, PrefixEntry, Ternary};
use crate::target::EmittedFile;

/// `NAME_p4runtime.txtpb`.
pub(super) fn entries(p4: &P4<'_>) -> EmittedFile {
    let name = &p4.model.prefix;
    let what = format!(
        "{name}_p4runtime.txtpb: entries for {name}_v1model.p4, compiled with -D {}_RUNTIME_ENTRIES",
        p4.macro_name()
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
    for feature in &p4.tables.features {
        let id = p4.feature_id(feature);
        let codes = |prefix: &PrefixEntry| p4.tables.codes(feature, prefix.range);
        let prefixes = Prefixes::new(feature);
        text += &format!("# {}\n", p4.feature_table(feature));
        text += &set_default(id, &codes(&prefixes.default));
        for prefix in &prefixes.entries {
            let pattern = Ternary::of_prefix(prefix.value, prefix.length);
            text += &insert(id, &[pattern], &codes(prefix), 1 + u32::from(prefix.length));
        }
    }
    for (at, tree) in p4.trees() {
        let weight = |leaf: &LeafEntry| Code::of_value(u32::from(leaf.weight));
        let leaves = Leaves::new(tree);
        text += &format!("# tree_{at}\n");
        text += &set_default(p4.tree_id(at), &[weight(leaves.default)]);
        for leaf in leaves.entries {
            text += &insert(p4.tree_id(at), &tree.patterns(leaf), &[weight(leaf)], 1);
        }
    }
    text_file(p4, "_p4runtime.txtpb", text)
}

/// Sets a table's default action.
fn set_default(id: u32, data: &[Code]) -> String {
    update("MODIFY", id, "", data, "is_default_action: true")
}

/// Inserts an entry. Wildcard fields are left out, as the specification demands.
fn insert(id: u32, patterns: &[Ternary], data: &[Code], priority: u32) -> String {
    let numbered = (1..).zip(patterns).filter(|(_, pattern)| !pattern.is_any());
    let matches = numbered.map(|(id, Ternary { value, mask })| {
        let (value, mask) = (bytes(value), bytes(mask));
        format!(
            "      match {{ field_id: {id} ternary {{ value: \"{value}\" mask: \"{mask}\" }} }}\n"
        )
    });
    update("INSERT", id, &matches.collect::<String>(), data, &format!("priority: {priority}"))
}

fn update(kind: &str, id: u32, matches: &str, data: &[Code], last: &str) -> String {
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
        TABLE_ID | id,
        ACTION_ID | id,
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
