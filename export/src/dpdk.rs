//! The forest as a program for DPDK's software switch (SWX), with entries for its tables.
//! `docs/dpdk.md` describes it.

mod entries;
mod groups;
mod program;

use crate::ExportError;
use crate::checked::Checked;
use crate::target::{EmittedFile, Emitter};
use groups::Groups;

/// The program and its entries.
pub(crate) const TARGET: Emitter = Emitter {
    name: "dpdk",
    about: "DPDK SWX program and table entries, see docs/dpdk.md",
    decides: false,
    has_layouts: false,
    emit,
};

fn emit(model: &Checked<'_>) -> Result<Vec<EmittedFile>, ExportError> {
    let groups = Groups::new(model)?;
    let file = |ending: &str, text: String| EmittedFile {
        name: format!("{}.{ending}", model.prefix),
        bytes: text.into_bytes(),
    };
    let mut files = vec![file("spec", program::text(model, &groups))];
    for (table, entries) in
        groups.groups.iter().flat_map(|group| entries::table_entries(&groups, group))
    {
        files.push(file(&format!("{table}.entries"), entries::text(model, &table, &entries)));
    }
    Ok(files)
}
