//! What reports call traces.

use crate::files::manifest::PART;
use std::collections::BTreeMap;
use std::path::Path;

/// The shortest names that distinguish traces, of their paths and file names. Files that folders are named for, as
/// `collect` writes them, have the name of these: `run=3/switch=7`. Equal names get the folders before.
pub(crate) fn names_of(traces: &[(&Path, &str)]) -> Vec<String> {
    let folders: Vec<Vec<String>> = traces.iter().map(folders).collect();
    let mut depths: Vec<usize> = traces.iter().zip(&folders).map(|(t, f)| depth(t.1, f)).collect();
    loop {
        let names: Vec<String> =
            traces.iter().zip(&folders).zip(&depths).map(|((t, f), &d)| name(t.1, f, d)).collect();
        let mut uses: BTreeMap<&str, usize> = BTreeMap::new();
        names.iter().for_each(|name| *uses.entry(name).or_default() += 1);
        let longer = |at: &usize| uses[names[*at].as_str()] > 1 && depths[*at] < folders[*at].len();
        let longer: Vec<usize> = (0..names.len()).filter(longer).collect();
        if longer.is_empty() {
            return names;
        }
        longer.into_iter().for_each(|at| depths[at] += 1);
    }
}

/// The folders of a file, from the outermost; none of what is in no file.
fn folders((path, file): &(&Path, &str)) -> Vec<String> {
    let of_file = path.file_name().is_some_and(|name| name.to_string_lossy() == **file);
    let parent = path.parent().filter(|_| of_file);
    let parts = parent.into_iter().flat_map(Path::components);
    let named = parts.filter_map(|part| match part {
        std::path::Component::Normal(name) => Some(name.to_string_lossy().into_owned()),
        _ => None,
    });
    named.collect()
}

/// How many folders are in the name of a trace, if no other trace has that name.
fn depth(file: &str, folders: &[String]) -> usize {
    if file != PART {
        return 0;
    }
    let named = folders.iter().rev().take_while(|folder| folder.contains('=')).count();
    named.max(1).min(folders.len())
}

fn name(file: &str, folders: &[String], depth: usize) -> String {
    let mut parts: Vec<&str> =
        folders[folders.len() - depth..].iter().map(String::as_str).collect();
    if file != PART || parts.is_empty() {
        parts.push(file);
    }
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(paths: &[&'static str]) -> Vec<String> {
        let named =
            |path: &&'static str| (Path::new(*path), path.rsplit('/').next().unwrap_or(path));
        names_of(&paths.iter().map(named).collect::<Vec<_>>())
    }

    #[test]
    fn traces_are_named_by_what_distinguishes_them() {
        let says = |paths: &[&'static str], expected: &[&str]| assert_eq!(names(paths), expected);
        says(&["/data/leaf.parquet", "spine.parquet"], &["leaf.parquet", "spine.parquet"]);
        says(
            &["/d/traces/run=1/switch=3/part-0.parquet", "/d/traces/run=1/switch=9/part-0.parquet"],
            &["run=1/switch=3", "run=1/switch=9"],
        );
        says(&["out/monday/part-0.parquet"], &["monday"]);
        says(&["part-0.parquet"], &["part-0.parquet"]);
        says(
            &["mon/switch=1/part-0.parquet", "tue/switch=1/part-0.parquet", "x.parquet"],
            &["mon/switch=1", "tue/switch=1", "x.parquet"],
        );
        says(&["a/x.parquet", "b/x.parquet"], &["a/x.parquet", "b/x.parquet"]);
        says(&["x.parquet", "x.parquet"], &["x.parquet", "x.parquet"]);
    }

    #[test]
    fn what_is_in_no_file_keeps_its_name() {
        assert_eq!(
            names_of(&[(Path::new("a frame"), "frame"), (Path::new("b"), "b")]),
            ["frame", "b"]
        );
    }
}
