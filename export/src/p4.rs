//! P4_16: the oracle as a control for any architecture, and a complete program for BMv2 (v1model)
//! with its entries for simple_switch_CLI and P4Runtime. `docs/p4.md` says how to use them.

mod cli;
mod code_words;
mod names;
mod oracle;
mod p4_table;
mod p4runtime;
mod program;
mod shape;
mod stages;
mod text_file;
mod v1model;
mod vote;

pub(crate) use shape::Shape;
pub(crate) use stages::Stages;

use crate::ExportError;
use crate::checked::Checked;
use crate::target::{EmittedFile, Emitter};
use oracle::oracle_file;
use program::P4;

/// P4_16 for BMv2.
pub(crate) const TARGET: Emitter = Emitter {
    name: "p4",
    about: "P4_16 for BMv2 (v1model): program and table entries, see docs/p4.md",
    decides: false,
    has_layouts: true,
    emit,
};

fn emit(model: &Checked<'_>) -> Result<Vec<EmittedFile>, ExportError> {
    let p4 = P4::new(model)?;
    Ok(vec![
        oracle_file(&p4),
        v1model::program(&p4),
        cli::commands(&p4),
        p4runtime::entries(&p4),
        p4runtime::removal(&p4),
    ])
}
