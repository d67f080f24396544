//! The drivers that come with a whole decision, compiled and fed with packets.

use crate::compiled::Language;
use crate::error::io_error;
use crate::runners::{c, cpp};
use crate::tool::{checked, run};
use crate::{Tool, VerifyError, pipe};
use dropcast_export::{EmittedFile, Target, TargetKind};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What a driver says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Driven {
    /// The compiler.
    pub program: String,
    /// A line for each packet that arrives.
    pub verdicts: String,
}

const RUSTC: Tool = Tool { command: "rustc", version_arguments: &["--version"], package: "rustc" };

/// The crate that a decision in Rust runs in.
const RUNTIME: [(&str, &str); 16] = [
    ("average.rs", include_str!("../../../runtime/src/average.rs")),
    ("checksum.rs", include_str!("../../../runtime/src/checksum.rs")),
    ("classes.rs", include_str!("../../../runtime/src/classes.rs")),
    ("credence.rs", include_str!("../../../runtime/src/credence.rs")),
    ("decision.rs", include_str!("../../../runtime/src/decision.rs")),
    ("drift.rs", include_str!("../../../runtime/src/drift.rs")),
    ("flow.rs", include_str!("../../../runtime/src/flow.rs")),
    ("drop_oracle.rs", include_str!("../../../runtime/src/drop_oracle.rs")),
    ("layout.rs", include_str!("../../../runtime/src/layout.rs")),
    ("lib.rs", include_str!("../../../runtime/src/lib.rs")),
    ("memory.rs", include_str!("../../../runtime/src/memory.rs")),
    ("row.rs", include_str!("../../../runtime/src/row.rs")),
    ("service.rs", include_str!("../../../runtime/src/service.rs")),
    ("switch_constants.rs", include_str!("../../../runtime/src/switch_constants.rs")),
    ("table.rs", include_str!("../../../runtime/src/table.rs")),
    ("virtual_lqd.rs", include_str!("../../../runtime/src/virtual_lqd.rs")),
];

/// Compiles the driver among the files of a whole decision with each installed compiler, and asks it about packets.
///
/// # Errors
/// If the target has no driver, none of its compilers is installed, or the driver is not compiled or fails.
pub fn drive(
    files: &[EmittedFile],
    target: Target,
    packets_csv: &str,
) -> Result<Vec<Driven>, VerifyError> {
    let made = tempfile::Builder::new().prefix("dropcast-").tempdir();
    let folder = made.map_err(io_error(&std::env::temp_dir(), "take a temporary folder"))?;
    for file in files {
        write(&folder.path().join(&file.name), &file.bytes)?;
    }
    let driver = |ending: &str| {
        let file = files.iter().find(|file| file.name.ends_with(ending));
        let problem = || VerifyError::BadFile {
            file: format!("*{ending}"),
            problem: "is missing".to_owned(),
        };
        file.map(|file| String::from_utf8_lossy(&file.bytes).into_owned()).ok_or_else(problem)
    };
    let programs = match target.kind() {
        TargetKind::C => compiled(&c::LANGUAGE, folder.path(), &driver("_driver.c")?)?,
        TargetKind::Ebpf => {
            let language = Language { flags: ["-std=gnu99", "-O2"], ..c::LANGUAGE };
            compiled(&language, folder.path(), &driver("_bpf_driver.c")?)?
        }
        TargetKind::Cpp => compiled(&cpp::LANGUAGE, folder.path(), &driver("_driver.cc")?)?,
        TargetKind::Dct => vec![in_rust(folder.path(), &driver("_driver.rs")?)?],
        TargetKind::Json
        | TargetKind::Onnx
        | TargetKind::P4
        | TargetKind::Vectors
        | TargetKind::Verilog => {
            return Err(VerifyError::NoRunner("no driver asks its whole decision"));
        }
    };
    let ask = |(program, executable): (String, PathBuf)| {
        let command = &mut Command::new(executable);
        let printed = checked(pipe::fed(command, packets_csv.as_bytes())?, command, "deciding")?;
        Ok(Driven { program, verdicts: String::from_utf8_lossy(&printed).into_owned() })
    };
    programs.into_iter().map(ask).collect()
}

fn compiled(
    language: &Language,
    folder: &Path,
    source: &str,
) -> Result<Vec<(String, PathBuf)>, VerifyError> {
    let compilers = Tool::find_any(&language.compilers)?;
    let programs = compilers.iter().map(|compiler| {
        let program = language.compile(folder, "driver", source, compiler, &[])?;
        Ok((program.name, program.executable))
    });
    programs.collect()
}

fn in_rust(folder: &Path, source: &str) -> Result<(String, PathBuf), VerifyError> {
    let rustc = RUSTC.find()?;
    let runtime = folder.join("runtime");
    fs::create_dir(&runtime).map_err(io_error(&runtime, "be made"))?;
    for (name, text) in RUNTIME {
        write(&runtime.join(name), text.as_bytes())?;
    }
    write(&folder.join("driver.rs"), source.as_bytes())?;
    let compile = |arguments: &[&str]| {
        let mut command = rustc.in_folder(folder);
        command.args(["--edition", "2024", "-O", "--cap-lints", "allow"]).args(arguments);
        run(&mut command, "compiling the decision in Rust")
    };
    compile(&["--crate-type", "rlib", "--crate-name", "dropcast_runtime", "runtime/lib.rs"])?;
    compile(&[
        "--extern",
        "dropcast_runtime=libdropcast_runtime.rlib",
        "driver.rs",
        "-o",
        "driver",
    ])?;
    Ok((rustc.version().to_owned(), folder.join("driver")))
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), VerifyError> {
    fs::write(path, bytes).map_err(io_error(path, "be written"))
}
