//! Every path that a crate's files mention.

use crate::modules::Modules;
use proc_macro2::{TokenStream, TokenTree};
use syn::UseTree;
use syn::visit::{self, Visit};

/// Every path in the source, with its module. The last segment of a glob is `*`.
pub(crate) fn paths(krate: &Modules) -> Vec<(usize, Vec<String>)> {
    let mut all = Vec::new();
    for (at, module) in krate.modules.iter().enumerate() {
        let mut found = ImportPaths(Vec::new());
        module.items.iter().for_each(|item| found.visit_item(item));
        all.extend(found.0.into_iter().map(|path| (at, path)));
    }
    all
}

struct ImportPaths(Vec<Vec<String>>);

impl<'ast> Visit<'ast> for ImportPaths {
    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        self.add_tree(&item.tree, &mut Vec::new());
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        self.0.push(path.segments.iter().map(|segment| segment.ident.to_string()).collect());
        visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, item: &'ast syn::Macro) {
        self.add_tokens(item.tokens.clone());
        visit::visit_macro(self, item);
    }
}

impl ImportPaths {
    fn add_tree(&mut self, tree: &UseTree, path: &mut Vec<String>) {
        let mut leaf = |name: Option<String>| {
            self.0.push(path.iter().cloned().chain(name).collect());
        };
        match tree {
            UseTree::Path(tree) => {
                path.push(tree.ident.to_string());
                self.add_tree(&tree.tree, path);
                path.pop();
            }
            UseTree::Name(tree) if tree.ident == "self" => leaf(None),
            UseTree::Name(tree) => leaf(Some(tree.ident.to_string())),
            UseTree::Rename(tree) => leaf(Some(tree.ident.to_string())),
            UseTree::Glob(_) => leaf(Some("*".to_owned())),
            UseTree::Group(group) => {
                group.items.iter().for_each(|tree| self.add_tree(tree, path));
            }
        }
    }

    /// Collects everything that looks like a path: names separated by `::`.
    fn add_tokens(&mut self, tokens: TokenStream) {
        let mut path: Vec<String> = Vec::new();
        let mut colons = 0;
        for token in tokens {
            match token {
                TokenTree::Punct(punct) if punct.as_char() == ':' => colons += 1,
                TokenTree::Ident(ident) => {
                    if colons != 2 && !path.is_empty() {
                        self.0.push(std::mem::take(&mut path));
                    }
                    path.push(ident.to_string());
                    colons = 0;
                }
                other => {
                    if !path.is_empty() {
                        self.0.push(std::mem::take(&mut path));
                    }
                    colons = 0;
                    if let TokenTree::Group(group) = other {
                        self.add_tokens(group.stream());
                    }
                }
            }
        }
        if !path.is_empty() {
            self.0.push(path);
        }
    }
}
