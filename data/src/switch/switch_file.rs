//! Switch descriptions in files of their own (`docs/switch.md`).

use super::input_maps::InputMaps;
use super::pool_map::check;
use crate::io::shown;
use crate::{DataError, SwitchSpecs, read_toml};
use serde::de::Error;
use std::path::Path;

/// What a switch description file says.
#[derive(Clone, Debug, PartialEq)]
pub struct SwitchFile {
    /// The switches.
    pub specs: SwitchSpecs,
    /// How traces and captures map to their ports.
    pub maps: InputMaps,
}

/// Reads a switch description.
///
/// # Errors
/// If the file cannot be read or does not describe switches.
pub fn read_switches(path: &Path) -> Result<SwitchSpecs, DataError> {
    Ok(read_switch_file(path)?.specs)
}

/// Reads a switch description, and how traces and captures map to it.
///
/// # Errors
/// If the file cannot be read, or does not describe switches, or has another table.
pub fn read_switch_file(path: &Path) -> Result<SwitchFile, DataError> {
    let file = shown(path);
    let text = read_toml(path)?;
    if text.trim_start().starts_with('{') {
        let hint = "a switch description is TOML: write the buffer, the ports and their rates so (docs/switch.md)";
        return Err(DataError::file(&file, "is JSON", hint));
    }
    parse(&text).map_err(|source| DataError::Switches { file, source })
}

fn parse(text: &str) -> Result<SwitchFile, toml::de::Error> {
    let mut table: toml::Table = toml::from_str(text)?;
    let mut maps = toml::Table::new();
    for key in ["ns3", "capture", "pool"] {
        maps.extend(table.remove(key).map(|value| (key.to_owned(), value)));
    }
    let file = SwitchFile { specs: table.try_into()?, maps: maps.try_into()? };
    let maps = &file.maps;
    let problem = check(&maps.pool, &file.specs)
        .or_else(|| maps.capture.problem())
        .or_else(|| maps.ns3.problem());
    match problem {
        None => Ok(file),
        Some(problem) => Err(toml::de::Error::custom(problem)),
    }
}
