//! No two modules of a crate import each other, each with all that is below it.

use dropcast_tidy::{Cycle, import_cycles};
use std::path::{Path, PathBuf};

/// The folder of every crate, as the workspace names it, and its manifest.
fn crates() -> Vec<(PathBuf, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("the root");
    let read = |folder: &Path| {
        std::fs::read_to_string(folder.join("Cargo.toml")).expect("a crate has a manifest")
    };
    let workspace: toml::Table = read(root).parse().expect("a manifest is TOML");
    let members = workspace["workspace"]["members"].as_array().expect("a list");
    let folders = members.iter().map(|name| name.as_str().expect("a folder"));
    folders.map(|name| (PathBuf::from(name), read(&root.join(name)))).collect()
}

/// A registry and its entries may import each other if there is no other way; none does: the type of
/// an entry is in one file, the list of all entries in another (`export/src/target.rs` and
/// `targets.rs`).
#[test]
fn no_two_modules_import_each_other() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("the root");
    // The programs of `examples` are a file each.
    for (name, _) in crates().into_iter().filter(|(name, _)| name != Path::new("examples")) {
        let cycles = import_cycles(&root.join(&name).join("src")).unwrap();
        assert!(cycles.is_empty(), "{}: {cycles:#?}", name.display());
    }
}

/// The cycles of a crate with these files.
fn cycles(files: &[(&str, &str)]) -> Vec<Vec<String>> {
    let folder = tempfile::tempdir().expect("a crate can be written and read");
    for (name, text) in files {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().expect("a folder"))
            .expect("a crate can be written and read");
        std::fs::write(path, text).expect("a crate can be written and read");
    }
    let found = import_cycles(folder.path()).expect("a crate can be written and read");
    let names =
        |cycle: Cycle| cycle.modules.into_iter().map(|file| file.display().to_string()).collect();
    found.into_iter().map(names).collect()
}

#[test]
fn a_module_that_only_reexports_is_in_no_cycle() {
    let found = cycles(&[
        ("lib.rs", "mod a; mod b; pub use a::A; pub use b::B;"),
        ("a.rs", "pub struct A;"),
        ("b.rs", "use crate::A; pub struct B(pub A);"),
    ]);
    assert_eq!(found, Vec::<Vec<String>>::new());
}

#[test]
fn a_module_that_defines_what_its_children_import_is_in_one() {
    let found = cycles(&[
        ("lib.rs", "mod a; pub use a::A; pub struct Root;"),
        ("a.rs", "use super::Root; pub struct A(pub Root);"),
    ]);
    assert_eq!(found, [["lib.rs", "a.rs"]]);
}

#[test]
fn cycles_are_found_through_reexports_globs_and_plain_paths() {
    let lib = "mod a; mod b; mod c; pub use self::a::*; pub use b::B;";
    let found = cycles(&[
        ("lib.rs", lib),
        ("a/mod.rs", "pub fn a() { let _ = crate::B; }"),
        ("b.rs", "use crate::c; pub struct B; fn b() { let _ = [c::deep::C]; }"),
        ("c.rs", "pub mod deep { pub struct C; } fn c() { assert!(true, \"{}\", crate::a()); }"),
    ]);
    assert_eq!(found, [["a/mod.rs", "b.rs", "c.rs"]]);
}

/// `input` and `table` import nothing of each other's files, but of each other's folders.
#[test]
fn a_folder_is_one_with_its_module() {
    let files = [
        ("input.rs", "mod hash; pub use hash::Hash; use crate::MAGIC; fn f() { MAGIC; }"),
        ("input/hash.rs", "pub struct Hash;"),
        ("table.rs", "mod footer; pub use footer::MAGIC; use crate::Hash; pub struct Table(Hash);"),
        ("table/footer.rs", "pub const MAGIC: u8 = 0;"),
    ];
    for lib in [
        "mod input; mod table; pub use input::Hash; pub use table::MAGIC;",
        "mod input; mod table; pub use {input::*, table::*};",
    ] {
        let found = cycles(&[&[("lib.rs", lib)], &files[..]].concat());
        assert_eq!(found, [["input.rs", "table.rs"]]);
    }
}

#[test]
fn tests_may_import_what_imports_what_they_test() {
    let found = cycles(&[
        ("lib.rs", "mod a; mod b;"),
        ("a.rs", "pub struct A; #[cfg(test)] mod tests;"),
        ("a/tests.rs", "use super::*; use crate::b::B; fn test() -> B { B(A) }"),
        ("b.rs", "use crate::a::A; pub struct B(pub A);"),
    ]);
    assert_eq!(found, Vec::<Vec<String>>::new());
}
