//! The C header, compiled with every C compiler there is, in both of its forms.

use crate::error::io_error;
use crate::tool::{checked, run};
use crate::{Answers, Emitted, FoundTool, Program, Runner, Tool, VerifyError, pipe};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Runs `c`.
pub(crate) const RUNNER: C = C;

pub(crate) struct C;

/// Any of these will do.
const COMPILERS: [Tool; 2] = [
    Tool { command: "gcc", version_arguments: &["--version"], package: "gcc" },
    Tool { command: "clang", version_arguments: &["--version"], package: "clang" },
];

/// What a header's user most likely compiles with.
const FLAGS: [&str; 2] = ["-std=c99", "-O2"];

/// The program around the header; `PREFIX`, `UPPER` and `FORM` are replaced.
const MAIN: &str = include_str!("c/main.c");

impl Runner for C {
    fn target(&self) -> &'static str {
        "c"
    }

    fn build(&self, emitted: &Emitted<'_>) -> Result<Vec<Box<dyn Program>>, VerifyError> {
        let (_, prefix) = emitted.file("h")?;
        let mut programs: Vec<Box<dyn Program>> = Vec::new();
        for compiler in Tool::find_any(&COMPILERS)? {
            for form in [Form::Branches, Form::Tables] {
                programs.push(Box::new(compile(emitted.folder, &prefix, &compiler, form)?));
            }
        }
        Ok(programs)
    }
}

#[derive(Clone, Copy)]
enum Form {
    Branches,
    Tables,
}

struct Compiled {
    name: String,
    executable: PathBuf,
}

fn compile(
    folder: &Path,
    prefix: &str,
    compiler: &FoundTool,
    form: Form,
) -> Result<Compiled, VerifyError> {
    let (form, define) = match form {
        Form::Branches => ("branches", ""),
        Form::Tables => ("tables", "#define UPPER_TABLES\n"),
    };
    let name = format!("{form}_{}", compiler.name());
    let source = folder.join(format!("{name}.c"));
    let text = format!("{define}{MAIN}")
        .replace("PREFIX", prefix)
        .replace("UPPER", &prefix.to_ascii_uppercase());
    fs::write(&source, text).map_err(io_error(&source, "be written"))?;
    let mut command = compiler.in_folder(folder);
    command.args(FLAGS).arg(format!("{name}.c")).args(["-o", &name]);
    run(&mut command, "compiling the C header")?;
    Ok(Compiled {
        name: format!("{form}, {} {}", compiler.version(), FLAGS[1]),
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

    fn time_ns(&mut self, rows: &[Vec<u32>]) -> Result<Option<f64>, VerifyError> {
        let mut command = Command::new(&self.executable);
        let output = pipe::fed(command.arg("time"), &pipe::encode(rows))?;
        let printed = checked(output, &command, "measuring predictions")?;
        let printed = String::from_utf8_lossy(&printed);
        let bad = || VerifyError::BadAnswer {
            program: self.name.clone(),
            problem: format!("took {printed:?}, which is no time"),
        };
        printed.trim().parse().map(Some).map_err(|_| bad())
    }
}
