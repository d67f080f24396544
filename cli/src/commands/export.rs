//! `dropcast export`.

use crate::args::ExportArgs;
use crate::failure::UserError;
use crate::output;
use crate::output_file;
use anyhow::Context;
use dropcast_data::{DataError, sha256, write_atomic};
use dropcast_export::{Origin, Target, export};
use dropcast_train::Model;
use serde::Serialize;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

pub(crate) fn run(args: &ExportArgs) -> anyhow::Result<()> {
    let written = export_model(&args.model, &args.target, &args.output)?;
    output::print(args.format, &written, |files| {
        files
            .iter()
            .map(|file| format!("{} ({} bytes)\n", file.path.display(), file.bytes))
            .collect()
    })
}

/// A file that was written.
#[derive(Debug, Serialize)]
pub(crate) struct Written {
    pub(crate) path: PathBuf,
    bytes: usize,
}

/// Writes the model at `path` for each target into `folder`.
pub(crate) fn export_model(
    path: &Path,
    targets: &[Target],
    folder: &Path,
) -> anyhow::Result<Vec<Written>> {
    let (model, text) = read_model(path)?;
    let name = path.file_stem().map_or_else(|| "model".into(), |stem| stem.to_string_lossy());
    let origin = Origin::of_model(&model, &name, &sha256(text.as_bytes()));
    let mut files = Vec::new();
    for &target in targets {
        files.extend(export(&model.forest, &origin, target)?);
    }
    create_folder(folder)?;
    output_file::check_replaced(folder, files.iter().map(|file| &file.name))?;
    let mut written = Vec::new();
    for file in files {
        let path = folder.join(file.name);
        write_atomic(&path, &file.bytes)?;
        written.push(Written { path, bytes: file.bytes.len() });
    }
    Ok(written)
}

/// A model, and the text of its file.
pub(crate) fn read_model(path: &Path) -> anyhow::Result<(Model, String)> {
    let text = read_text(path)?;
    match Model::from_json(&text) {
        Ok(model) => Ok((model, text)),
        Err(_) if is_a_sweep(&text) => Err(UserError(format!(
            "{}: is the table of a sweep; its models are in the folder models beside it",
            path.display()
        ))
        .into()),
        Err(error) => Err(error).with_context(|| path.display().to_string()),
    }
}

fn is_a_sweep(text: &str) -> bool {
    let json: Option<serde_json::Value> = serde_json::from_str(text).ok();
    json.is_some_and(|json| json.get("rows").is_some() && json.get("summary").is_some())
}

/// A text file of the user's.
pub(crate) fn read_text(path: &Path) -> Result<String, DataError> {
    let file = path.display().to_string();
    std::fs::read_to_string(path).map_err(|source| match source.kind() {
        ErrorKind::InvalidData => DataError::File {
            file,
            problem: "is not text".to_owned(),
            hint: "expected JSON (a model) or TOML (settings)".to_owned(),
        },
        _ => DataError::Io { file, doing: "be read", source },
    })
}

/// Makes a folder for output, and those it lies in.
pub(crate) fn create_folder(path: &Path) -> Result<(), DataError> {
    let failed =
        |source| DataError::Io { file: path.display().to_string(), doing: "be created", source };
    std::fs::create_dir_all(path).map_err(failed)
}
