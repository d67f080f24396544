//! Files of text.

use super::names::P4;
use crate::target::EmittedFile;

/// A text file named after the model.
pub(crate) fn text_file(p4: &P4<'_>, suffix: &str, text: String) -> EmittedFile {
    EmittedFile { name: format!("{}{suffix}", p4.model.prefix), bytes: text.into_bytes() }
}
