//! eBPF objects in rbpf, and in the kernel if permitted.

use crate::agreement::{SHAPES, agrees, forest_of, missing};
use crate::forests::{example, origin_of};
use crate::replay::files_of;
use dropcast_export::{EmittedFile, Vectors, export};
use dropcast_features::{Feature, FeatureSet};
use dropcast_verify::{Built, Comparison, Tool, VerifyError};
use std::fs;
use std::io::Write;
use std::path::Path;

#[test]
fn objects_agree() {
    for (seed, shape) in SHAPES.into_iter().chain([(128, 4, 4)]).enumerate() {
        agrees(&forest_of(shape, seed as u64), "ebpf", 5000);
    }
}

/// For any features, the code that keeps them compiles without warnings.
#[test]
fn every_feature_builds_without_warnings() {
    let alone = Feature::ALL.map(|feature| feature.name().to_owned());
    let together = ["rank,longest_gap", "carry4", "level4"];
    for names in alone.into_iter().chain(together.map(str::to_owned)) {
        let features: FeatureSet = names.parse().expect("known features");
        let target = "ebpf".parse().expect("a target");
        let files = files_of("m", "ebpf", &features, 25_200);
        match Built::from_files(&files, features.len(), target) {
            Err(error @ VerifyError::MissingTool { .. }) => {
                missing(&error);
                return;
            }
            built => drop(built.unwrap_or_else(|error| panic!("{names}: {error}"))),
        }
    }
}

/// Longer than rbpf's jumps, so it runs tree by tree there, but whole in the kernel.
#[test]
fn the_largest_agrees() {
    let forest = forest_of((128, 8, 12), 1);
    let built = Built::new(&forest, &origin_of(&forest, "m"), "ebpf".parse().expect("a target"));
    let mut built = match built {
        Err(error @ VerifyError::MissingTool { .. }) => {
            missing(&error);
            return;
        }
        built => built.expect("it builds"),
    };
    let vectors = Vectors::new(&forest, 11, 5000).expect("valid");
    let rows: Vec<Vec<u32>> = vectors.rows().iter().step_by(9).cloned().collect();
    for program in built.programs() {
        let mut comparison = Comparison::default();
        comparison.add(&forest, program.as_mut(), &rows).expect("it runs");
        assert_eq!(comparison.mismatches, 0, "{}: {:?}", program.name(), comparison.first);
        if program.name().contains("NOT run") {
            let ci = std::env::var("CI").is_ok_and(|ci| ci == "true");
            assert!(!ci || !program.name().contains("not installed"), "{}", program.name());
            writeln!(std::io::stderr(), "\n*** {} ***\n", program.name()).expect("stderr");
        }
    }
}

/// Builds the loader beside an object; `None`, with a notice, if a tool is missing.
pub(crate) fn loader(folder: &Path) -> Option<std::process::Command> {
    let gcc = Tool { command: "gcc", version_arguments: &["--version"], package: "gcc" };
    let gcc = gcc.find().map_err(|error| missing(&error)).ok()?;
    let source = include_str!("../../src/runners/ebpf/kernel.c");
    fs::write(folder.join("loader.c"), source).expect("written");
    let mut compile = gcc.in_folder(folder);
    let output = compile.args(["loader.c", "-o", "loader", "-lbpf"]).output().expect("it starts");
    if !output.status.success() {
        missing(&VerifyError::missing("libbpf", "libbpf-dev"));
        return None;
    }
    let mut loader = std::process::Command::new(folder.join("loader"));
    loader.current_dir(folder);
    Some(loader)
}

/// Whether the kernel ran it; prints a notice if not permitted here.
///
/// # Panics
/// If it is permitted and failed.
pub(crate) fn kernel_did(output: &std::process::Output) -> bool {
    let printed = String::from_utf8_lossy(&output.stderr);
    if output.status.code() == Some(77) {
        writeln!(std::io::stderr(), "\n*** NOT run in the kernel: {printed} ***\n")
            .expect("stderr");
        return false;
    }
    assert!(output.status.success(), "{printed}");
    true
}

/// With a default model (level4), one of the paper's features, and that of docs/dct.md.
#[test]
fn the_documented_program_loads() {
    let program = include_str!("../../../../docs/programs/features.bpf.c");
    let (forest, origin) = example();
    let target = "ebpf".parse().expect("a target");
    for files in [
        files_of("example", "ebpf", &FeatureSet::level4(), 25_200),
        files_of("example", "ebpf", &FeatureSet::paper4(), 25_200),
        export(&forest, &origin, target).expect("exportable"),
    ] {
        compiles_and_loads(files, program);
    }
}

fn compiles_and_loads(mut files: Vec<EmittedFile>, program: &str) {
    let clang = Tool { command: "clang", version_arguments: &["--version"], package: "clang" };
    let Ok(clang) = clang.find().map_err(|error| missing(&error)) else { return };
    let folder = tempfile::tempdir().expect("a temporary folder");
    files.push(EmittedFile { name: "program.c".to_owned(), bytes: program.as_bytes().to_vec() });
    for file in files {
        fs::write(folder.path().join(file.name), file.bytes).expect("written");
    }
    let mut compile = clang.in_folder(folder.path());
    compile.args(["-O2", "-g", "-target", "bpf", "-mcpu=v3", "-Wall", "-Wextra", "-Werror"]);
    let include = format!("-I/usr/include/{}-linux-gnu", std::env::consts::ARCH);
    let output = compile.args([include.as_str(), "-c", "program.c", "-o", "program.o"]).output();
    let output = output.expect("it starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let Some(mut loader) = loader(folder.path()) else { return };
    let output = loader.args(["program.o", "6", "load"]).output().expect("it starts");
    if kernel_did(&output) {
        let printed = String::from_utf8_lossy(&output.stdout);
        assert!(printed.contains("looked at by its verifier"), "{printed}");
    }
}
