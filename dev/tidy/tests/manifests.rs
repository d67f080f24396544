//! What the crates say of themselves, and whether one that is for devices builds without the others.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use toml::{Table, Value};

/// What registries show and search.
const DESCRIBED: [&str; 5] = ["description", "readme", "keywords", "categories", "license"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("a folder").to_owned()
}

fn manifest(folder: &Path) -> Table {
    let text = fs::read_to_string(folder.join("Cargo.toml")).expect("a crate has a manifest");
    text.parse().expect("a manifest is TOML")
}

fn members() -> Vec<String> {
    let workspace = manifest(&root())["workspace"].clone();
    let names = workspace["members"].as_array().expect("a list").clone();
    names.iter().filter_map(Value::as_str).map(str::to_owned).collect()
}

/// Copies the files of a folder; links are followed.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a folder can be made");
    for entry in fs::read_dir(from).expect("a folder is read") {
        let entry = entry.expect("a folder is read");
        let (path, copied) = (entry.path(), to.join(entry.file_name()));
        if path.is_dir() {
            copy(&path, &copied);
        } else {
            fs::copy(&path, &copied).expect("a file is copied");
        }
    }
}

#[test]
fn every_crate_is_described() {
    let lacking = |name: &String| {
        let package = manifest(&root().join(name))["package"].clone();
        DESCRIBED.iter().any(|field| package.get(field).is_none())
    };
    assert_eq!(members().into_iter().filter(lacking).collect::<Vec<_>>(), Vec::<String>::new());
}

#[test]
fn published_crates_are_those_of_the_support_statement_and_need_no_other() {
    let published = |folder: &String| {
        let package = manifest(&root().join(folder))["package"].clone();
        package.get("publish").is_none().then(|| package["name"].as_str().map(str::to_owned))?
    };
    let folders = members().into_iter().filter(|folder| published(folder).is_some());
    let folders: Vec<String> = folders.collect();
    let names: BTreeSet<String> = folders.iter().filter_map(published).collect();
    let page = fs::read_to_string(root().join("SUPPORT.md")).expect("a page");
    let line = page.lines().find(|line| line.contains("`dropcast-runtime`")).expect("a list");
    let listed = line.split('`').filter(|word| word.starts_with("dropcast-"));
    assert_eq!(names, listed.map(str::to_owned).collect());
    for folder in &folders {
        assert!(built_on(folder).iter().all(|on| names.contains(on)), "{folder}");
        let readme = &manifest(&root().join(folder))["package"]["readme"];
        let is_there = |path: &str| root().join(folder).join(path).exists();
        assert!(readme.as_str().is_none_or(is_there), "{folder}: {readme}");
    }
}

#[test]
#[ignore = "slow"]
fn the_oracle_passes_its_tests_wherever_it_is_copied_to() {
    let elsewhere = tempfile::tempdir().unwrap();
    let folder = elsewhere.path().join("vendored-oracle");
    copy(&root().join("runtime"), &folder);
    let cargo = std::env::var_os("CARGO").expect("cargo runs tests");
    let tested = Command::new(cargo)
        .args(["test", "--offline"])
        .current_dir(&folder)
        .env("CARGO_TARGET_DIR", elsewhere.path().join("target"))
        .output()
        .expect("cargo starts");
    assert!(tested.status.success(), "{}", String::from_utf8_lossy(&tested.stderr));
}

#[test]
fn the_oracle_says_of_itself_what_the_workspace_says() {
    let (all, oracle) = (manifest(&root())["workspace"].clone(), manifest(&root().join("runtime")));
    for field in ["version", "edition", "rust-version", "license"] {
        assert_eq!(oracle["package"][field], all["package"][field], "{field}");
    }
    assert_eq!(oracle["lints"], all["lints"]);
    let proptest = |of: &Value| of["proptest"].clone();
    assert_eq!(proptest(&oracle["dev-dependencies"]), proptest(&all["dependencies"]));
}

/// The crates of this workspace that a crate is built on.
fn built_on(folder: &str) -> Vec<String> {
    let manifest = manifest(&root().join(folder));
    let dependencies = manifest.get("dependencies").and_then(Value::as_table);
    let names = dependencies.into_iter().flat_map(Table::keys);
    names.filter(|name| name.starts_with("dropcast")).cloned().collect()
}

#[test]
fn dependencies_point_one_way_and_the_pipeline_does_not_know_the_lab() {
    let (members, mut known) = (members(), BTreeSet::new());
    for folder in &members {
        let name = manifest(&root().join(folder))["package"]["name"].as_str().map(str::to_owned);
        let unknown = built_on(folder).into_iter().find(|on| !known.contains(on));
        assert_eq!(
            unknown, None,
            "{folder} is built on what comes after it in Cargo.toml's members"
        );
        known.insert(name.expect("a name"));
    }
    let lab = ["dropcast-fabric", "dropcast-lab", "dropcast-linux", "dropcast-ndt"];
    let default = manifest(&root())["workspace"]["default-members"].clone();
    for folder in default.as_array().expect("a list").iter().filter_map(Value::as_str) {
        assert!(!built_on(folder).iter().any(|on| lab.contains(&on.as_str())), "{folder}");
    }
    let others = members.iter().filter(|name| {
        !default.as_array().expect("a list").contains(&Value::String((*name).clone()))
    });
    let others: Vec<&str> = others.map(String::as_str).collect();
    assert_eq!(
        others,
        ["data/objects", "lab/fabric", "lab/ndt", "lab/linux", "lab", "python", "examples"]
    );
}

/// The crates that a build of these packages compiles, each with its features.
fn compiled(selection: &[&str]) -> BTreeSet<String> {
    let cargo = std::env::var_os("CARGO").expect("cargo runs tests");
    let tree = Command::new(cargo)
        .args(["tree", "--locked", "--prefix", "none", "--format", "{p} [{f}]"])
        .args(selection)
        .current_dir(root())
        .output()
        .expect("cargo starts");
    assert!(tree.status.success(), "{}", String::from_utf8_lossy(&tree.stderr));
    let text = String::from_utf8(tree.stdout).expect("cargo writes UTF-8");
    text.lines().map(|line| line.trim_end_matches(" (*)").to_owned()).collect()
}

/// A crate with other features is compiled again, with all that need it: minutes. What is missing belongs in the
/// command's manifest, under "Not used here".
#[test]
fn tests_and_the_wheel_compile_no_crate_of_the_command_again() {
    let all = compiled(&["--workspace"]);
    let python = ["-p", "dropcast-python", "--features", "object-store", "-e", "normal,build"];
    // As README's two commands and the gate's second half build.
    let lab = [
        "-p",
        "dropcast-lab",
        "-p",
        "dropcast-fabric",
        "-p",
        "dropcast-linux",
        "-p",
        "dropcast-ndt",
    ];
    for selection in [&["-e", "normal,build"][..], &[], &lab, &python] {
        let others: Vec<String> = compiled(selection).difference(&all).cloned().collect();
        let again = others.iter().filter(|name| !name.starts_with("dropcast-python "));
        assert_eq!(again.collect::<Vec<_>>(), Vec::<&String>::new(), "{selection:?}");
    }
}

#[test]
fn dependencies_inside_the_workspace_have_its_version() {
    let all = manifest(&root())["workspace"].clone();
    let dependencies = all["dependencies"].as_table().expect("a table");
    let ours: Vec<_> = dependencies.iter().filter(|(_, of)| of.get("path").is_some()).collect();
    assert!(!ours.is_empty());
    for (name, of) in ours {
        assert_eq!(of.get("version"), Some(&all["package"]["version"]), "{name}");
    }
}
