//! Files named after programs or models.

use super::program::P4;
use crate::target::EmittedFile;

/// A file that is part of the program.
pub(crate) fn program_file(p4: &P4<'_>, ending: &str, text: String) -> EmittedFile {
    EmittedFile { name: format!("{}{ending}", p4.prefix()), bytes: text.into_bytes() }
}

/// A file that is the model's own.
pub(crate) fn entries_file(p4: &P4<'_>, ending: &str, text: String) -> EmittedFile {
    EmittedFile { name: format!("{}{ending}", p4.model.prefix), bytes: text.into_bytes() }
}
