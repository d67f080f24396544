//! Entries as a P4Runtime WriteRequest in protobuf's text format.

use super::names::{ACTION_ID, P4, TABLE_ID};
use super::oracle::by_priority;
use super::text_file;
use crate::about::{about, commented};
use crate::tables::{Code, Ternary};
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
        text += &format!("# {}\n", p4.feature_table(feature));
        for prefix in by_priority(feature) {
            text += &update(
                p4.feature_id(feature),
                &[Ternary::of_prefix(prefix.value, prefix.length)],
                &p4.tables.codes(feature, prefix.range),
                1 + u32::from(prefix.length),
            );
        }
    }
    for (at, tree) in p4.trees() {
        text += &format!("# tree_{at}\n");
        for leaf in &tree.leaves {
            let weight = Code::of_value(u32::from(leaf.weight));
            text += &update(p4.tree_id(at), &tree.patterns(leaf), &[weight], 1);
        }
    }
    text_file(p4, "_p4runtime.txtpb", text)
}

/// Inserts an entry. A field that may be anything is left out, as the specification demands.
fn update(id: u32, patterns: &[Ternary], data: &[Code], priority: u32) -> String {
    let numbered = (1..).zip(patterns).filter(|(_, pattern)| !pattern.is_any());
    let matches = numbered.map(|(id, Ternary { value, mask })| {
        let (value, mask) = (bytes(value), bytes(mask));
        format!(
            "      match {{ field_id: {id} ternary {{ value: \"{value}\" mask: \"{mask}\" }} }}\n"
        )
    });
    let params = (1..)
        .zip(data)
        .map(|(id, code)| format!(" params {{ param_id: {id} value: \"{}\" }}", bytes(code)));
    format!(
        "\
updates {{
  type: INSERT
  entity {{
    table_entry {{
      table_id: {}
{}      action {{ action {{ action_id: {}{} }} }}
      priority: {priority}
    }}
  }}
}}
",
        TABLE_ID | id,
        matches.collect::<String>(),
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
