//! Checks of this repository's own source.
//!
//! [`import_cycles`] finds the modules of a crate that import each other, each with all that is below it. A path counts
//! for the file that defines its target, even through a re-export; so a module that only declares and re-exports
//! its children is in no cycle with them. [`settings_struct`] and [`settings_enum`] read what structs of settings say of
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

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

pub use lines::product_lines;
pub use modules::TidyError;
pub use settings::{
    SettingsEnum, SettingsField, SettingsStruct, TypeName, settings_enum, settings_struct,
};

/// Modules that import each other, each with all that is below it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cycle {
    /// The file of each module, relative to `src`.
    pub modules: Vec<PathBuf>,
    /// The imports from one of these modules to another: which file imports which.
    pub imports: Vec<(PathBuf, PathBuf)>,
}

/// By two modules: which file of the first imports which of the second.
type Imports = BTreeMap<(usize, usize), Vec<(usize, usize)>>;

/// The modules below `src` that import each other, directly or through others. `src` holds a crate's `lib.rs` or
/// `main.rs`.
///
/// # Errors
/// If a file is missing or cannot be parsed.
pub fn import_cycles(src: &Path) -> Result<Vec<Cycle>, TidyError> {
    let krate = modules::Modules::read(src)?;
    // By the module that both files are in.
    let mut levels: BTreeMap<usize, Imports> = BTreeMap::new();
    let mut imports = BTreeSet::new();
    for (module, path) in imports::paths(&krate) {
        let from = krate.modules[module].file;
        imports.extend(resolve::files(&krate, module, &path).into_iter().map(|to| (from, to)));
    }
    for (from, to) in imports.into_iter().filter(|(from, to)| from != to) {
        let (common, ends) = krate.apart(from, to);
        levels.entry(common).or_default().entry(ends).or_default().push((from, to));
    }
    let name = |file: usize| krate.files[file].clone();
    let cycles = levels.values().flat_map(|imports| {
        let edges: BTreeSet<(usize, usize)> = imports.keys().copied().collect();
        cycles::cycles(krate.files.len(), &edges)
            .into_iter()
            .map(|group| {
                let is_inside =
                    |(from, to): &&(usize, usize)| group.contains(from) && group.contains(to);
                let inside = imports.keys().filter(is_inside).flat_map(|ends| &imports[ends]);
                let imports = inside.map(|&(from, to)| (name(from), name(to))).collect();
                Cycle { modules: group.iter().map(|&file| name(file)).collect(), imports }
            })
            .collect::<Vec<_>>()
    });
    Ok(cycles.collect())
}
