//! Resolves a path to the file that defines its target.

use crate::modules::Modules;
use std::collections::BTreeSet;

/// The files of `path` in `module`: the one that defines its target, or for a glob those of
/// everything it imports. Empty for another crate.
pub(crate) fn files(krate: &Modules, module: usize, path: &[String]) -> BTreeSet<usize> {
    Resolver { krate, seen: BTreeSet::new() }.files(module, path)
}

struct Resolver<'a> {
    krate: &'a Modules,
    /// Names being resolved, so that cyclic re-exports terminate.
    seen: BTreeSet<(usize, String)>,
}

impl Resolver<'_> {
    fn files(&mut self, from: usize, path: &[String]) -> BTreeSet<usize> {
        let Some((first, rest)) = path.split_first() else { return BTreeSet::new() };
        let modules = &self.krate.modules;
        match first.as_str() {
            "crate" => self.below(0, rest),
            "self" => self.below(from, rest),
            "super" => {
                modules[from].parent.map_or_else(BTreeSet::new, |above| self.below(above, rest))
            }
            _ => self.below(from, path),
        }
    }

    /// The target of `path` in a module.
    fn below(&mut self, module: usize, path: &[String]) -> BTreeSet<usize> {
        let Some((first, rest)) = path.split_first() else { return BTreeSet::new() };
        let krate = self.krate;
        let own = &krate.modules[module];
        if first == "super" {
            return own.parent.map_or_else(BTreeSet::new, |above| self.below(above, rest));
        }
        if first == "*" {
            return self.everything(module);
        }
        // A name may be a module and another item: only a module can be followed further.
        if let Some(&child) = own.children.get(first).filter(|_| !rest.is_empty()) {
            return self.below(child, rest);
        }
        if own.defined.contains(first) {
            return BTreeSet::from([own.file]);
        }
        if !self.seen.insert((module, first.clone())) {
            return BTreeSet::new();
        }
        let found = match own.used.get(first) {
            Some(used) => self.files(module, &[used.as_slice(), rest].concat()),
            None => {
                let globs = own.globs.iter();
                globs
                    .flat_map(|glob| self.files(module, &[glob.as_slice(), path].concat()))
                    .collect()
            }
        };
        self.seen.remove(&(module, first.clone()));
        found
    }

    /// The files of all definitions of a module.
    fn everything(&self, module: usize) -> BTreeSet<usize> {
        let own = &self.krate.modules[module];
        let defines = !own.defined.is_empty();
        defines.then_some(own.file).into_iter().collect()
    }
}
