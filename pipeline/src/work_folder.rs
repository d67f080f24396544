//! Folders that are replaced as a whole.

use crate::PipelineError;
use crate::files::{FolderLock, create_folder};
use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

/// A folder of files to be, beside the folder that they are for. What is left of it when it is dropped
/// is removed.
pub(crate) struct WorkFolder {
    target: PathBuf,
    path: PathBuf,
    /// No other job works for the same folder.
    _lock: FolderLock,
}

impl WorkFolder {
    /// An empty folder to work in for `target`, which has a name.
    ///
    /// # Errors
    /// If it cannot be made, or another job works for `target`.
    pub(crate) fn beside(target: &Path) -> Result<Self, PipelineError> {
        let parent = target.parent().filter(|parent| !parent.as_os_str().is_empty());
        let parent = parent.unwrap_or(Path::new("."));
        create_folder(parent)?;
        let name = target.file_name().unwrap_or_default().to_string_lossy();
        // Beside the working folder, which moves.
        let lock = FolderLock::take(parent.join(format!(".{name}.lock")), target)?;
        let path = parent.join(format!(".{name}.partial"));
        // What is left of a job that was killed.
        let _ = std::fs::remove_dir_all(&path);
        create_folder(&path)?;
        Ok(WorkFolder { target: target.to_owned(), path, _lock: lock })
    }

    /// Where to write.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Puts the folder in place of its target at once. Files in the target that are not ours stay, as
    /// hard links.
    ///
    /// # Errors
    /// Where that cannot be: the target or a file in it is a symlink, or the user has folders in it.
    /// Nothing in it has changed then.
    pub(crate) fn replace(&self, is_ours: impl Fn(&OsStr) -> bool) -> io::Result<()> {
        let target = &self.target;
        if !target.is_symlink() && !target.exists() {
            return std::fs::rename(&self.path, target);
        }
        if target.is_symlink() {
            return Err(io::ErrorKind::Unsupported.into());
        }
        for entry in std::fs::read_dir(target)? {
            let entry = entry?;
            let name = entry.file_name();
            if entry.path().is_symlink() {
                return Err(io::ErrorKind::Unsupported.into());
            }
            if !is_ours(&name) && !self.path.join(&name).exists() {
                std::fs::hard_link(entry.path(), self.path.join(&name))?;
            }
        }
        exchange(&self.path, target)
    }
}

impl Drop for WorkFolder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.path);
    }
}

/// Both folders change places at once.
#[cfg(target_os = "linux")]
fn exchange(one: &Path, other: &Path) -> io::Result<()> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    Ok(renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE)?)
}

#[cfg(not(target_os = "linux"))]
fn exchange(_: &Path, _: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}
