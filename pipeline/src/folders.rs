//! Files under a folder.

use crate::PipelineError;
use dropcast_data::DataError;
use std::path::{Path, PathBuf};

/// The file that tells what was labelled.
pub const MANIFEST: &str = "manifest.json";

/// Folders in folders, at most: a symlink may lead back.
const MOST_DEPTH: usize = 16;

/// The event files of a folder, sorted by name.
pub(crate) struct Group {
    /// Relative to the folder of all events.
    pub(crate) folder: PathBuf,
    pub(crate) files: Vec<PathBuf>,
}

/// The labelled traces of a folder that [`FolderJob::run`](crate::collect_folder::FolderJob::run) wrote,
/// in order of their names; or of any folder, every Parquet and Arrow IPC file under it.
///
/// # Errors
/// If it cannot be read, or holds none.
pub fn traces_in(folder: &Path) -> Result<Vec<PathBuf>, PipelineError> {
    let is_trace = |path: &PathBuf| {
        let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or("");
        ["parquet", "arrow", "feather", "ipc"].contains(&extension)
    };
    let files: Vec<PathBuf> =
        groups(folder)?.into_iter().flat_map(|group| group.files).filter(is_trace).collect();
    if files.is_empty() {
        return Err(PipelineError::unfit(folder.display(), "holds no labelled traces"));
    }
    Ok(files)
}

/// The files under a folder, folder by folder. Hidden ones, those that begin with `_` (marks of other
/// engines) and manifests are passed over.
pub(crate) fn groups(input: &Path) -> Result<Vec<Group>, PipelineError> {
    let mut groups = Vec::new();
    let mut folders = vec![(PathBuf::new(), 0)];
    while let Some((folder, depth)) = folders.pop() {
        let path = input.join(&folder);
        let failed =
            |source| DataError::Io { file: path.display().to_string(), doing: "be read", source };
        if depth > MOST_DEPTH {
            return Err(PipelineError::unfit(path.display(), "is too many folders deep"));
        }
        let mut files = Vec::new();
        for entry in std::fs::read_dir(&path).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let name = entry.file_name();
            let shown = name.to_string_lossy();
            if shown.starts_with(['.', '_']) || shown == MANIFEST {
                continue;
            }
            if entry.path().is_dir() {
                folders.push((folder.join(&name), depth + 1));
            } else {
                files.push(entry.path());
            }
        }
        files.sort_unstable();
        if !files.is_empty() {
            groups.push(Group { folder, files });
        }
    }
    groups.sort_unstable_by(|one, other| one.folder.cmp(&other.folder));
    Ok(groups)
}
