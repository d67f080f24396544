//! Folders that are replaced as a whole.

use crate::PipelineError;
use crate::files::{FolderLock, create_folder, held};
use dropcast_data::DataError;
use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A folder of files to be, beside the folder that they are for. What is left of it when it is dropped
/// is removed.
pub(crate) struct WorkFolder {
    place: Place,
    /// No other job works for the same folder.
    _lock: FolderLock,
}

/// Where a job works.
#[derive(Clone, PartialEq)]
struct Place {
    target: PathBuf,
    path: PathBuf,
    /// Names of the folders that the job itself makes in it.
    own_folders: &'static [&'static str],
}

/// Where jobs of this process work. Held while a folder takes its place.
static PLACES: Mutex<Vec<Place>> = Mutex::new(Vec::new());

fn places() -> MutexGuard<'static, Vec<Place>> {
    PLACES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes the working folders and locks of all jobs of this process, and then calls `end`, which ends it. No
/// folder takes its place meanwhile; one that is just doing so does it first.
pub fn leave_nothing(end: impl FnOnce()) {
    let places = places();
    for place in places.iter() {
        // Other threads still write there.
        for _ in 0..100 {
            if place.clear().is_err() || !place.path.exists() {
                break;
            }
        }
    }
    let held = held();
    for lock in held.iter() {
        let _ = std::fs::remove_file(lock);
    }
    end();
}

impl WorkFolder {
    /// An empty folder to work in for `target`, which has a name. The job itself makes only these folders
    /// in it. Where `target` is a symlink, it stays, and the folder that it leads to is the target.
    ///
    /// # Errors
    /// If it cannot be made, or another job works for `target`.
    pub(crate) fn beside(
        target: &Path,
        own_folders: &'static [&'static str],
    ) -> Result<Self, PipelineError> {
        let led_to = target.is_symlink().then(|| target.canonicalize().ok()).flatten();
        if let Some(real) = led_to.filter(|real| real.file_name().is_some()) {
            match WorkFolder::beside_real(&real, target, own_folders) {
                // The folder that it is in cannot be written.
                Err(PipelineError::Data(_)) => {}
                made => return made,
            }
        }
        WorkFolder::beside_real(target, target, own_folders)
    }

    fn beside_real(
        target: &Path,
        shown: &Path,
        own_folders: &'static [&'static str],
    ) -> Result<Self, PipelineError> {
        let parent = target.parent().filter(|parent| !parent.as_os_str().is_empty());
        let parent = parent.unwrap_or(Path::new("."));
        create_folder(parent)?;
        let name = target.file_name().unwrap_or_default().to_string_lossy();
        // Beside the working folder, which moves.
        let lock = FolderLock::take(parent.join(format!(".{name}.lock")), shown)?;
        let path = parent.join(format!(".{name}.partial"));
        let place = Place { target: target.to_owned(), path, own_folders };
        // What is left of a job that was killed.
        place.clear()?;
        let mut places = places();
        create_folder(&place.path)?;
        places.push(place.clone());
        Ok(WorkFolder { place, _lock: lock })
    }

    /// Where to write.
    pub(crate) fn path(&self) -> &Path {
        &self.place.path
    }

    /// Puts the folder in place of its target at once. What in the target is not ours stays: files as hard
    /// links, folders are moved over.
    ///
    /// # Errors
    /// Where that cannot be: a file of ours in the target is a symlink, which is followed; the target is where
    /// this program was started, is another user's, or something in it cannot be linked or moved. Nothing has
    /// changed then.
    pub(crate) fn replace(&self, is_ours: impl Fn(&OsStr) -> bool) -> io::Result<()> {
        let _places = places();
        self.place.replace(is_ours)
    }
}

impl Place {
    fn replace(&self, is_ours: impl Fn(&OsStr) -> bool) -> io::Result<()> {
        let target = &self.target;
        if !target.is_symlink() && !target.exists() {
            return std::fs::rename(&self.path, target);
        }
        let is_started_in = std::env::current_dir()
            .is_ok_and(|started_in| target.canonicalize().is_ok_and(|real| real == started_in));
        if target.is_symlink() || is_started_in {
            return Err(io::ErrorKind::Unsupported.into());
        }
        let mut links = Vec::new();
        let replaced =
            self.carry_over(is_ours, &mut links).and_then(|()| exchange(&self.path, target));
        if replaced.is_err() {
            for link in links {
                let _ = std::fs::remove_file(link);
            }
            // What cannot be moved back now is moved back later: `clear` removes none of it.
            let _ = self.give_back();
        }
        replaced
    }

    /// Links the target's other files into the folder, and moves its other folders there. Folders go last: they
    /// are in one place only.
    fn carry_over(
        &self,
        is_ours: impl Fn(&OsStr) -> bool,
        links: &mut Vec<PathBuf>,
    ) -> io::Result<()> {
        let mut folders = Vec::new();
        for entry in std::fs::read_dir(&self.target)? {
            let entry = entry?;
            let (kind, name) = (entry.file_type()?, entry.file_name());
            let (is_ours, there) = (is_ours(&name), self.path.join(name));
            if is_ours || there.exists() {
                if kind.is_symlink() || kind.is_dir() && !is_ours {
                    return Err(io::ErrorKind::Unsupported.into());
                }
            } else if kind.is_dir() {
                folders.push((entry.path(), there));
            } else {
                std::fs::hard_link(entry.path(), &there)?;
                links.push(there);
            }
        }
        folders.iter().try_for_each(|(from, to)| std::fs::rename(from, to))
    }

    /// Moves folders that were carried over back into the target: a job that ends in between must not remove
    /// them.
    fn give_back(&self) -> Result<(), DataError> {
        let Ok(entries) = std::fs::read_dir(&self.path) else { return Ok(()) };
        for entry in entries.flatten() {
            let name = entry.file_name();
            let is_own = |own: &&str| name == **own || name == *format!(".{own}.partial");
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            if !is_folder || self.own_folders.iter().any(is_own) {
                continue;
            }
            let moved = create_folder(&self.target).is_ok()
                && std::fs::rename(entry.path(), self.target.join(&name)).is_ok();
            if !moved {
                return Err(DataError::File {
                    file: entry.path().display().to_string(),
                    problem: format!("cannot be moved back to {}", self.target.display()),
                    hint: "a job that was killed left it here; move it where it belongs".to_owned(),
                });
            }
        }
        Ok(())
    }

    /// Removes the folder, but nothing of the user's.
    fn clear(&self) -> Result<(), DataError> {
        self.give_back()?;
        let _ = std::fs::remove_dir_all(&self.path);
        Ok(())
    }
}

impl Drop for WorkFolder {
    fn drop(&mut self) {
        let mut places = places();
        places.retain(|place| *place != self.place);
        let _ = self.place.clear();
    }
}

/// Both folders change places at once; the first gets the permissions of the other.
#[cfg(target_os = "linux")]
fn exchange(one: &Path, other: &Path) -> io::Result<()> {
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
fn exchange(_: &Path, _: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    /// An old result, and things of the user's.
    fn target(room: &Path) -> PathBuf {
        let target = room.join("out");
        fs::create_dir_all(target.join("mine/deep")).unwrap();
        fs::write(target.join("mine/deep/notes"), "mine").unwrap();
        fs::write(target.join("result"), "old").unwrap();
        target
    }

    fn is_ours(name: &OsStr) -> bool {
        name == "result" || name == "tables"
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn folders_and_symlinks_of_the_users_are_carried_over() {
        let room = tempfile::tempdir().unwrap();
        let target = target(room.path());
        std::os::unix::fs::symlink("nowhere", target.join("link")).unwrap();
        let led = room.path().join("led");
        std::os::unix::fs::symlink("out", &led).unwrap();
        let work = WorkFolder::beside(&led, &["tables"]).unwrap();
        fs::write(work.path().join("result"), "new").unwrap();
        work.replace(is_ours).unwrap();
        drop(work);
        assert_eq!(fs::read(target.join("result")).unwrap(), b"new");
        assert_eq!(fs::read(target.join("mine/deep/notes")).unwrap(), b"mine");
        assert!(target.join("link").is_symlink() && led.is_symlink());
        assert_eq!(fs::read_dir(room.path()).unwrap().count(), 2);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn what_cannot_be_replaced_at_once_stays() {
        let room = tempfile::tempdir().unwrap();
        let target = target(room.path());
        std::os::unix::fs::symlink("mine/deep/notes", target.join("tables")).unwrap();
        fs::write(target.join("notes.txt"), "mine").unwrap();
        let work = WorkFolder::beside(&target, &["tables"]).unwrap();
        fs::write(work.path().join("result"), "new").unwrap();
        work.replace(is_ours).unwrap_err();
        assert_eq!(fs::read_dir(work.path()).unwrap().count(), 1);
        assert_eq!(fs::read(target.join("result")).unwrap(), b"old");
        assert_eq!(fs::read(target.join("mine/deep/notes")).unwrap(), b"mine");
    }

    #[test]
    fn a_killed_job_loses_nothing_of_the_users() {
        let room = tempfile::tempdir().unwrap();
        let target = target(room.path());
        let partial = room.path().join(".out.partial");
        fs::create_dir_all(partial.join("tables")).unwrap();
        fs::rename(target.join("mine"), partial.join("mine")).unwrap();
        let work = WorkFolder::beside(&target, &["tables"]).unwrap();
        assert_eq!(fs::read_dir(work.path()).unwrap().count(), 0);
        assert_eq!(fs::read(target.join("mine/deep/notes")).unwrap(), b"mine");
        assert!(!target.join("tables").exists());
        drop(work);
        // Another folder of its name has taken its place.
        fs::create_dir_all(partial.join("mine/other")).unwrap();
        let error = WorkFolder::beside(&target, &["tables"]).err().unwrap().to_string();
        assert!(error.contains(".out.partial/mine: cannot be moved back to "), "{error}");
        assert!(partial.join("mine/other").exists());
    }
}
