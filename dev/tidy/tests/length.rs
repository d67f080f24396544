//! No file of Rust is longer than docs/style.md allows. Clippy counts the lines of functions (`too_many_lines`).

use std::fs;
use std::path::{Path, PathBuf};

const MOST_LINES: usize = 500;

/// The files of Rust below a folder, but for what is built or hidden.
fn rust_files(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("a file").path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if name == "target" || name.starts_with('.') {
            continue;
        }
        if path.is_dir() {
            files.extend(rust_files(&path));
        } else if name.ends_with(".rs") {
            files.push(path);
        }
    }
    files
}

#[test]
fn no_file_is_too_long() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("the root");
    let lines = |file: &PathBuf| fs::read_to_string(file).expect("text").lines().count();
    let files = rust_files(root);
    assert!(files.contains(&root.join(file!())), "this file is not among them");
    let too_long: Vec<_> = files.iter().filter(|file| lines(file) > MOST_LINES).collect();
    assert_eq!(too_long, Vec::<&PathBuf>::new());
}
