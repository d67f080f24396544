//! Models in files: read, exported, rescaled, imported.

use crate::PipelineError;
use crate::files::work_folder::WorkFolder;
use crate::files::{check_replaced, read_text, spare_inputs};
use dropcast_data::{SwitchSpec, SwitchSpecs, read_small, read_switches, sha256, write_atomic};
use dropcast_export::{EmittedFile, Origin, Target, export};
use dropcast_interop::{ImportTask, Imported, import};
use dropcast_train::TrainedModel;
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};

/// A model that was read from a file.
#[derive(Clone, Debug)]
pub struct ModelFile {
    /// The file.
    pub path: PathBuf,
    /// The model.
    pub model: TrainedModel,
    /// SHA-256 of the file, lower-case hexadecimal.
    pub sha256: String,
}

/// A file that was written.
#[derive(Debug, Serialize)]
pub struct Written {
    /// Where it is.
    pub path: PathBuf,
    /// Its size.
    pub bytes: usize,
}

impl ModelFile {
    /// Reads a `model.json`.
    ///
    /// # Errors
    /// If it cannot be read, or is no model that this version of dropcast can use.
    pub fn read(path: &Path) -> Result<Self, PipelineError> {
        let text = read_text(path)?;
        match TrainedModel::from_json(&text) {
            Ok(model) => {
                Ok(ModelFile { path: path.to_owned(), model, sha256: sha256(text.as_bytes()) })
            }
            Err(_) if is_a_sweep(&text) => {
                let problem =
                    "is the table of a sweep; its models are in the folder models beside it";
                Err(PipelineError::unfit(path.display(), problem))
            }
            Err(source) => Err(PipelineError::Model { file: path.display().to_string(), source }),
        }
    }

    /// The name of the file without its ending: what exports are named after.
    pub fn stem(&self) -> String {
        self.path.file_stem().map_or_else(|| "model".into(), |stem| stem.to_string_lossy().into())
    }

    /// What exports say of the model.
    pub fn origin(&self) -> Origin {
        Origin::of_model(&self.model, &self.stem(), &self.sha256)
    }

    /// A model that is in memory, called `name` where a file's path would be.
    pub fn in_memory(name: &str, model: TrainedModel) -> Self {
        let sha256 = sha256(model.to_json().as_bytes());
        ModelFile { path: name.into(), model, sha256 }
    }

    /// The files of the model for each target, and with a description of a switch the whole
    /// decision for it.
    ///
    /// # Errors
    /// If it cannot be exported, the description cannot be read, or a target does not use the switch.
    pub fn export_files(
        &self,
        targets: &[Target],
        switch: Option<&Path>,
    ) -> Result<Vec<EmittedFile>, PipelineError> {
        let mut origin = self.origin();
        if let Some(path) = switch {
            deciding_only(targets)?;
            origin.switch = Some(the_switch(path)?);
        }
        let mut files: Vec<EmittedFile> = Vec::new();
        for &target in targets {
            for file in export(&self.model.forest, &origin, target)? {
                match files.iter().find(|other| other.name == file.name) {
                    None => files.push(file),
                    Some(same) if *same == file => {}
                    Some(_) => {
                        let problem = format!(
                            "two of the targets write different files {}; export them into \
                             different folders",
                            file.name
                        );
                        return Err(PipelineError::setting("target", problem));
                    }
                }
            }
        }
        Ok(files)
    }

    /// Exports the model for each target into `folder`, and with a description of a switch the whole
    /// decision for it.
    ///
    /// # Errors
    /// If it cannot be exported, a file cannot be read or written, would replace the model or the
    /// switch's description, or a target does not use the switch.
    pub fn export(
        &self,
        targets: &[Target],
        switch: Option<&Path>,
        folder: &Path,
    ) -> Result<Vec<Written>, PipelineError> {
        let files = self.export_files(targets, switch)?;
        let switch = switch.map(Path::to_owned);
        for file in &files {
            spare_inputs(&folder.join(&file.name), [&self.path].into_iter().chain(&switch))?;
        }
        write_folder(folder, &files)?;
        let written =
            |file: EmittedFile| Written { path: folder.join(file.name), bytes: file.bytes.len() };
        Ok(files.into_iter().map(written).collect())
    }

    /// The model with thresholds for a switch with another buffer.
    ///
    /// # Errors
    /// If the model does not say which buffer it is for.
    pub fn for_buffer(&self, buffer_bytes: NonZeroU32) -> Result<TrainedModel, PipelineError> {
        let file = || self.path.display().to_string();
        let rescaled = self.model.for_buffer(buffer_bytes.get());
        rescaled.map_err(|problem| PipelineError::Rescale { file: file(), problem })
    }
}

/// An error if one of the targets has no use for a switch.
pub(super) fn deciding_only(targets: &[Target]) -> Result<(), PipelineError> {
    let Some(other) = targets.iter().find(|target| !target.decides()) else { return Ok(()) };
    let (name, deciding) = (other.name(), Target::deciding());
    let problem = format!("{name} does not use it, only {deciding} do; leave {name} out");
    Err(PipelineError::setting("switch", problem))
}

/// Writes files into a folder, which is replaced at once, whatever happens meanwhile; its other files stay.
/// Where that cannot be, or folders of the user's are in it, the files are moved there.
pub(super) fn write_folder(folder: &Path, files: &[EmittedFile]) -> Result<(), PipelineError> {
    check_replaced(folder, files.iter().map(|file| &file.name))?;
    // Folders would be moved. This one may be any, such as that of a project at which others are at work.
    let holds_folders = std::fs::read_dir(folder).is_ok_and(|mut entries| {
        entries.any(|entry| {
            entry.and_then(|entry| entry.file_type()).map_or(true, |kind| kind.is_dir())
        })
    });
    let work = match holds_folders {
        true => WorkFolder::inside(folder, "export")?,
        false => WorkFolder::beside(folder)?,
    };
    for file in files {
        write_atomic(&work.path().join(&file.name), &file.bytes)?;
    }
    // Those of other models and targets stay.
    Ok(work.finish(|_| false)?)
}

/// The one switch that a file describes.
///
/// # Errors
/// If it cannot be read, or describes several.
pub fn the_switch(path: &Path) -> Result<SwitchSpec, PipelineError> {
    match read_switches(path)? {
        SwitchSpecs::Same(spec) => Ok(spec),
        SwitchSpecs::Each(_) => {
            let problem = "describes several switches, expected a file with the one to decide for";
            Err(PipelineError::unfit(path.display(), problem))
        }
    }
}

fn is_a_sweep(text: &str) -> bool {
    /// What only sweeps have. It is passed over, as it may be large.
    #[derive(Deserialize)]
    struct Sweep {
        #[serde(rename = "rows")]
        _rows: IgnoredAny,
        #[serde(rename = "summary")]
        _summary: IgnoredAny,
    }
    serde_json::from_str::<Sweep>(text).is_ok()
}

/// Imports a forest that was trained elsewhere. `task` says what the file itself does not; its name
/// and hash are filled in.
///
/// # Errors
/// If the file cannot be read, or its forest cannot be imported.
pub fn import_file(path: &Path, task: ImportTask) -> Result<Imported, PipelineError> {
    let file = path.display().to_string();
    let bytes = read_small(path)?;
    let name = path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into());
    let task = ImportTask { name, sha256: sha256(&bytes), ..task };
    import(&bytes, &task).map_err(|source| PipelineError::Import { file, source })
}
