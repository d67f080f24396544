//! Switch descriptions in files of their own (`docs/switch.md`).

use crate::error::shown;
use crate::{DataError, SwitchSpecs};
use std::path::Path;

/// Reads a switch description.
///
/// # Errors
/// If the file cannot be read or does not describe switches.
pub fn read_switches(path: &Path) -> Result<SwitchSpecs, DataError> {
    let file = shown(path);
    let text = std::fs::read_to_string(path).map_err(DataError::io(&file, "be read"))?;
    SwitchSpecs::from_toml(&text).map_err(|source| DataError::Switches { file, source })
}
