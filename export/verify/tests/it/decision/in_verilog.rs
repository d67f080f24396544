//! The exported state machine in a simulator.

use super::{Model, files_of};
use crate::replay::found;
use dropcast_data::SwitchSpec;
use dropcast_export::EmittedFile;
use dropcast_verify::{Built, Tool, VerifyError};
use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;
use tempfile::TempDir;

pub(crate) const ICARUS: Tool =
    Tool { command: "iverilog", version_arguments: &["-V"], package: "iverilog" };

pub(crate) const VERILATOR: Tool =
    Tool { command: "verilator", version_arguments: &["--version"], package: "verilator" };

/// Icarus Verilog is an interpreter; it gets this many packets.
const FEW: usize = 1500;

/// The verdicts of the module, of the first packets if the simulator is slow; `None` without it.
pub(crate) fn decide(
    files: &[EmittedFile],
    simulator: Tool,
    records: &[[u32; 6]],
    packets: usize,
    falls_back: bool,
) -> Option<Vec<u8>> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path();
    for file in files {
        fs::write(path.join(&file.name), &file.bytes).expect("written");
    }
    let records =
        if simulator.command == "iverilog" { &records[..records.len().min(FEW)] } else { records };
    let mut text = String::new();
    for [kind, port, queue, size_bytes, low, high] in records {
        writeln!(text, "{kind:x} {port:x} {queue:x} {size_bytes:x} {high:x}{low:08x}")
            .expect("text");
    }
    fs::write(path.join("packets.hex"), text).expect("written");
    if simulator.command == "verilator" {
        lint(path, files)?;
    }
    let sources = modules(files).chain(["dropcast_decision_tb.v", "m_decision_tb.v"]);
    let mut run = built(simulator, path, "m_decision_tb", &[("PACKETS", packets)], sources)?;
    run.args(["+packets=packets.hex", "+verdicts=verdicts"]);
    let printed = succeed(run.args(falls_back.then_some("+fall_back")));
    assert!(!printed.contains("ERROR"), "{packets} places: {printed}");
    let stderr = &mut std::io::stderr();
    writeln!(stderr, "{}: {} calls, {}", simulator.command, records.len(), printed.trim())
        .expect("stderr is writable");
    let verdicts = read(&path.join("verdicts"));
    let arrivals = records.iter().filter(|record| record[0] == 0).count();
    assert_eq!(verdicts.len(), arrivals);
    Some(verdicts)
}

/// Lints the module as it is shipped, without a testbench around it and with its own parameters: no warning of any kind. `None`
/// without the tool.
fn lint(path: &Path, files: &[EmittedFile]) -> Option<()> {
    let mut lint = found(VERILATOR)?.in_folder(path);
    lint.args(["--lint-only", "-Wall", "--top-module", "m_decision"]).args(modules(files));
    succeed(&mut lint);
    Some(())
}

/// A program that simulates a testbench with parameters, in the folder of its sources; `None` without the simulator.
pub(crate) fn built<'a>(
    simulator: Tool,
    path: &Path,
    top: &str,
    parameters: &[(&str, usize)],
    sources: impl IntoIterator<Item = &'a str>,
) -> Option<Command> {
    let mut build = found(simulator)?.in_folder(path);
    let is_interpreter = simulator.command == "iverilog";
    let mut run = if is_interpreter {
        build.args(["-g2001", "-Wall", "-s", top, "-o", "simulate"]);
        build.args(parameters.iter().map(|(name, value)| format!("-P{top}.{name}={value}")));
        build.args(sources);
        let mut run = Command::new("vvp");
        run.args(["-n", "simulate"]);
        run
    } else {
        with_runtime(&path.join("built"));
        build.args(["--binary", "--timing", "-Wall", "-Mdir", "built"]);
        build.args(["-MAKEFLAGS", "OPT_FAST=-O1 OPT_SLOW=-O0 OPT_GLOBAL=-O1"]);
        build.args(["-o", "simulate", "--top-module", top]);
        build.args(parameters.iter().map(|(name, value)| format!("-G{name}={value}")));
        build.args(sources);
        Command::new(path.join("built/simulate"))
    };
    succeed(&mut build);
    if !is_interpreter {
        RUNTIME.get_or_init(|| {
            let folder = tempfile::tempdir().expect("a temporary folder");
            copy_runtime(&path.join("built"), folder.path());
            folder
        });
    }
    run.current_dir(path);
    Some(run)
}

/// Verilator's own objects, which are the same in every build and take most of its time.
static RUNTIME: OnceLock<TempDir> = OnceLock::new();

/// A folder for a build, with these objects if there was one before.
fn with_runtime(built: &Path) {
    fs::create_dir(built).expect("a new folder");
    if let Some(runtime) = RUNTIME.get() {
        copy_runtime(runtime.path(), built);
    }
}

fn copy_runtime(from: &Path, to: &Path) {
    for entry in fs::read_dir(from).expect("a folder") {
        let (path, name) = entry.map(|entry| (entry.path(), entry.file_name())).expect("a file");
        let is_object = path.extension().is_some_and(|extension| extension == "o");
        if is_object && name.to_string_lossy().starts_with("verilated") {
            fs::copy(&path, to.join(name)).expect("copied");
        }
    }
}

/// The files of the decision.
fn modules(files: &[EmittedFile]) -> impl Iterator<Item = &str> {
    let parts = ["m_predictor.v", "dropcast_average.v", "dropcast_decision.v", "m_decision.v"];
    files.iter().map(|file| file.name.as_str()).filter(move |name| parts.contains(name))
}

/// Checks with Yosys that a module is logic and memories.
pub(crate) fn synthesisable(files: &[EmittedFile]) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for file in files {
        fs::write(folder.path().join(&file.name), &file.bytes).expect("written");
    }
    let modules: Vec<&str> = modules(files).collect();
    is_logic_and_memories(folder.path(), &modules, "m_decision");
}

/// Checks with Yosys that the modules of a folder are.
pub(crate) fn is_logic_and_memories(folder: &Path, modules: &[&str], top: &str) {
    const YOSYS: Tool = Tool { command: "yosys", version_arguments: &["-V"], package: "yosys" };
    let Some(yosys) = found(YOSYS) else { return };
    let script = format!(
        "read_verilog {}; hierarchy -check -top {top}; proc; flatten; opt -fast; memory -nomap; \
         check -assert; select -assert-none t:$dlatch t:$_DLATCH_*; select -assert-min 1 t:$mem_v2",
        modules.join(" ")
    );
    succeed(yosys.in_folder(folder).args(["-q", "-p", &script]));
}

pub(crate) fn read(path: &Path) -> Vec<u8> {
    let text = fs::read_to_string(path).expect("written by the simulation");
    text.lines().map(|line| line.parse().expect("a verdict")).collect()
}

pub(crate) fn succeed(command: &mut Command) -> String {
    let output = command.output().expect("it starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {said}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// As `dropcast verify --switch` has it done: a warning of the decision's module is an error.
#[test]
fn the_runner_lints_the_whole_decision() {
    let spec = SwitchSpec::uniform(4, 10_000_000_000, 60_000, 32_000);
    let model = Model::random(&spec, "level4", 1);
    let mut files = files_of(&model, "verilog");
    let target = "verilog".parse().expect("a target");
    let built = |files: &[EmittedFile]| Built::from_files(files, model.features.len(), target);
    if found(VERILATOR).is_none() {
        return;
    }
    let mut right = built(&files).expect("no warning");
    let name = right.programs()[0].name().to_owned();
    assert!(name.contains("m_decision.v linted by Verilator"), "{name}");
    let decision = files.iter_mut().find(|file| file.name == "m_decision.v").expect("exported");
    let text = String::from_utf8(decision.bytes.clone()).expect("text");
    let (before, after) = text.rsplit_once("endmodule").expect("a module");
    decision.bytes = format!("{before}wire [3:0] narrow = 8'd255;\nendmodule{after}").into();
    match built(&files) {
        Err(error @ VerifyError::ToolFailed { .. }) => {
            let message = format!("{error:?}");
            assert!(message.contains("linting the Verilog of the decision"), "{message}");
            assert!(message.contains("WIDTH"), "{message}");
        }
        other => panic!("{:?}", other.map(drop)),
    }
}
