//! The rule's XDP program in the kernel.

use crate::decision::in_ebpf::{build_loader, run};
use crate::replay::found;
use dropcast_export::EmittedFile;
use dropcast_verify::Tool;
use std::fs;

const CLANG: Tool = Tool { command: "clang", version_arguments: &["--version"], package: "clang" };

/// The verdicts of the program; `None` if a tool is missing or the kernel does not permit it.
pub(crate) fn decide(files: &[EmittedFile], records: &[[u32; 6]]) -> Option<Vec<u8>> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for file in files {
        fs::write(folder.path().join(&file.name), &file.bytes).expect("written");
    }
    let mut compile = found(CLANG)?.in_folder(folder.path());
    compile.args(["-O2", "-ffreestanding", "-target", "bpf", "-mcpu=v3"]);
    compile.args(["-Wall", "-Wextra", "-Werror", "-c", "dropcast_rule.bpf.c"]);
    compile.args(["-o", "dropcast_rule.bpf.o"]);
    let output = compile.output().expect("it starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    build_loader(folder.path(), include_str!("kernel.c"))?;
    run(folder.path(), records, false)
}
