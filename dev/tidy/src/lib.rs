//! Checks of this repository's own source.
//!
//! [`import_cycles`] finds the files of a crate that import each other. A path counts for the file
//! that defines its target, even through a re-export; so a module that only declares and re-exports
//! its children is never in a cycle. [`settings_struct`] and [`settings_enum`] read what structs of settings say of
//! their fields; [`product_lines`] counts code.
//!
//! ```no_run
//! let cycles = dropcast_tidy::import_cycles("train/src".as_ref())?;
//! assert!(cycles.is_empty(), "{cycles:?}");
//! # Ok::<(), dropcast_tidy::TidyError>(())
//! ```

mod cycles;
mod imports;
mod lines;
mod modules;
mod resolve;
mod settings;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

pub use lines::product_lines;
pub use modules::TidyError;
pub use settings::{
    SettingsEnum, SettingsField, SettingsStruct, TypeName, settings_enum, settings_struct,
};

/// The groups of files below `src` that import each other, directly or through others. `src` holds a
/// crate's `lib.rs` or `main.rs`; the paths are relative to it.
///
/// # Errors
/// If a file is missing or cannot be parsed.
pub fn import_cycles(src: &Path) -> Result<Vec<Vec<PathBuf>>, TidyError> {
    let krate = modules::Modules::read(src)?;
    let mut edges = BTreeSet::new();
    for (module, path) in imports::paths(&krate) {
        for file in resolve::files(&krate, module, &path) {
            edges.insert((krate.modules[module].file, file));
        }
    }
    edges.retain(|(from, to)| from != to);
    let groups = cycles::cycles(krate.files.len(), &edges);
    let names = |group: Vec<usize>| group.into_iter().map(|file| krate.files[file].clone());
    Ok(groups.into_iter().map(|group| names(group).collect()).collect())
}
