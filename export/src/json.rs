//! The forest as a JSON document, for programs in any language. `docs/dct.md` describes it.
//!
//! Strings are `serde_json`'s. The document is not: it puts all of it on one line, or each number on a line of its own, and here
//! a list of a tree is a line.

use crate::ExportError;
use crate::checked::Checked;
use crate::complete::CompleteTree;
use crate::origin::Column;
use crate::target::{EmittedFile, Emitter};
use std::fmt::Display;

/// The JSON table.
pub(crate) const TARGET: Emitter = Emitter {
    name: "json",
    about: "JSON table, integers only, see docs/dct.md",
    decides: false,
    has_layouts: false,
    emit,
};

/// Version of the JSON table; it changes when the meaning of a field does.
pub const JSON_TABLE_VERSION: u32 = 1;

fn emit(model: &Checked<'_>) -> Result<Vec<EmittedFile>, ExportError> {
    // Not NAME.json, which may be the model itself.
    let name = format!("{}.table.json", model.prefix);
    Ok(vec![EmittedFile { name, bytes: document(model).into_bytes() }])
}

fn document(model: &Checked<'_>) -> String {
    let origin = model.origin;
    let average_ns = origin.average_ns.map_or_else(|| "null".to_owned(), |ns| ns.to_string());
    let features = origin.columns.iter().map(feature);
    let trees = model.complete.trees.iter().map(tree);
    format!(
        "\
{{
  \"format\": \"dropcast-table\",
  \"format_version\": {JSON_TABLE_VERSION},
  \"tool\": {tool},
  \"model\": {{\"name\": {name}, \"sha256\": {sha256}}},
  \"average_ns\": {average_ns},
  \"features\": [
{features}
  ],
  \"depth\": {depth},
  \"vote_threshold\": {vote},
  \"trees\": [
{trees}
  ]
}}
",
        tool = text(&format!("dropcast {}", origin.tool_version)),
        name = text(&origin.model_name),
        sha256 = text(&origin.model_sha256),
        features = joined(features, ",\n"),
        depth = model.complete.layout.depth(),
        vote = model.forest.vote_threshold,
        trees = joined(trees, ",\n"),
    )
}

fn feature(column: &Column) -> String {
    format!(
        "    {{\"name\": {}, \"unit\": {}, \"definition\": {}}}",
        text(&column.name),
        text(&column.unit),
        text(&column.definition),
    )
}

fn tree(tree: &CompleteTree) -> String {
    format!(
        "    {{\n      \"columns\": {},\n      \"thresholds\": {},\n      \"weights\": {}\n    }}",
        list(tree.splits.iter().map(|split| split.column)),
        list(tree.splits.iter().map(|split| split.threshold)),
        list(&tree.weights),
    )
}

fn list(numbers: impl IntoIterator<Item = impl Display>) -> String {
    format!("[{}]", joined(numbers.into_iter(), ", "))
}

fn joined(parts: impl Iterator<Item = impl Display>, between: &str) -> String {
    parts.map(|part| part.to_string()).collect::<Vec<_>>().join(between)
}

/// A JSON string.
fn text(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
