//! Names in P4, defined once so that programs and entries agree.

use crate::ident::identifier;

/// The controls of the programs. `Ingress` and `Egress` would be v1model's own names.
pub(crate) const INGRESS: &str = "QueryIngress";

/// As [`INGRESS`].
pub(crate) const EGRESS: &str = "QueryEgress";

/// First byte of the identifier of a table in P4Runtime.
pub(crate) const TABLE_ID: u32 = 0x02 << 24;

/// First byte of the identifier of an action in P4Runtime.
pub(crate) const ACTION_ID: u32 = 0x01 << 24;

/// What no field can be called: the words of P4, the fields of the answer, and Python's words, which
/// are no names of arguments.
const RESERVED: &[&str] = &[
    "score",
    "drop",
    "abstract",
    "action",
    "actions",
    "and",
    "apply",
    "as",
    "assert",
    "async",
    "await",
    "bit",
    "bool",
    "break",
    "class",
    "const",
    "continue",
    "control",
    "def",
    "default",
    "del",
    "elif",
    "else",
    "entries",
    "enum",
    "error",
    "except",
    "exit",
    "extern",
    "false",
    "finally",
    "for",
    "from",
    "global",
    "header",
    "header_union",
    "if",
    "import",
    "in",
    "inout",
    "int",
    "is",
    "key",
    "lambda",
    "list",
    "match_kind",
    "nonlocal",
    "not",
    "or",
    "out",
    "package",
    "parser",
    "pass",
    "pragma",
    "priority",
    "raise",
    "return",
    "select",
    "size",
    "state",
    "static",
    "string",
    "struct",
    "switch",
    "table",
    "this",
    "transition",
    "true",
    "try",
    "tuple",
    "type",
    "typedef",
    "value_set",
    "valueset",
    "varbit",
    "void",
    "while",
    "with",
    "yield",
];

/// The field that holds the value of a feature.
pub(crate) fn field(feature: &str) -> String {
    let name = identifier(feature);
    if RESERVED.contains(&name.as_str()) { format!("feature_{name}") } else { name }
}

/// Prefix of types: `Example`.
pub(crate) fn type_name(prefix: &str) -> String {
    let word = |word: &str| {
        let (first, rest) = word.split_at(word.len().min(1));
        first.to_ascii_uppercase() + rest
    };
    prefix.split('_').map(word).collect()
}
