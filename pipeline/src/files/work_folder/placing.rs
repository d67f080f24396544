//! How the files of a folder take the places of others.

use crate::files::create_folder;
use dropcast_data::{DataError, move_file, remove_old};
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

/// Where old files wait until all new ones are in place.
const OLD: &str = ".old";

/// Both folders change places at once; the first gets the permissions of the other.
#[cfg(target_os = "linux")]
pub(super) fn exchange(one: &Path, other: &Path) -> io::Result<()> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    use std::os::unix::fs::MetadataExt;
    let (made, found) = (std::fs::metadata(one)?, std::fs::metadata(other)?);
    let is_same_owner = (made.uid(), made.gid()) == (found.uid(), found.gid());
    if !is_same_owner || found.permissions().readonly() {
        return Err(io::ErrorKind::Unsupported.into());
    }
    std::fs::set_permissions(one, found.permissions())?;
    Ok(renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE)?)
}

#[cfg(not(target_os = "linux"))]
pub(super) fn exchange(_: &Path, _: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Gives what is in the folder `new` the permissions of what has the same name in the folder `old`.
pub(super) fn keep_permissions(old: &Path, new: &Path) -> io::Result<()> {
    for entry in std::fs::read_dir(new)? {
        let entry = entry?;
        let (kind, old) = (entry.file_type()?, old.join(entry.file_name()));
        let Ok(found) = std::fs::symlink_metadata(&old) else { continue };
        if kind.is_dir() && found.is_dir() {
            keep_permissions(&old, &entry.path())?;
        }
        if (kind.is_dir(), kind.is_file()) == (found.is_dir(), found.is_file()) {
            std::fs::set_permissions(entry.path(), found.permissions())?;
        }
    }
    Ok(())
}

/// Moves the files and folders in `work` into `target`, after those in `target` that are ours or have their
/// names were moved away: those of two results are never together there. What is called `main` goes first and
/// comes last: where it is, the others are, too.
///
/// # Errors
/// If one cannot be moved, or a folder that is not ours has the name of a new one. All of it is undone then.
pub(super) fn put_one_by_one(
    work: &Path,
    target: &Path,
    main: &str,
    is_ours: &impl Fn(&Path) -> bool,
) -> Result<(), DataError> {
    create_folder(target)?;
    let mut moves = Moves { done: Vec::new() };
    let moved = moves.replace(work, target, main, is_ours);
    if moved.is_err() {
        moves.undo();
    }
    moved
}

/// What was moved, in order.
struct Moves {
    done: Vec<Moved>,
}

enum Moved {
    Renamed {
        from: PathBuf,
        to: PathBuf,
    },
    /// What a symlink leads to, which was copied and then emptied.
    Emptied {
        copy: PathBuf,
        link: PathBuf,
    },
}

impl Moves {
    fn replace(
        &mut self,
        work: &Path,
        target: &Path,
        main: &str,
        is_ours: &impl Fn(&Path) -> bool,
    ) -> Result<(), DataError> {
        let (mut old, mut new) = (names(target)?, names(work)?);
        old.sort_by_key(|name| name != main);
        new.sort_by_key(|name| name == main);
        keep_permissions(target, work).map_err(failed(target))?;
        let old_folder = work.join(OLD);
        std::fs::create_dir(&old_folder).map_err(failed(target))?;
        for name in old {
            let (path, has_new) = (target.join(&name), new.contains(&name));
            let is_ours = is_ours(&path);
            if path == *work || !(is_ours || has_new) {
                continue;
            }
            if has_new && !is_ours && path.is_dir() {
                let problem = "is a folder, and not of an earlier result".to_owned();
                let hint = "move it, or choose another folder".to_owned();
                return Err(DataError::File { file: path.display().to_string(), problem, hint });
            }
            let away = old_folder.join(&name);
            if has_new && path.is_symlink() && !path.is_dir() {
                // Symlinks are followed.
                std::fs::copy(&path, &away).map_err(failed(&path))?;
                self.done.push(Moved::Emptied { copy: away, link: path.clone() });
                remove_old(&path)?;
            } else {
                self.rename(path, away)?;
            }
        }
        for name in new {
            let (from, to) = (work.join(&name), target.join(&name));
            match to.is_symlink() {
                true => move_file(&from, &to)?,
                false => self.rename(from, to)?,
            }
        }
        Ok(())
    }

    fn rename(&mut self, from: PathBuf, to: PathBuf) -> Result<(), DataError> {
        std::fs::rename(&from, &to).map_err(failed(&to))?;
        self.done.push(Moved::Renamed { from, to });
        Ok(())
    }

    /// Moves everything back, as far as that can be.
    fn undo(self) {
        for moved in self.done.into_iter().rev() {
            let _ = match moved {
                Moved::Renamed { from, to } => std::fs::rename(to, from).is_ok(),
                Moved::Emptied { copy, link } => move_file(&copy, &link).is_ok(),
            };
        }
    }
}

fn names(folder: &Path) -> Result<Vec<OsString>, DataError> {
    let entries = std::fs::read_dir(folder).map_err(failed(folder))?;
    let name = |entry: io::Result<std::fs::DirEntry>| entry.map(|entry| entry.file_name());
    entries.map(name).collect::<Result<_, _>>().map_err(failed(folder))
}

fn failed(path: &Path) -> impl FnOnce(io::Error) -> DataError {
    let file = path.display().to_string();
    move |source| DataError::Io { file, doing: "be put in place", source }
}
