//! A dependency-free C99 header: integers only, no allocation, no global state, valid C++ too.
//! `docs/c-header.md` says how to use it.

pub(crate) mod branches;
pub(crate) mod preamble;
mod table;

use crate::ExportError;
use crate::checked::Checked;
use crate::target::{EmittedFile, Target};
use crate::tracker::{self, Dialect};

/// The C header.
pub(crate) const TARGET: Target = Target {
    name: "c",
    about: "C99 header, as tables and as nested ifs, see docs/c-header.md",
    emit,
};

fn emit(model: &Checked<'_>) -> Result<Vec<EmittedFile>, ExportError> {
    Ok(vec![EmittedFile { name: format!("{}.h", model.prefix), bytes: header(model).into_bytes() }])
}

fn header(model: &Checked<'_>) -> String {
    let guard = format!("DROPCAST_{}_H", model.prefix.to_ascii_uppercase());
    [
        preamble::about(model, &format!("{}.h", model.prefix), &usage(&model.prefix)),
        format!("#ifndef {guard}\n#define {guard}\n\n#include <stdint.h>\n"),
        preamble::constants(model),
        table::score(model),
        branches::score(model),
        decision(model),
        keeping(model),
        format!("#endif /* {guard} */\n"),
    ]
    .join("\n")
}

/// Usage of the header.
fn usage(name: &str) -> String {
    format!(
        " * {name}_drop(x) is 1 if the packet is predicted to be dropped. x holds the packet's features,
 * recorded before it is added to the buffer, in the order of enum {name}_feature.
"
    )
}

/// The functions to call; the includer chooses the variant.
fn decision(model: &Checked<'_>) -> String {
    let (name, upper) = (&model.prefix, model.prefix.to_ascii_uppercase());
    format!(
        "\
/* The score of a row: by tables if {upper}_TABLES is defined, else by nested ifs. */
static inline uint32_t {name}_score(const uint32_t x[{upper}_N_FEATURES])
{{
#ifdef {upper}_TABLES
    return {name}_score_table(x);
#else
    return {name}_score_branches(x);
#endif
}}

/* 1 if the packet is predicted to be dropped, else 0. A tie accepts. */
static inline int {name}_drop(const uint32_t x[{upper}_N_FEATURES])
{{
    return {name}_score(x) > {upper}_VOTE_THRESHOLD;
}}
"
    )
}

/// The code that keeps the features.
fn keeping(model: &Checked<'_>) -> String {
    let upper = model.prefix.to_ascii_uppercase();
    tracker::code(
        model,
        &Dialect {
            prefix: &format!("{}_", model.prefix),
            constant_prefix: &format!("{upper}_"),
            types: ["uint32_t", "uint64_t"],
            inline: "static inline",
            outlined: "static inline",
            tau: &format!("{upper}_AVERAGE_NS"),
            row: &format!("uint32_t x[{upper}_N_FEATURES]"),
            values: "x",
        },
    )
}
