//! The targets that a forest can be exported to.

use crate::checked::Checked;
use crate::{ExportError, Origin};
use dropcast_forest::Forest;
use std::fmt;

/// An export target.
#[derive(Clone, Copy)]
pub struct Target {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    /// Whether it also emits the whole decision, given a switch.
    pub(crate) decides: bool,
    pub(crate) emit: fn(&Checked<'_>) -> Result<Vec<EmittedFile>, ExportError>,
}

/// A file to be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EmittedFile {
    /// Its name, without a folder: letters, digits, `_` and `.` only.
    pub name: String,
    /// Its content.
    pub bytes: Vec<u8>,
}

/// The files of `forest` for `target`. The same arguments give the same bytes.
///
/// # Errors
/// If the forest is invalid or too large, or `origin` describes another one.
pub fn export(
    forest: &Forest,
    origin: &Origin,
    target: Target,
) -> Result<Vec<EmittedFile>, ExportError> {
    (target.emit)(&Checked::new(forest, origin)?)
}

impl Target {
    /// Its name, as on the command line.
    pub fn name(self) -> &'static str {
        self.name
    }

    /// Whether it also emits Credence's whole decision if [`Origin::switch`] is given.
    pub fn decides(self) -> bool {
        self.decides
    }

    /// A short description.
    pub fn about(self) -> &'static str {
        self.about
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl fmt::Debug for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Target({})", self.name)
    }
}

impl PartialEq for Target {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Target {}
