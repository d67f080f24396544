//! Files that belong together are made in a folder of their own and take their places together.

mod placing;

use super::whole_files::{FolderLock, folder_of, held, remove_empty};
use crate::PipelineError;
use dropcast_data::DataError;
use placing::{exchange, keep_permissions, put_one_by_one};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A folder in which the files of a result are made. [`finish`](Self::finish) puts them into the folder that
/// they are for, in place of an earlier result there. A job that fails or ends before leaves nothing, and the
/// earlier result as it was. No two jobs work for one folder.
pub struct WorkFolder {
    place: Workplace,
    /// Whether both folders may change places.
    is_exchanged: bool,
    lock: FolderLock,
}

/// Where a job works.
#[derive(Clone, PartialEq)]
struct Workplace {
    target: PathBuf,
    /// That of the target, or of the main file of several in it.
    name: String,
    path: PathBuf,
    /// Its file names the folders of the user's that are being moved over: `[]` as long as there are none.
    lock: PathBuf,
}

/// Where jobs of this process work. Held while a result takes its place.
static PLACES: Mutex<Vec<Workplace>> = Mutex::new(Vec::new());

fn places() -> MutexGuard<'static, Vec<Workplace>> {
    PLACES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes the working folders and locks of all jobs of this process, and then calls `end`, which ends it. No
/// result takes its place meanwhile; one that is just doing so does it first.
pub fn leave_nothing(end: impl FnOnce()) {
    let (places, held) = (places(), held());
    for place in places.iter() {
        // Other threads still write there, but make no folders.
        for _ in 0..100 {
            if place.clear().is_err() || !place.path.exists() {
                break;
            }
        }
    }
    let is_needed = |lock: &PathBuf| places.iter().any(|at| at.lock == *lock && at.path.exists());
    for (lock, made) in held.iter().filter(|(lock, _)| !is_needed(lock)) {
        let _ = std::fs::remove_file(lock);
        remove_empty(made);
    }
    end();
}

/// Whether nothing can be renamed between a folder and the one it is in.
#[cfg(unix)]
fn is_of_another_disk(folder: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let disk = |path: &Path| std::fs::metadata(path).ok().map(|found| found.dev());
    disk(folder).is_some_and(|own| disk(folder_of(folder)) != Some(own))
}

#[cfg(not(unix))]
fn is_of_another_disk(_: &Path) -> bool {
    false
}

impl WorkFolder {
    /// An empty folder to work in for `target`, a folder of results: the two change places at once, where
    /// that can be. Folders of the user's in it are moved over. Where `target` is a symlink, it stays, and the
    /// folder that it leads to is the target.
    ///
    /// # Errors
    /// If it cannot be made, or another job works for `target`.
    pub fn beside(target: &Path) -> Result<Self, PipelineError> {
        let is_named = |path: &PathBuf| path.file_name().is_some();
        // Messages show paths as they were given.
        let is_plain = target.file_name().is_some() && !target.is_symlink();
        let real = match is_plain {
            true => Some(target.to_owned()),
            false => target.canonicalize().ok().filter(is_named),
        };
        if let Some(real) = real.filter(|real| !is_of_another_disk(real)) {
            let parent = folder_of(&real).to_owned();
            let name = real.file_name().unwrap_or_default().to_string_lossy().into_owned();
            match WorkFolder::in_folder(&parent, &name, real, target, true) {
                // The folder that it is in cannot be written.
                Err(PipelineError::Data(DataError::Io { .. })) => {}
                made => return made,
            }
        }
        WorkFolder::inside(target, "dropcast")
    }

    /// An empty folder to work in for the file `name` and others in `target`, which may be any folder, such as
    /// that of a project: it is never moved. Old files are moved away before new ones come; where `name` is, the
    /// others are, too.
    ///
    /// # Errors
    /// If it cannot be made, or another job works for files of this name.
    pub fn inside(target: &Path, name: &str) -> Result<Self, PipelineError> {
        let target = if target.as_os_str().is_empty() { Path::new(".") } else { target };
        WorkFolder::in_folder(target, name, target.to_owned(), &target.join(name), false)
    }

    fn in_folder(
        folder: &Path,
        name: &str,
        target: PathBuf,
        shown: &Path,
        is_exchanged: bool,
    ) -> Result<Self, PipelineError> {
        let (path, lock) =
            (folder.join(format!(".{name}.partial")), folder.join(format!(".{name}.lock")));
        let place = Workplace { target, name: name.to_owned(), path, lock };
        let lock = FolderLock::take(place.lock.clone(), shown)?;
        place.begin(&lock)?;
        Ok(WorkFolder { place, is_exchanged, lock })
    }

    /// Where to write.
    pub fn path(&self) -> &Path {
        &self.place.path
    }

    /// Puts the files into the target, in place of those there for which `is_ours` (of their paths) holds or
    /// which have their names. Other things in the target stay.
    ///
    /// # Errors
    /// If a file cannot be put in place. What was there is then there again.
    pub fn finish(&self, is_ours: impl Fn(&Path) -> bool) -> Result<(), DataError> {
        let _places = places();
        if self.is_exchanged && self.replace(&is_ours).is_ok() {
            return Ok(());
        }
        put_one_by_one(&self.place.path, &self.place.target, &self.place.name, &is_ours)
    }

    /// Puts the folder in place of its target at once. Files of the user's stay as hard links; folders are
    /// moved over.
    ///
    /// # Errors
    /// Where that cannot be: something of ours in the target is a symlink, which is followed; the target is
    /// where this program was started, is another user's, or something in it cannot be linked or moved.
    /// Nothing has changed then.
    fn replace(&self, is_ours: &impl Fn(&Path) -> bool) -> io::Result<()> {
        let Workplace { target, path, .. } = &self.place;
        if !target.is_symlink() && !target.exists() {
            return std::fs::rename(path, target);
        }
        let is_started_in = std::env::current_dir()
            .is_ok_and(|started_in| target.canonicalize().is_ok_and(|real| real == started_in));
        if target.is_symlink() || is_started_in {
            return Err(io::ErrorKind::Unsupported.into());
        }
        keep_permissions(target, path)?;
        let mut links = Vec::new();
        let replaced = self.carry_over(is_ours, &mut links).and_then(|()| exchange(path, target));
        if replaced.is_err() {
            for link in links {
                let _ = std::fs::remove_file(link);
            }
            // What cannot be moved back now is moved back later: `clear` removes none of it.
            let _ = self.place.give_back();
        }
        replaced
    }

    /// Links the target's other files into the folder, and moves its other folders there. Folders go last: they
    /// are in one place only.
    fn carry_over(
        &self,
        is_ours: &impl Fn(&Path) -> bool,
        links: &mut Vec<PathBuf>,
    ) -> io::Result<()> {
        let unsupported = || io::Error::from(io::ErrorKind::Unsupported);
        let mut folders = Vec::new();
        for entry in std::fs::read_dir(&self.place.target)? {
            let entry = entry?;
            let (kind, name) = (entry.file_type()?, entry.file_name());
            let (is_ours, there) = (is_ours(&entry.path()), self.place.path.join(&name));
            if is_ours || there.exists() {
                if kind.is_symlink() || kind.is_dir() && !is_ours {
                    return Err(unsupported());
                }
            } else if kind.is_dir() {
                folders.push(name.into_string().map_err(|_| unsupported())?);
            } else {
                std::fs::hard_link(entry.path(), &there)?;
                links.push(there);
            }
        }
        if folders.is_empty() {
            return Ok(());
        }
        // A job that is killed in between leaves them to the next one.
        self.lock.leave_note(&serde_json::to_string(&folders)?)?;
        let Workplace { target, path, .. } = &self.place;
        folders.iter().try_for_each(|name| std::fs::rename(target.join(name), path.join(name)))
    }
}

impl Workplace {
    /// Makes the folder, without what a job that was killed left.
    fn begin(&self, lock: &FolderLock) -> Result<(), PipelineError> {
        let io = |doing| {
            let file = self.path.display().to_string();
            move |source| DataError::Io { file, doing, source }
        };
        if std::fs::symlink_metadata(&self.path).is_ok() {
            if self.carried_over().is_none() {
                let problem =
                    "is where this job would work, and not what another job left there; move it";
                return Err(PipelineError::unfit(self.path.display(), problem));
            }
            // Unless it can be removed, the next job must know it, too.
            lock.stay();
            self.clear()?;
        }
        lock.leave_note("[]").map_err(io("be locked"))?;
        let mut places = places();
        std::fs::create_dir(&self.path).map_err(io("be created"))?;
        lock.goes();
        places.push(self.clone());
        Ok(())
    }

    /// The folders that the last job was moving over; `None` if there was none.
    fn carried_over(&self) -> Option<Vec<String>> {
        serde_json::from_str(&std::fs::read_to_string(&self.lock).ok()?).ok()
    }

    /// Moves folders that were carried over back into the target: a job that ends in between must not remove
    /// them.
    fn give_back(&self) -> Result<(), DataError> {
        for name in self.carried_over().unwrap_or_default() {
            let (from, to) = (self.path.join(&name), self.target.join(&name));
            if !from.exists() {
                continue;
            }
            // Not `create_folder`, which waits for the end of the process that may be at this.
            let made = std::fs::create_dir_all(&self.target);
            let moved = made.and_then(|()| std::fs::rename(&from, to)).is_ok();
            if !moved {
                return Err(DataError::File {
                    file: from.display().to_string(),
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
        // An empty one can be removed where no further file can be opened.
        let _ = std::fs::remove_dir(&self.path).or_else(|_| std::fs::remove_dir_all(&self.path));
        Ok(())
    }
}

impl Drop for WorkFolder {
    fn drop(&mut self) {
        let mut places = places();
        places.retain(|place| *place != self.place);
        let _ = self.place.clear();
        if self.place.path.exists() {
            // It shows the next job that this may be removed.
            self.lock.stay();
        }
    }
}

#[cfg(test)]
mod tests;
