//! The C++ header, compiled with every C++ compiler there is, and inside ns-3 where it is installed.

use crate::error::io_error;
use crate::tool::run;
use crate::{Answers, Emitted, FoundTool, Program, Runner, Tool, VerifyError, pipe};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Runs `cpp`.
pub(crate) const RUNNER: Cpp = Cpp;

pub(crate) struct Cpp;

/// Any of these will do.
const COMPILERS: [Tool; 2] = [
    Tool { command: "g++", version_arguments: &["--version"], package: "g++" },
    Tool { command: "clang++", version_arguments: &["--version"], package: "clang" },
];

/// What a header's user most likely compiles with.
const FLAGS: [&str; 2] = ["-std=c++17", "-O2"];

/// The program around the header; `PREFIX` is replaced.
const MAIN: &str = include_str!("cpp/main.cc");

/// The program that asks as the Credence artifact does; `PREFIX` is replaced.
const NS3: &str = include_str!("cpp/ns3.cc");

/// Where a header says that it takes the artifact's arguments.
const ARTIFACT_CALL: &str = "the Credence artifact calls getPrediction with";

impl Runner for Cpp {
    fn target(&self) -> &'static str {
        "cpp"
    }

    fn build(&self, emitted: &Emitted<'_>) -> Result<Vec<Box<dyn Program>>, VerifyError> {
        let (path, prefix) = emitted.file("hpp")?;
        let header = fs::read_to_string(&path).map_err(io_error(&path, "be read"))?;
        // Four features, and no others than the artifact's arguments: all of them.
        let asked_by_artifact = emitted.features == 4 && header.contains(ARTIFACT_CALL);
        let mut programs: Vec<Box<dyn Program>> = Vec::new();
        for compiler in Tool::find_any(&COMPILERS)? {
            let with_ns3 = has_ns3(emitted.folder, &compiler);
            let missing = if with_ns3 { "" } else { "; NOT run in ns-3: libns3-dev is missing" };
            let source = MAIN.replace("PREFIX", &prefix);
            let main = compile(emitted.folder, "main", &source, &compiler, &[])?;
            programs.push(Box::new(Compiled { name: format!("{}{missing}", main.name), ..main }));
            if with_ns3 && asked_by_artifact {
                let source = NS3.replace("PREFIX", &prefix);
                let ns3 = compile(emitted.folder, "ns3", &source, &compiler, &["-lns3-core"])?;
                let name = format!("called by ns-3, {}", ns3.name);
                programs.push(Box::new(Compiled { name, ..ns3 }));
            }
        }
        Ok(programs)
    }
}

struct Compiled {
    name: String,
    executable: PathBuf,
}

fn compile(
    folder: &Path,
    name: &str,
    source: &str,
    compiler: &FoundTool,
    libraries: &[&str],
) -> Result<Compiled, VerifyError> {
    let name = format!("{name}_{}", compiler.name());
    let path = folder.join(format!("{name}.cc"));
    fs::write(&path, source).map_err(io_error(&path, "be written"))?;
    let mut command = compiler.in_folder(folder);
    command.args(FLAGS).arg(format!("{name}.cc")).args(["-o", &name]).args(libraries);
    run(&mut command, "compiling the C++ header")?;
    Ok(Compiled {
        name: format!("{} {}", compiler.version(), FLAGS[1]),
        executable: folder.join(name),
    })
}

impl Program for Compiled {
    fn name(&self) -> &str {
        &self.name
    }

    fn answer(&mut self, rows: &[Vec<u32>]) -> Result<Answers, VerifyError> {
        pipe::ask(&mut Command::new(&self.executable), rows)
    }
}

fn has_ns3(folder: &Path, compiler: &FoundTool) -> bool {
    let mut command = compiler.in_folder(folder);
    command.args([
        "-E",
        "-include",
        "ns3/simulator.h",
        "-x",
        "c++",
        "/dev/null",
        "-o",
        "/dev/null",
    ]);
    run(&mut command, "looking for ns-3").is_ok()
}
