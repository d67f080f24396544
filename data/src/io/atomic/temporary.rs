//! A file that is not yet in its place.

use std::fs::File;
use std::io::{self, Seek, Write};
use std::path::Path;
use tempfile::NamedTempFile;

/// The bytes of a file that has no name yet, where the system can have such: however the program
/// ends, nothing of them stays. Elsewhere a file with a temporary name.
#[derive(Debug)]
pub(super) enum Temporary {
    #[cfg(target_os = "linux")]
    Unnamed(File),
    Named(NamedTempFile),
}

impl Temporary {
    /// Makes one that can be put at `target`.
    pub(super) fn beside(target: &Path) -> io::Result<Self> {
        let directory = directory(target);
        #[cfg(target_os = "linux")]
        if let Some(file) = unnamed::create(directory) {
            return Ok(Temporary::Unnamed(file));
        }
        let mut builder = tempfile::Builder::new();
        builder.prefix(".dropcast-").suffix(".tmp");
        let mut options = File::options();
        options.read(true).write(true).create_new(true);
        // The usual mode of a new file (before the process's umask), not a private one.
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o666);
        // Its own error names the temporary file, and hides the system's.
        let mut refused = None;
        let named = builder.make_in(directory, |path| {
            let opened = options.open(path);
            refused = opened.as_ref().err().and_then(io::Error::raw_os_error);
            opened
        });
        named
            .map(Temporary::Named)
            .map_err(|error| refused.map_or(error, io::Error::from_raw_os_error))
    }

    pub(super) fn as_file(&self) -> &File {
        match self {
            #[cfg(target_os = "linux")]
            Temporary::Unnamed(file) => file,
            Temporary::Named(file) => file.as_file(),
        }
    }

    /// The file, to be read from its beginning. It is gone once it is closed.
    pub(super) fn into_file(self) -> io::Result<File> {
        let mut file = match self {
            #[cfg(target_os = "linux")]
            Temporary::Unnamed(file) => file,
            Temporary::Named(file) => file.into_file(),
        };
        file.rewind()?;
        Ok(file)
    }

    /// Gives the file its name, in place of a file that has it.
    pub(super) fn put(self, target: &Path) -> io::Result<()> {
        match self {
            #[cfg(target_os = "linux")]
            Temporary::Unnamed(file) => unnamed::put(&file, target),
            Temporary::Named(file) => file.persist(target).map(|_| ()).map_err(|error| error.error),
        }
    }
}

impl Write for Temporary {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.as_file().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.as_file().flush()
    }
}

/// The folder that a file is in.
pub(super) fn directory(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

#[cfg(target_os = "linux")]
mod unnamed {
    use super::directory;
    use rustix::fs::{AtFlags, CWD, Mode, OFlags, linkat, openat};
    use rustix::io::Errno;
    use std::fs::File;
    use std::io;
    use std::os::fd::AsRawFd;
    use std::path::{Path, PathBuf};
    use std::sync::atomic::{AtomicU64, Ordering};

    /// A file in `directory` without a name; `None` if the system cannot have or name one. It stays
    /// locked while the program runs, so that a link that was left behind can be recognized.
    pub(super) fn create(directory: &Path) -> Option<File> {
        if !Path::new("/proc/self/fd").is_dir() {
            return None;
        }
        let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
        let file = File::from(openat(CWD, directory, flags, Mode::from_raw_mode(0o666)).ok()?);
        file.try_lock().is_ok().then_some(file)
    }

    /// Gives the file its name. A link cannot replace a file. Where there is one of this name, the new
    /// file gets a temporary name in the same folder, and is then renamed. A program that is killed between
    /// the two leaves the temporary name; the next program that replaces a file in the folder removes it.
    pub(super) fn put(file: &File, target: &Path) -> io::Result<()> {
        let source = format!("/proc/self/fd/{}", file.as_raw_fd());
        let link = |path: &Path| linkat(CWD, &*source, CWD, path, AtFlags::SYMLINK_FOLLOW);
        match link(target) {
            Err(Errno::EXIST) => {}
            linked => return Ok(linked?),
        }
        remove_links_left_behind(directory(target))?;
        let beside = loop {
            let beside = name_of_a_link(directory(target));
            match link(&beside) {
                Err(Errno::EXIST) => {}
                linked => break linked.map(|()| beside)?,
            }
        };
        std::fs::rename(&beside, target).inspect_err(|_| {
            // The cause matters more than a file that stays.
            let _ = std::fs::remove_file(&beside);
        })
    }

    const PREFIX: &str = ".dropcast-link-";

    fn name_of_a_link(directory: &Path) -> PathBuf {
        static LINKS: AtomicU64 = AtomicU64::new(0);
        let link = LINKS.fetch_add(1, Ordering::Relaxed);
        directory.join(format!("{PREFIX}{}-{link}", std::process::id()))
    }

    fn remove_links_left_behind(directory: &Path) -> io::Result<()> {
        for entry in std::fs::read_dir(directory)? {
            let entry = entry?;
            if !entry.file_name().to_string_lossy().starts_with(PREFIX) {
                continue;
            }
            let unlocked = File::open(entry.path()).is_ok_and(|left| left.try_lock().is_ok());
            if unlocked {
                // Another program may have done so.
                let _ = std::fs::remove_file(entry.path());
            }
        }
        Ok(())
    }

    #[cfg(test)]
    mod tests {
        use super::*;
        use std::io::Write;

        fn write(target: &Path, text: &[u8]) {
            let mut file = create(directory(target)).unwrap();
            file.write_all(text).unwrap();
            put(&file, target).unwrap();
        }

        #[test]
        fn what_a_killed_writer_left_is_removed() {
            let folder = tempfile::tempdir().unwrap();
            let target = folder.path().join("out");
            write(&target, b"old");
            let left = name_of_a_link(folder.path());
            std::fs::write(&left, "left").unwrap();
            write(&target, b"new");
            assert_eq!(std::fs::read(&target).unwrap(), b"new");
            assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
        }

        #[test]
        fn writers_of_one_file_at_once_all_succeed_and_leave_it_whole() {
            let folder = tempfile::tempdir().unwrap();
            let target = folder.path().join("out");
            let texts = ["a".repeat(100_000), "b".repeat(50_000), "c".repeat(7)];
            std::thread::scope(|scope| {
                for text in &texts {
                    let write = || write(&target, text.as_bytes());
                    scope.spawn(move || (0..50).for_each(|_| write()));
                }
            });
            let found = std::fs::read_to_string(&target).unwrap();
            assert!(texts.contains(&found));
            assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
        }
    }
}
