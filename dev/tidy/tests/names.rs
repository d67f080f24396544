//! One public name for one thing: no two crates have a public type of the same name.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use syn::{Item, Visibility};

/// The source files of a folder; tests are no part of what is public.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries =
        fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("a file").path());
    let below = entries.map(|path| if path.is_dir() { files(&path) } else { vec![path] });
    below.flatten().filter(|path| path.extension().is_some_and(|end| end == "rs")).collect()
}

fn public_types(items: &[Item]) -> Vec<String> {
    let found = items.iter().flat_map(|item| {
        let (visibility, name) = match item {
            Item::Enum(item) => (&item.vis, &item.ident),
            Item::Struct(item) => (&item.vis, &item.ident),
            Item::Trait(item) => (&item.vis, &item.ident),
            Item::Type(item) => (&item.vis, &item.ident),
            Item::Union(item) => (&item.vis, &item.ident),
            Item::Mod(item) => {
                return item.content.iter().flat_map(|(_, items)| public_types(items)).collect();
            }
            _ => return Vec::new(),
        };
        let is_public = matches!(visibility, Visibility::Public(_));
        is_public.then(|| name.to_string()).into_iter().collect()
    });
    found.collect()
}

#[test]
fn no_two_crates_have_a_public_type_of_the_same_name() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("the root");
    let manifest = fs::read_to_string(root.join("Cargo.toml")).expect("a manifest");
    let manifest: toml::Table = manifest.parse().expect("TOML");
    let members = manifest["workspace"]["members"].as_array().expect("a list");
    let mut crates_of: BTreeMap<String, &str> = BTreeMap::new();
    // The programs of `examples` are a file each.
    for member in members.iter().filter_map(|name| name.as_str()).filter(|name| *name != "examples")
    {
        for file in files(&root.join(member).join("src")) {
            let text = fs::read_to_string(&file).expect("text");
            let code = syn::parse_file(&text).expect("code");
            for name in public_types(&code.items) {
                let other = *crates_of.entry(name.clone()).or_insert(member);
                assert_eq!(other, member, "both have a public type {name}");
            }
        }
    }
    assert_eq!(crates_of.get("Verdict"), Some(&"reports/measure"));
}
