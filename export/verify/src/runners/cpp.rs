//! The C++ header, compiled with every installed C++ compiler, and inside ns-3 if installed.

use crate::compiled::{Compiled, Language};
use crate::emitted::Emitted;
use crate::error::io_error;
use crate::tool::run;
use crate::{FoundTool, Program, Tool, VerifyError};
use std::fs;
use std::path::Path;

pub(crate) const LANGUAGE: Language = Language {
    name: "C++",
    ending: "cc",
    compilers: [
        Tool { command: "g++", version_arguments: &["--version"], package: "g++" },
        Tool { command: "clang++", version_arguments: &["--version"], package: "clang" },
    ],
    flags: ["-std=c++17", "-O2"],
};

/// The program around the header; `PREFIX` is replaced.
const MAIN: &str = include_str!("cpp/main.cc");

/// The program that calls like the Credence artifact; `PREFIX` is replaced.
const NS3: &str = include_str!("cpp/ns3.cc");

/// Marks a header that takes the artifact's arguments.
const ARTIFACT_CALL: &str = "the Credence artifact calls getPrediction with";

pub(super) fn build(emitted: &Emitted<'_>) -> Result<Vec<Box<dyn Program>>, VerifyError> {
    let (path, prefix) = emitted.file("hpp")?;
    let header = fs::read_to_string(&path).map_err(io_error(&path, "be read"))?;
    // Four features, all of them the artifact's arguments.
    let asked_by_artifact = emitted.features == 4 && header.contains(ARTIFACT_CALL);
    let mut programs: Vec<Box<dyn Program>> = Vec::new();
    for compiler in Tool::find_any(&LANGUAGE.compilers)? {
        let with_ns3 = has_ns3(emitted.folder, &compiler);
        let missing = if with_ns3 { "" } else { "; NOT run in ns-3: libns3-dev is missing" };
        let source = MAIN.replace("PREFIX", &prefix);
        let main = LANGUAGE.compile(emitted.folder, "main", &source, &compiler, &[])?;
        programs.push(Box::new(Compiled { name: format!("{}{missing}", main.name), ..main }));
        if with_ns3 && asked_by_artifact {
            let source = NS3.replace("PREFIX", &prefix);
            let ns3 =
                LANGUAGE.compile(emitted.folder, "ns3", &source, &compiler, &["-lns3-core"])?;
            let name = format!("called by ns-3, {}", ns3.name);
            programs.push(Box::new(Compiled { name, ..ns3 }));
        }
    }
    Ok(programs)
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
