//! Files that are read whole, and files that are written.

use crate::PipelineError;
use dropcast_data::{AtomicFile, DataError, is_object, read_small, read_toml, write_atomic};
use std::fs::{File, Metadata, TryLockError};
use std::io::{self, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Reads JSON of the user's: a model or the table of a sweep.
///
/// # Errors
/// If it cannot be read, or is not text.
pub fn read_text(path: &Path) -> Result<String, DataError> {
    String::from_utf8(read_small(path)?).map_err(|_| DataError::File {
        file: path.display().to_string(),
        problem: "is not text".to_owned(),
        hint: "expected JSON, such as a model".to_owned(),
    })
}

/// The right to work in a folder. No other process gets it until this is dropped or its process ends.
pub(crate) struct FolderLock {
    path: PathBuf,
    /// Holds the lock.
    file: File,
    /// Whether the file stays when this is dropped.
    stays: AtomicBool,
    /// Dropped after the file is removed.
    _made: MadeFolders,
}

/// Folders that were made for a job, the outermost first. Those that are empty in the end are removed.
struct MadeFolders(Vec<PathBuf>);

impl MadeFolders {
    fn make(folder: &Path) -> Result<Self, DataError> {
        let is_missing = |path: &&Path| !path.as_os_str().is_empty() && !path.exists();
        let missing = folder.ancestors().take_while(is_missing);
        let mut made: Vec<PathBuf> = missing.map(Path::to_owned).collect();
        made.reverse();
        create_folder(folder)?;
        Ok(MadeFolders(made))
    }
}

impl Drop for MadeFolders {
    fn drop(&mut self) {
        remove_empty(&self.0);
    }
}

pub(super) fn remove_empty(folders: &[PathBuf]) {
    folders.iter().rev().for_each(|folder| drop(std::fs::remove_dir(folder)));
}

impl FolderLock {
    /// Takes the lock whose file is `path`, and makes the folder that this is in; `name` is what errors call the
    /// folder that it is for.
    ///
    /// # Errors
    /// If another job has it, or it cannot be made.
    pub(crate) fn take(path: PathBuf, name: &Path) -> Result<Self, PipelineError> {
        let failed =
            |source| DataError::Io { file: path.display().to_string(), doing: "be locked", source };
        // To open a pipe would wait for its other end.
        if std::fs::metadata(&path).is_ok_and(|found| !found.is_file()) {
            let problem = "is no file, so that no job can lock it; remove it";
            return Err(PipelineError::unfit(path.display(), problem));
        }
        let _made = MadeFolders::make(folder_of(&path))?;
        loop {
            let mut options = File::options();
            let options = options.create(true).truncate(false).read(true).write(true);
            let file = options.open(&path).map_err(failed)?;
            match file.try_lock() {
                Ok(()) if is_file_at(&file, &path) => {
                    held().push((path.clone(), _made.0.clone()));
                    return Ok(FolderLock { path, file, stays: AtomicBool::new(false), _made });
                }
                // The job that had it has just removed it: its file is no longer the lock.
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => {
                    let problem =
                        "another job is at work there; wait for it, or choose another name";
                    return Err(PipelineError::unfit(name.display(), problem));
                }
                Err(TryLockError::Error(source)) => return Err(failed(source).into()),
            }
        }
    }

    /// Leaves a word for the next job, should this one be killed.
    pub(crate) fn leave_note(&self, text: &str) -> io::Result<()> {
        let mut file = &self.file;
        file.rewind()?;
        file.write_all(text.as_bytes())?;
        file.set_len(text.len() as u64)
    }

    /// Lets the file stay for the next job.
    pub(crate) fn stay(&self) {
        self.stays.store(true, Ordering::Relaxed);
    }

    /// Lets the file go when this is dropped, which it does unless it is to [stay](Self::stay).
    pub(crate) fn goes(&self) {
        self.stays.store(false, Ordering::Relaxed);
    }
}

pub(super) fn folder_of(path: &Path) -> &Path {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    parent.unwrap_or(Path::new("."))
}

/// Whether an open file is the one at `path` now.
fn is_file_at(file: &File, path: &Path) -> bool {
    match (file.metadata(), std::fs::metadata(path)) {
        (Ok(open), Ok(there)) => is_same(&open, &there),
        _ => false,
    }
}

#[cfg(unix)]
fn is_same(one: &Metadata, other: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    (one.dev(), one.ino()) == (other.dev(), other.ino())
}

/// Elsewhere an open file cannot be removed.
#[cfg(not(unix))]
fn is_same(_: &Metadata, _: &Metadata) -> bool {
    true
}

impl Drop for FolderLock {
    fn drop(&mut self) {
        let mut held = held();
        held.retain(|(path, _)| *path != self.path);
        if !self.stays.load(Ordering::Relaxed) {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

/// The files of the locks that this process holds, and the folders that were made for them. Nobody makes folders while this is
/// held.
pub(super) fn held() -> MutexGuard<'static, Vec<(PathBuf, Vec<PathBuf>)>> {
    static HELD: Mutex<Vec<(PathBuf, Vec<PathBuf>)>> = Mutex::new(Vec::new());
    HELD.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Reads a TOML file of settings.
///
/// # Errors
/// If it cannot be read or says something else.
pub fn read_settings<T: serde::de::DeserializeOwned>(path: &Path) -> Result<T, PipelineError> {
    let text = read_toml(path)?;
    let file = || path.display().to_string();
    toml::from_str(&text).map_err(|source| PipelineError::Toml { file: file(), source })
}

/// Creates a folder for output, and those it lies in. Waits forever where the process is ending: what was cleared stays so.
///
/// # Errors
/// If it cannot be created.
pub fn create_folder(path: &Path) -> Result<(), DataError> {
    if is_object(path) {
        return Err(DataError::File {
            file: path.display().to_string(),
            problem: "is of an object store, where no folder appears at once".to_owned(),
            hint: "name a folder of a disk, and copy it (docs/objects.md)".to_owned(),
        });
    }
    let failed =
        |source| DataError::Io { file: path.display().to_string(), doing: "be created", source };
    let _held = held();
    std::fs::create_dir_all(path).map_err(failed)
}

/// Writes texts, each with the name of its file, into a folder. Returns the paths.
///
/// # Errors
/// If one cannot be written.
pub fn write_files(folder: &Path, files: &[(String, String)]) -> Result<Vec<PathBuf>, DataError> {
    create_folder(folder)?;
    let write = |(name, text): &(String, String)| {
        let path = folder.join(name);
        write_atomic(&path, text.as_bytes())?;
        Ok(path)
    };
    files.iter().map(write).collect()
}

/// Checks, before any work, that `output` can be written and is none of the `inputs`.
///
/// # Errors
/// If it can't, or is.
pub fn check_output<'a>(
    output: &Path,
    inputs: impl IntoIterator<Item = &'a PathBuf>,
) -> Result<(), PipelineError> {
    if output.as_os_str() == "-" {
        return Ok(());
    }
    spare_inputs(output, inputs)?;
    AtomicFile::create(output)?;
    Ok(())
}

/// Checks, before any work, that the files of these names in a folder may be replaced.
///
/// # Errors
/// If one may not.
pub fn check_replaced(
    folder: &Path,
    names: impl IntoIterator<Item: AsRef<Path>>,
) -> Result<(), DataError> {
    let paths = names.into_iter().map(|name| folder.join(name));
    for path in paths.filter(|path| path.exists() || path.is_symlink()) {
        AtomicFile::create(&path)?;
    }
    Ok(())
}

/// Refuses an output that is one of the files read for it.
///
/// # Errors
/// If it is.
pub fn spare_inputs<'a>(
    output: &Path,
    inputs: impl IntoIterator<Item = &'a PathBuf>,
) -> Result<(), PipelineError> {
    let target = real(output);
    let is_target = |input: &&PathBuf| real(input) == target;
    match inputs.into_iter().find(is_target) {
        None => Ok(()),
        Some(input) => {
            let problem = format!("would replace the input {}; name another file", input.display());
            Err(PipelineError::unfit(output.display(), problem))
        }
    }
}

/// Refuses an output folder that holds one of the files read for it.
///
/// # Errors
/// If it does.
pub fn spare_inputs_in<'a>(
    output: &Path,
    inputs: impl IntoIterator<Item = &'a PathBuf>,
) -> Result<(), PipelineError> {
    let target = real(output);
    let is_in = |input: &&PathBuf| real(input).starts_with(&target);
    match inputs.into_iter().find(is_in) {
        None => Ok(()),
        Some(input) => {
            let problem = format!("holds the input {}; name another folder", input.display());
            Err(PipelineError::unfit(output.display(), problem))
        }
    }
}

/// A path without symlinks, as far as it exists.
pub fn real(path: &Path) -> PathBuf {
    if is_object(path) {
        return path.to_owned();
    }
    let here = Path::new(".");
    let known = |path: &Path| if path.as_os_str().is_empty() { here } else { path }.canonicalize();
    let found = path.ancestors().find_map(|part| Some((part, known(part).ok()?)));
    let below = found.and_then(|(part, real)| Some(real.join(path.strip_prefix(part).ok()?)));
    below.unwrap_or_else(|| path.to_owned())
}
