//! The targets that a forest can be exported to.

use crate::checked::Checked;
use crate::fixed_layout::FixedLayout;
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
    /// Whether it can be given a layout.
    pub(crate) has_layouts: bool,
    /// The layout that models share, if they do.
    pub(crate) layout: Option<FixedLayout>,
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
    (target.emit)(&Checked { layout: target.layout, ..Checked::new(forest, origin)? })
}

impl Target {
    /// Its name, as on the command line, without a layout.
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
        match self.layout {
            None => f.write_str(self.name),
            Some(layout) => write!(f, "{}:{layout}", self.name),
        }
    }
}

impl fmt::Debug for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Target({self})")
    }
}

impl PartialEq for Target {
    fn eq(&self, other: &Self) -> bool {
        (self.name, self.layout) == (other.name, other.layout)
    }
}

impl Eq for Target {}
