//! The C and C++ of exports and pages has one style, `.clang-format`, and clang-tidy finds nothing of `.clang-tidy` in it.

use crate::device_code::{programs, source};
use crate::forests::example_of;
use crate::tools::{run, tool};
use dropcast_data::SwitchSpec;
use dropcast_export::{EmittedFile, Origin, export};
use std::fs;
use std::path::{Path, PathBuf};

/// The flags of code for the kernel.
const KERNEL: [&str; 4] = ["-ffreestanding", "-target", "bpf", "-mcpu=v3"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The files of a folder, and of those below, that are C or C++.
fn code_in(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            code_in(&path, files);
        } else if path.extension().is_some_and(|end| end == "h" || end == "c") {
            files.push(path);
        }
    }
}

#[test]
fn code_has_one_style() {
    let mut files = Vec::new();
    code_in(&source(""), &mut files);
    let exported = files.len();
    code_in(&root().join("docs/programs"), &mut files);
    assert!(exported > 5 && files.len() > exported + 3, "{files:?}");
    let Some(mut format) = tool("clang-format", &root()) else { return };
    run(format.args(["--dry-run", "-Werror"]).args(files));
}

/// What clang-tidy says of a file and the headers that it includes; nothing without it.
fn tidy(folder: &Path, file: &str, flags: &[&str]) -> Result<(), String> {
    let Some(mut tidy) = tool("clang-tidy", folder) else { return Ok(()) };
    let settings = root().join(".clang-tidy");
    tidy.arg("--quiet").arg(format!("--config-file={}", settings.display()));
    tidy.args([file, "--", "-Xclang", "-analyzer-opt-analyze-headers"]).args(flags);
    let output = tidy.output().expect("it starts");
    match output.status.success() {
        true => Ok(()),
        false => Err(format!("{file}: {}", String::from_utf8_lossy(&output.stdout))),
    }
}

/// The same, which must be nothing.
fn is_tidy(folder: &Path, file: &str, flags: &[&str]) {
    tidy(folder, file, flags).expect("nothing is found");
}

fn write(folder: &Path, files: Vec<EmittedFile>) {
    for file in files {
        fs::write(folder.join(file.name), file.bytes).expect("written");
    }
}

/// Two queues for a port, with or without bytes of their own.
fn switch(reserved_bytes: Vec<u32>) -> SwitchSpec {
    SwitchSpec {
        queues_per_port: 2,
        pushable: vec![true, false],
        shared: vec![true; 2],
        reserved_bytes,
        ..SwitchSpec::uniform(4, 10_000_000_000, 1_000_000, 8_000)
    }
}

/// The headers of the decision as they stand.
#[test]
#[ignore = "slow"]
fn nothing_is_found_in_the_headers() {
    let [tracker, decision] =
        ["tracker", "decision"].map(|of| format!("-I{}", source(of).display()));
    // Uniform rates, and bounded code with rates by port.
    for program in programs().into_iter().skip(1).step_by(2) {
        let folder = tempfile::tempdir().expect("a temporary folder");
        program.write(folder.path(), "c");
        is_tidy(folder.path(), "program.c", &["-std=c99", &tracker, &decision]);
    }
}

/// What exports write for a model and a switch, in C, C++ and for the kernel.
#[test]
#[ignore = "slow"]
fn nothing_is_found_in_exports() {
    for (features, reserved_bytes) in
        [("level4,rank,paper4", Vec::new()), ("cut1,longest_gap", vec![900, 0])]
    {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let (forest, origin) = example_of(features);
        let origin = Origin { switch: Some(switch(reserved_bytes)), ..origin };
        for target in ["c", "cpp", "ebpf"] {
            let files = export(&forest, &origin, target.parse().expect("a target"));
            write(folder.path(), files.expect("exportable"));
        }
        let page = fs::read_to_string(root().join("docs/programs/credence_buffer.h"));
        fs::write(folder.path().join("credence.cc"), page.expect("readable")).expect("written");
        let program = "#include \"example_decision.h\"\n";
        fs::write(folder.path().join("program.c"), program).expect("written");
        is_tidy(folder.path(), "program.c", &["-std=c99"]);
        is_tidy(folder.path(), "credence.cc", &["-std=c++17"]);
        is_tidy(folder.path(), "example_decision.bpf.c", &KERNEL);
    }
}

/// A mistake in an included header is found.
#[test]
fn a_mistake_is_found() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    if tool("clang-tidy", folder.path()).is_none() {
        return;
    }
    let header = "static inline int dropcast_wrong(int of)\n{\n    int never;\n\n    return never + of;\n}\n";
    fs::write(folder.path().join("dropcast_wrong.h"), header).expect("written");
    let program = "#include \"dropcast_wrong.h\"\n";
    fs::write(folder.path().join("program.c"), program).expect("written");
    let said = tidy(folder.path(), "program.c", &["-std=c99"]).expect_err("a mistake");
    assert!(said.contains("clang-analyzer-core"), "{said}");
}
