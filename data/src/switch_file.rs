//! Switch descriptions in files of their own (`docs/switch.md`).

use crate::error::shown;
use crate::{DataError, SwitchSpecs, read_small};
use std::path::Path;

/// Reads a switch description.
///
/// # Errors
/// If the file cannot be read or does not describe switches.
pub fn read_switches(path: &Path) -> Result<SwitchSpecs, DataError> {
    let file = shown(path);
    let text = String::from_utf8(read_small(path)?).map_err(|_| {
        DataError::file(&file, "is not text", "expected a switch description in TOML")
    })?;
    SwitchSpecs::from_toml(&text).map_err(|source| DataError::Switches { file, source })
}
