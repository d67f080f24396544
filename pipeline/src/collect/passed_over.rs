//! Files of a folder that hold no events, and folders that hold nothing to label: noted, and passed over.

use crate::PipelineError;
use dropcast_data::{
    DataError, EventOptions, EventReader, InputNote, InputProvenance, sha256_file,
};
use std::path::{Path, PathBuf};

/// The files of a folder, those that hold events and those that do not.
pub(crate) struct Usable {
    /// Files of events.
    pub(crate) files: Vec<PathBuf>,
    /// The others: the place of each among all, and what is recorded of it.
    others: Vec<(usize, InputProvenance)>,
    /// Why, a sentence for each.
    pub(crate) reasons: Vec<String>,
}

impl Usable {
    /// Looks into each file. Without `pass_over` all are taken for events, so that one that holds none is an error
    /// once it is read.
    ///
    /// # Errors
    /// If the system cannot read a file, or nothing describes its switches.
    pub(crate) fn among(
        files: &[PathBuf],
        options: &EventOptions,
        pass_over: bool,
    ) -> Result<Self, PipelineError> {
        let mut usable = Usable { files: Vec::new(), others: Vec::new(), reasons: Vec::new() };
        if !pass_over {
            usable.files = files.to_vec();
            return Ok(usable);
        }
        for (place, file) in files.iter().enumerate() {
            // The port of a capture is another question.
            let options = EventOptions { port: Some(0), ..options.clone() };
            match EventReader::open(file, options).err() {
                None => usable.files.push(file.clone()),
                Some(error) if is_about_content(&error) => {
                    usable.reasons.push(format!(
                        "{error}; passed over, if it was to hold packets they are missing (docs/events.md)"
                    ));
                    usable.others.push((place, provenance(file)?));
                }
                Some(error) => return Err(error.into()),
            }
        }
        Ok(usable)
    }

    /// What is recorded of all files, in their order, given what was read of those of events.
    pub(crate) fn with_others(&self, mut read: Vec<InputProvenance>) -> Vec<InputProvenance> {
        for (place, other) in &self.others {
            read.insert((*place).min(read.len()), other.clone());
        }
        read
    }
}

/// Whether a file cannot be read because of what is in it.
fn is_about_content(error: &DataError) -> bool {
    match error {
        DataError::Io { source, .. } => {
            source.raw_os_error().is_none() && source.kind() != std::io::ErrorKind::OutOfMemory
        }
        DataError::NoSwitches { .. } | DataError::Switches { .. } => false,
        _ => true,
    }
}

fn provenance(file: &Path) -> Result<InputProvenance, PipelineError> {
    let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let sha256 = sha256_file(file)?;
    let notes = [(InputNote::PassedOver, 1)].into();
    Ok(InputProvenance { name, sha256, notes, ..InputProvenance::default() })
}
