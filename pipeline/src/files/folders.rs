//! Files under a folder.

use super::manifest::{MANIFEST, Manifest};
use crate::PipelineError;
use alphanumeric_sort::sort_path_slice;
use dropcast_data::{DataError, has_extension, is_folder, is_object, list_objects};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Folders in folders, at most: a symlink may lead back.
const MOST_DEPTH: usize = 16;

/// The event files of a folder, sorted by name, with numbers as numbers.
pub(crate) struct Group {
    /// Relative to the folder of all events.
    pub(crate) folder: PathBuf,
    pub(crate) files: Vec<PathBuf>,
}

impl Group {
    /// The folder.
    pub(crate) fn place(&self) -> &Path {
        self.files.first().and_then(|file| file.parent()).unwrap_or(&self.folder)
    }
}

/// The labelled traces of a folder that [`CollectTask::collect`](crate::collect::CollectTask::collect) wrote, as
/// its manifest lists them; or of any folder, every Parquet and Arrow IPC file under it, in order of their
/// names.
///
/// # Errors
/// If it cannot be read, holds none, or the job that wrote it did not come to its end.
pub(crate) fn traces_in(folder: &Path) -> Result<Vec<PathBuf>, PipelineError> {
    if let Ok(Some(manifest)) = Manifest::read(folder) {
        if !manifest.finished {
            let problem = "holds a part of the traces: the job that labels them did not come to its end; \
                           run `dropcast collect` again";
            return Err(PipelineError::unfit(folder.display(), problem));
        }
        let mut files: Vec<PathBuf> =
            manifest.traces().map(|trace| folder.join(&trace.file)).collect();
        files.sort_unstable();
        return Ok(files);
    }
    let is_trace = |path: &PathBuf| has_extension(path, &["parquet", "arrow", "feather", "ipc"]);
    let files: Vec<PathBuf> =
        groups(folder)?.into_iter().flat_map(|group| group.files).filter(is_trace).collect();
    if files.is_empty() {
        return Err(PipelineError::unfit(folder.display(), "holds no labelled traces"));
    }
    Ok(files)
}

/// The files among paths, and the labelled traces in the folders among them; patterns are
/// [replaced](matching) before.
///
/// # Errors
/// If a folder cannot be read, or holds none, or nothing matches a pattern.
pub fn trace_files(paths: &[PathBuf]) -> Result<Vec<PathBuf>, PipelineError> {
    let files = |path: &PathBuf| match is_folder(path) {
        true => traces_in(path),
        false => Ok(vec![path.clone()]),
    };
    let files: Vec<_> = matching(paths)?.iter().map(files).collect::<Result<_, _>>()?;
    Ok(files.concat())
}

/// Patterns replaced by the paths that match them, sorted, with numbers in names as numbers: `*` and `?` as in a shell, `**` for any folders,
/// `[ab]` for one of these letters. A path that exists, or is an object's, is no pattern.
///
/// # Errors
/// If nothing matches a pattern, or a folder cannot be read.
pub fn matching(paths: &[PathBuf]) -> Result<Vec<PathBuf>, PipelineError> {
    let mut found = Vec::new();
    for path in paths {
        let pattern = path.to_str().filter(|text| text.contains(['*', '?', '[']));
        let Some(pattern) = pattern.filter(|_| !is_object(path) && !path.exists()) else {
            found.push(path.clone());
            continue;
        };
        let unfit = |problem: &str| PipelineError::unfit(path.display(), problem);
        let matches = glob::glob(pattern).map_err(|error| unfit(error.msg))?;
        let before = found.len();
        for matched in matches {
            found.push(matched.map_err(|error| {
                let (file, source) = (error.path().display().to_string(), error.into());
                DataError::Io { file, doing: "be read", source }
            })?);
        }
        if found.len() == before {
            return Err(unfit("matches no file"));
        }
        sort_path_slice(&mut found[before..]);
    }
    Ok(found)
}

/// The files under a folder, folder by folder, sorted as by [`matching`]. Hidden ones, those that begin with `_` (marks of other
/// engines) and manifests are passed over.
pub(crate) fn groups(input: &Path) -> Result<Vec<Group>, PipelineError> {
    if is_object(input) {
        return Ok(groups_of_objects(input, list_objects(input)?));
    }
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
            if is_passed_over(&shown) {
                continue;
            }
            let path = entry.path();
            if path.is_dir() {
                folders.push((folder.join(&name), depth + 1));
            } else if path.exists() && !path.is_file() {
                let problem = "is a pipe, socket or device, which cannot be read a second time; move it \
                               out of the folder";
                return Err(PipelineError::unfit(path.display(), problem));
            } else {
                files.push(path);
            }
        }
        sort_path_slice(&mut files);
        if !files.is_empty() {
            groups.push(Group { folder, files });
        }
    }
    groups.sort_unstable_by(|one, other| one.folder.cmp(&other.folder));
    Ok(groups)
}

/// Whether a file or folder of this name holds no events.
fn is_passed_over(name: &str) -> bool {
    name.starts_with(['.', '_']) || name == MANIFEST
}

/// The objects under a URL, in order of their names, by folder.
fn groups_of_objects(input: &Path, objects: Vec<PathBuf>) -> Vec<Group> {
    let mut groups: BTreeMap<PathBuf, Vec<PathBuf>> = BTreeMap::new();
    for object in objects {
        let Ok(below) = object.strip_prefix(input) else { continue };
        if below.iter().any(|part| is_passed_over(&part.to_string_lossy())) {
            continue;
        }
        let folder = below.parent().unwrap_or(Path::new("")).to_owned();
        groups.entry(folder).or_default().push(object);
    }
    let group = |(folder, mut files): (PathBuf, Vec<PathBuf>)| {
        sort_path_slice(&mut files);
        Group { folder, files }
    };
    groups.into_iter().map(group).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_are_grouped_like_files() {
        let names =
            ["a.csv", "b.csv", "run=1/c.csv", "run=1/_SUCCESS", ".x/d.csv", "manifest.json"];
        let objects = names.map(|name| PathBuf::from(format!("s3://bucket/in/{name}"))).to_vec();
        let groups = groups_of_objects(Path::new("s3://bucket/in/"), objects);
        let found: Vec<_> = groups
            .iter()
            .map(|group| (group.folder.to_str().unwrap(), group.files.len()))
            .collect();
        assert_eq!(found, [("", 2), ("run=1", 1)]);
    }

    #[test]
    fn patterns_stand_for_what_matches_them() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let at = |name: &str| folder.path().join(name);
        for name in ["b.csv", "a.csv", "a[1].csv", "run=1/switch=2/c.csv", "p10.pcap", "p9.pcap"] {
            let path = at(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "").unwrap();
        }
        let found = |patterns: &[&str]| {
            let patterns: Vec<PathBuf> = patterns.iter().map(|pattern| at(pattern)).collect();
            matching(&patterns)
        };
        let names = |names: &[&str]| names.iter().map(|name| at(name)).collect::<Vec<_>>();
        assert_eq!(found(&["?.csv"]).unwrap(), names(&["a.csv", "b.csv"]));
        assert_eq!(found(&["p*.pcap"]).unwrap(), names(&["p9.pcap", "p10.pcap"]));
        assert_eq!(found(&["**/c.csv"]).unwrap(), names(&["run=1/switch=2/c.csv"]));
        assert_eq!(found(&["none.csv", "a[1].csv"]).unwrap(), names(&["none.csv", "a[1].csv"]));
        assert!(found(&["*.parquet"]).unwrap_err().to_string().ends_with("matches no file"));
        assert!(found(&["***"]).is_err());
        let object = [PathBuf::from("s3://bucket/*.csv")];
        assert_eq!(matching(&object).unwrap(), object);
    }
}
