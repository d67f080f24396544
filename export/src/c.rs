//! A dependency-free C99 header: integers only, no allocation, no global state, valid C++ too.
//! `docs/c-header.md` says how to use it.

pub(crate) mod branches;
pub(crate) mod preamble;
mod table;

use crate::ExportError;
use crate::checked::Checked;
use crate::decision::{self, DriverWords, Words};
use crate::target::{EmittedFile, Emitter};
use crate::tracker::{self, Dialect};
use dropcast_data::SwitchSpec;

/// The C header.
pub(crate) const TARGET: Emitter = Emitter {
    name: "c",
    about: "C99 header, as tables and as nested ifs, see docs/c-header.md",
    decides: true,
    has_layouts: false,
    emit,
};

fn emit(model: &Checked<'_>) -> Result<Vec<EmittedFile>, ExportError> {
    let name = format!("{}.h", model.prefix);
    let mut files = vec![EmittedFile { name, bytes: header(model).into_bytes() }];
    if let Some(switch) = &model.origin.switch {
        let name = format!("{}_decision.h", model.prefix);
        let (prefixes, state) = (Prefixes::new(model), format!("struct {}_decision", model.prefix));
        let driver = DriverWords {
            file: "driver.c",
            header: &name,
            around: ["", ""],
            state: &state,
            u64: "uint64_t",
            prefixes: [&prefixes.prefix, &prefixes.constant_prefix],
        };
        let driver = decision::driver(model, switch, &driver);
        files.push(EmittedFile { name, bytes: deciding(model, switch)?.into_bytes() });
        files.push(driver);
    }
    Ok(files)
}

/// The header of the whole decision.
fn deciding(model: &Checked<'_>, switch: &SwitchSpec) -> Result<String, ExportError> {
    let (name, upper) = (&model.prefix, model.prefix.to_ascii_uppercase());
    let file = format!("{name}_decision.h");
    let usage = format!(
        " * Credence's decision about each packet (Addanki et al., NSDI 2024, Algorithm 1) with this model:
 * {name}_init makes a state, {name}_arrival decides about a packet that arrives, {name}_departure
 * hears of one that leaves. Virtual LQD runs inside, at line rate. One thread for each state.
 *
{costs}",
        costs = decision::costs(model, switch, false),
    );
    let prefixes = Prefixes::new(model);
    let words = Words {
        target: TARGET.name,
        dialect: &prefixes.dialect(),
        row: &format!("uint32_t x[{upper}_N_FEATURES]"),
        predicts: &format!("{name}_drop(x)"),
        is_bounded: false,
        constant: |name, value| format!("#define {name} {value}\n"),
    };
    let guard = format!("DROPCAST_{upper}_DECISION_H");
    Ok([
        preamble::about(model, &file, &usage),
        format!(
            "#ifndef {guard}\n#define {guard}\n\n#include \"{name}.h\"\n\n#include <stdint.h>\n#include <string.h>\n"
        ),
        decision::code(model, switch, &words)?,
        format!("#endif /* {guard} */\n"),
    ]
    .join("\n"))
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
    tracker::code(model, &Prefixes::new(model).dialect())
}

/// The texts of the dialect, which depend on the model's name.
struct Prefixes {
    prefix: String,
    constant_prefix: String,
}

impl Prefixes {
    fn new(model: &Checked<'_>) -> Self {
        Prefixes {
            prefix: format!("{}_", model.prefix),
            constant_prefix: format!("{}_", model.prefix.to_ascii_uppercase()),
        }
    }

    fn dialect(&self) -> Dialect<'_> {
        Dialect {
            prefix: &self.prefix,
            constant_prefix: &self.constant_prefix,
            function: "static inline",
            separate: "static inline",
            row: "uint32_t *",
            values: "(x)",
        }
    }
}
