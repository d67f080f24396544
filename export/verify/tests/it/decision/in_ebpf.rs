//! The exported XDP program in the kernel.

use crate::agreement::missing;
use crate::ebpf::kernel_did;
use crate::replay::found;
use dropcast_data::SwitchSpec;
use dropcast_export::EmittedFile;
use dropcast_verify::{Tool, VerifyError};
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

const CLANG: Tool = Tool { command: "clang", version_arguments: &["--version"], package: "clang" };
const GCC: Tool = Tool { command: "gcc", version_arguments: &["--version"], package: "gcc" };

/// The verdicts of the program; `None` if a tool is missing or the kernel does not permit it.
pub(crate) fn decide(
    files: &[EmittedFile],
    spec: &SwitchSpec,
    records: &[[u32; 6]],
    packets: Option<u32>,
    falls_back: bool,
) -> Option<Vec<u8>> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    compile(folder.path(), files, packets)?;
    build_decision_loader(folder.path(), spec, include_str!("kernel.c"))?;
    run(folder.path(), records, falls_back.then_some("fall-back").as_slice())
}

/// The verdicts of the program, and from record `half` on those of another one over its pinned maps; `Some(Err)` if the kernel
/// refuses that, `None` if a tool is missing or the kernel does not permit eBPF.
pub(crate) fn decide_by_turns(
    files: [&[EmittedFile]; 2],
    spec: &SwitchSpec,
    records: &[[u32; 6]],
    half: usize,
) -> Option<Result<Vec<u8>, ()>> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    compile_both(folder.path(), files)?;
    build_decision_loader(folder.path(), spec, include_str!("kernel.c"))?;
    let output = output_of(folder.path(), records, &["next/m_decision.bpf.o", &half.to_string()]);
    if output.status.code() == Some(REFUSED) {
        return Some(Err(()));
    }
    kernel_did(&output).then_some(Ok(output.stdout))
}

/// Whether each arrival is passed on at an interface to which two programs over the same maps are attached by turns all the time;
/// `None` if a tool is missing or the kernel does not permit it.
pub(crate) fn decide_at_an_interface(
    files: [&[EmittedFile]; 2],
    spec: &SwitchSpec,
    records: &[[u32; 6]],
) -> Option<Vec<bool>> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    compile_both(folder.path(), files)?;
    build_decision_loader(folder.path(), spec, include_str!("interface.c"))?;
    let answers = run(folder.path(), records, &["next/m_decision.bpf.o"])?;
    Some(answers.into_iter().map(|passed| passed == 1).collect())
}

/// The loader's exit status if the kernel refuses another program over the maps of the first.
const REFUSED: i32 = 5;

/// Compiles the decision; `None` without clang.
fn compile(folder: &Path, files: &[EmittedFile], packets: Option<u32>) -> Option<()> {
    let clang = found(CLANG)?;
    for file in files {
        fs::write(folder.join(&file.name), &file.bytes).expect("written");
    }
    let mut compile = clang.in_folder(folder);
    compile.args(["-O2", "-g", "-target", "bpf", "-mcpu=v3", "-Wall", "-Wextra", "-Werror", "-c"]);
    compile.args(packets.map(|packets| format!("-DM_PACKETS={}u", packets.next_power_of_two())));
    compile.args(["m_decision.bpf.c", "-o", "m_decision.bpf.o"]);
    let output = compile.output().expect("it starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(())
}

/// Compiles the decisions of two models, the second in the folder `next`.
fn compile_both(folder: &Path, files: [&[EmittedFile]; 2]) -> Option<()> {
    compile(folder, files[0], None)?;
    fs::create_dir(folder.join("next")).expect("a new folder");
    compile(&folder.join("next"), files[1], None)
}

fn build_decision_loader(folder: &Path, spec: &SwitchSpec, text: &str) -> Option<()> {
    let rates: Vec<String> = spec.line_rate_bps.iter().map(|rate| format!("{rate}u")).collect();
    let loader = [include_str!("frames.h"), text]
        .concat()
        .replace("SWITCH_PORTS", &spec.ports().to_string())
        .replace("SWITCH_QUEUES", &spec.queues_per_port.to_string())
        .replace("SWITCH_BUFFER", &spec.buffer_bytes.to_string())
        .replace("SWITCH_RTT", &spec.base_rtt_ns.to_string())
        .replace("LINE_RATES", &rates.join(", "));
    build_loader(folder, &loader)
}

/// Compiles a program that loads another into the kernel; `None` without gcc or libbpf.
pub(crate) fn build_loader(folder: &Path, text: &str) -> Option<()> {
    fs::write(folder.join("loader.c"), text).expect("written");
    let mut compile = found(GCC)?.in_folder(folder);
    compile.args(["-O1", "-Wall", "-Wextra", "-pthread", "loader.c", "-o", "loader", "-lbpf"]);
    let output = compile.output().expect("it starts");
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(said.contains("bpf/libbpf.h: No such file"), "{said}");
        missing(&VerifyError::missing("libbpf", "libbpf-dev"));
        return None;
    }
    Some(())
}

/// Runs it on records; `None` if the kernel does not permit it.
pub(crate) fn run<const WORDS: usize>(
    folder: &Path,
    records: &[[u32; WORDS]],
    arguments: &[&str],
) -> Option<Vec<u8>> {
    let output = output_of(folder, records, arguments);
    if !kernel_did(&output) {
        return None;
    }
    std::io::stderr().write_all(&output.stderr).expect("stderr is writable");
    Some(output.stdout)
}

fn output_of<const WORDS: usize>(
    folder: &Path,
    records: &[[u32; WORDS]],
    arguments: &[&str],
) -> Output {
    let bytes: Vec<u8> = records.iter().flatten().flat_map(|word| word.to_ne_bytes()).collect();
    fs::write(folder.join("records"), bytes).expect("written");
    let mut loader = Command::new(folder.join("loader"));
    loader.args(arguments).current_dir(folder);
    loader.stdin(fs::File::open(folder.join("records")).expect("written")).stdout(Stdio::piped());
    loader.output().expect("it starts")
}
