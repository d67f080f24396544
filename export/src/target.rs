//! The targets that a forest can be exported to.

use crate::checked::Checked;
use crate::fixed_layout::FixedLayout;
use crate::{ExportError, Origin, TargetKind};
use dropcast_forest::Forest;
use std::fmt;

/// An export target.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Target {
    pub(crate) kind: TargetKind,
    /// The layout that models share, if they do.
    pub(crate) layout: Option<FixedLayout>,
}

/// What a target is and emits, with any layout.
pub(crate) struct Emitter {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    /// Whether it also emits the whole decision, given a switch.
    pub(crate) decides: bool,
    /// Whether it can be given a layout.
    pub(crate) has_layouts: bool,
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
    (target.emitter().emit)(&Checked { layout: target.layout, ..Checked::new(forest, origin)? })
}

impl Target {
    /// Which it is, with any layout.
    pub fn kind(self) -> TargetKind {
        self.kind
    }

    /// Its name, as on the command line, without a layout.
    pub fn name(self) -> &'static str {
        self.emitter().name
    }

    /// Whether it also emits Credence's whole decision if [`Origin::switch`] is given.
    pub fn decides(self) -> bool {
        self.emitter().decides
    }

    /// A short description.
    pub fn about(self) -> &'static str {
        self.emitter().about
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.layout {
            None => f.write_str(self.name()),
            Some(layout) => write!(f, "{}:{layout}", self.name()),
        }
    }
}

impl fmt::Debug for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Target({self})")
    }
}
