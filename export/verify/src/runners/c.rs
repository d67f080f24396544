//! The C header, compiled with every installed C compiler, in both of its forms.

use crate::compiled::{Compiled, Language};
use crate::emitted::Emitted;
use crate::tool::checked;
use crate::{Answers, FoundTool, Program, Tool, VerifyError, pipe};
use std::path::Path;
use std::process::Command;

pub(crate) const LANGUAGE: Language = Language {
    name: "C",
    ending: "c",
    compilers: [
        Tool { command: "gcc", version_arguments: &["--version"], package: "gcc" },
        Tool { command: "clang", version_arguments: &["--version"], package: "clang" },
    ],
    flags: ["-std=c99", "-O2"],
};

/// The program around the header; `PREFIX`, `UPPER` and `FORM` are replaced.
const MAIN: &str = include_str!("c/main.c");

pub(super) fn build(emitted: &Emitted<'_>) -> Result<Vec<Box<dyn Program>>, VerifyError> {
    let (_, prefix) = emitted.file("h")?;
    let mut programs: Vec<Box<dyn Program>> = Vec::new();
    for compiler in Tool::find_any(&LANGUAGE.compilers)? {
        for form in [Form::Branches, Form::Tables] {
            programs.push(Box::new(compile(emitted.folder, &prefix, &compiler, form)?));
        }
    }
    Ok(programs)
}

#[derive(Clone, Copy)]
enum Form {
    Branches,
    Tables,
}

/// A program that can also time itself.
struct Timed(Compiled);

fn compile(
    folder: &Path,
    prefix: &str,
    compiler: &FoundTool,
    form: Form,
) -> Result<Timed, VerifyError> {
    let (form, define) = match form {
        Form::Branches => ("branches", ""),
        Form::Tables => ("tables", "#define UPPER_TABLES\n"),
    };
    let source = format!("{define}{MAIN}")
        .replace("PREFIX", prefix)
        .replace("UPPER", &prefix.to_ascii_uppercase());
    let compiled = LANGUAGE.compile(folder, form, &source, compiler, &[])?;
    Ok(Timed(Compiled { name: format!("{form}, {}", compiled.name), ..compiled }))
}

impl Program for Timed {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn answer(&mut self, rows: &[Vec<u32>]) -> Result<Answers, VerifyError> {
        self.0.answer(rows)
    }

    fn time_ns(&mut self, rows: &[Vec<u32>]) -> Result<Option<f64>, VerifyError> {
        let mut command = Command::new(&self.0.executable);
        let output = pipe::fed(command.arg("time"), &pipe::encode(rows))?;
        let printed = checked(output, &command, "measuring predictions")?;
        let printed = String::from_utf8_lossy(&printed);
        let bad = || VerifyError::BadAnswer {
            program: self.0.name.clone(),
            problem: format!("printed {printed:?} instead of a time"),
        };
        printed.trim().parse().map(Some).map_err(|_| bad())
    }
}
