//! The modules of a crate, and what each defines and imports.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use syn::{Attribute, Ident, Item, UseTree};

/// Why a crate's source cannot be checked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TidyError {
    /// A file cannot be read.
    #[error("{}: cannot be read", file.display())]
    Read {
        /// The file.
        file: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A file is not valid Rust.
    #[error("{}: {source}", file.display())]
    Parse {
        /// The file.
        file: PathBuf,
        /// The position, and the expected syntax.
        source: syn::Error,
    },
    /// A module is declared, but has no file.
    #[error("{}: no file for `mod {module};`", file.display())]
    NoFile {
        /// The file that declares it.
        file: PathBuf,
        /// The module.
        module: String,
    },
}

/// The modules of a crate. The first is the root.
pub(crate) struct Modules {
    /// The files, relative to the source folder.
    pub(crate) files: Vec<PathBuf>,
    pub(crate) modules: Vec<Module>,
}

/// A module, in its own file or inside another's.
pub(crate) struct Module {
    pub(crate) file: usize,
    pub(crate) parent: Option<usize>,
    pub(crate) children: BTreeMap<String, usize>,
    /// Names of its definitions.
    pub(crate) defined: BTreeSet<String>,
    /// By name, the path that a `use` gives it.
    pub(crate) used: BTreeMap<String, Vec<String>>,
    /// Paths of glob imports.
    pub(crate) globs: Vec<Vec<String>>,
    /// Its content without child modules.
    pub(crate) items: Vec<Item>,
}

impl Modules {
    /// Reads the files of the crate in `src`, but for modules of tests.
    pub(crate) fn read(src: &Path) -> Result<Self, TidyError> {
        let root = ["lib.rs", "main.rs"].into_iter().find(|root| src.join(root).is_file());
        let root = PathBuf::from(root.unwrap_or("lib.rs"));
        let mut krate = Modules { files: Vec::new(), modules: Vec::new() };
        krate.read_file(src, root, PathBuf::new(), None)?;
        Ok(krate)
    }

    /// The innermost file whose module has both files, and which of its modules have them: the files of these. It stands
    /// for itself where it is one of the two.
    pub(crate) fn apart(&self, from: usize, to: usize) -> (usize, (usize, usize)) {
        let (from, to) = (self.above(from), self.above(to));
        let shared = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
        let common = from[shared - 1];
        let end = |files: &[usize]| files.get(shared).copied().unwrap_or(common);
        (common, (end(&from), end(&to)))
    }

    /// The files whose modules a file is in, from the root to itself.
    fn above(&self, file: usize) -> Vec<usize> {
        let first = self.modules.iter().position(|module| module.file == file);
        let ups = std::iter::successors(first, |&module| self.modules[module].parent);
        let mut files: Vec<usize> = ups.map(|module| self.modules[module].file).collect();
        files.dedup();
        files.reverse();
        files
    }

    /// Reads a file whose child modules are files in `folder`.
    fn read_file(
        &mut self,
        src: &Path,
        file: PathBuf,
        folder: PathBuf,
        parent: Option<usize>,
    ) -> Result<usize, TidyError> {
        let text = std::fs::read_to_string(src.join(&file))
            .map_err(|source| TidyError::Read { file: file.clone(), source })?;
        let parsed = syn::parse_file(&text)
            .map_err(|source| TidyError::Parse { file: file.clone(), source })?;
        self.files.push(file);
        self.read_module(src, self.files.len() - 1, folder, parent, parsed.items)
    }

    fn read_module(
        &mut self,
        src: &Path,
        file: usize,
        folder: PathBuf,
        parent: Option<usize>,
        items: Vec<Item>,
    ) -> Result<usize, TidyError> {
        let own = self.modules.len();
        self.modules.push(Module {
            file,
            parent,
            children: BTreeMap::new(),
            defined: BTreeSet::new(),
            used: BTreeMap::new(),
            globs: Vec::new(),
            items: Vec::new(),
        });
        for item in items {
            if let Item::Mod(module) = item {
                if module.attrs.iter().any(is_cfg_test) {
                    continue;
                }
                let name = module.ident.to_string();
                let below = folder.join(&name);
                let child = match module.content {
                    Some((_, items)) => self.read_module(src, file, below, Some(own), items)?,
                    None => {
                        let candidates = [below.with_extension("rs"), below.join("mod.rs")];
                        let found = candidates.into_iter().find(|file| src.join(file).is_file());
                        let child = found.ok_or_else(|| TidyError::NoFile {
                            file: self.files[file].clone(),
                            module: name.clone(),
                        })?;
                        self.read_file(src, child, below, Some(own))?
                    }
                };
                self.modules[own].children.insert(name, child);
                continue;
            }
            let module = &mut self.modules[own];
            module.defined.extend(defined(&item));
            if let Item::Use(item) = &item {
                add_uses(&item.tree, &mut Vec::new(), module);
            }
            module.items.push(item);
        }
        Ok(own)
    }
}

/// Whether an attribute is `#[cfg(test)]`.
fn is_cfg_test(attribute: &Attribute) -> bool {
    attribute.path().is_ident("cfg")
        && attribute.parse_args::<Ident>().is_ok_and(|condition| condition == "test")
}

/// The name that an item defines.
fn defined(item: &Item) -> Option<String> {
    let ident = match item {
        Item::Const(item) => &item.ident,
        Item::Enum(item) => &item.ident,
        Item::Fn(item) => &item.sig.ident,
        Item::Macro(item) => item.ident.as_ref()?,
        Item::Static(item) => &item.ident,
        Item::Struct(item) => &item.ident,
        Item::Trait(item) => &item.ident,
        Item::TraitAlias(item) => &item.ident,
        Item::Type(item) => &item.ident,
        Item::Union(item) => &item.ident,
        _ => return None,
    };
    Some(ident.to_string())
}

/// Adds the names of a `use`.
fn add_uses(tree: &UseTree, path: &mut Vec<String>, module: &mut Module) {
    match tree {
        UseTree::Path(tree) => {
            path.push(tree.ident.to_string());
            add_uses(&tree.tree, path, module);
            path.pop();
        }
        UseTree::Name(tree) if tree.ident == "self" => {
            module.used.extend(path.last().map(|name| (name.clone(), path.clone())));
        }
        UseTree::Name(tree) => {
            let name = tree.ident.to_string();
            module.used.insert(name.clone(), [path.as_slice(), &[name]].concat());
        }
        UseTree::Rename(tree) => {
            let name = [path.as_slice(), &[tree.ident.to_string()]].concat();
            module.used.insert(tree.rename.to_string(), name);
        }
        UseTree::Glob(_) => module.globs.push(path.clone()),
        UseTree::Group(group) => {
            group.items.iter().for_each(|tree| add_uses(tree, path, module));
        }
    }
}
