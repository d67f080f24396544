//! Programs in Python that answer rows through [`pipe`](crate::pipe).

use crate::emitted::Emitted;
use crate::error::io_error;
use crate::tool::checked;
use crate::{Answers, FoundTool, Program, Tool, VerifyError, pipe};
use std::fs;
use std::path::{Path, PathBuf};

/// A program in Python that predicts from one emitted file.
pub(crate) struct Script {
    name: String,
    python: FoundTool,
    folder: PathBuf,
    script: &'static str,
    arguments: [String; 2],
}

impl Script {
    /// Writes the script `source` into the folder of `emitted`, to run on the file with this
    /// extension. Its arguments are the file and the number of features. `modules` are its imports,
    /// by their names for pip; the program is named after the first.
    ///
    /// # Errors
    /// If Python or a module is not installed, if there is no such file, or if the script cannot be
    /// written.
    pub(crate) fn new(
        emitted: &Emitted<'_>,
        extension: &str,
        modules: &[&str],
        (script, source): (&'static str, &str),
    ) -> Result<Self, VerifyError> {
        let (file, _) = emitted.file(extension)?;
        let python = PYTHON.find()?;
        let name = with_modules(&python, emitted.folder, modules)?;
        let path = emitted.folder.join(script);
        fs::write(&path, source).map_err(io_error(&path, "be written"))?;
        Ok(Script {
            name,
            python,
            folder: emitted.folder.to_owned(),
            script,
            arguments: [file.display().to_string(), emitted.features.to_string()],
        })
    }
}

const PYTHON: Tool =
    Tool { command: "python3", version_arguments: &["--version"], package: "python3" };

/// Prints the version of the first module, or the missing modules, one per line.
const IMPORT: &str = "\
import importlib, sys
found, missing = [], []
for name in sys.argv[1:]:
    try:
        found.append(importlib.import_module(name))
    except ImportError:
        missing.append(name)
if missing:
    sys.exit('\\n'.join(missing))
print(getattr(found[0], '__version__', ''))
";

/// Checks that modules can be imported; the name of a program that uses them.
///
/// # Errors
/// [`VerifyError::MissingTool`] for the first that is missing, with how to install all of them.
fn with_modules(
    python: &FoundTool,
    folder: &Path,
    modules: &[&str],
) -> Result<String, VerifyError> {
    let mut import = python.in_folder(folder);
    import.args(["-c", IMPORT]).args(modules);
    let output = import.output().map_err(io_error(Path::new(python.name()), "be started"))?;
    if output.status.success() {
        let version = String::from_utf8_lossy(&output.stdout);
        return Ok(format!("{}, {} {}", python.version(), modules[0], version.trim()));
    }
    let printed = String::from_utf8_lossy(&output.stderr);
    let missing: Vec<&str> = printed.lines().filter(|line| modules.contains(line)).collect();
    match missing.first() {
        Some(first) => Err(VerifyError::MissingTool {
            tool: format!("the module {first} of python3"),
            install: format!("run python3 -m pip install {}", missing.join(" ")),
        }),
        // It failed for another reason, which it printed.
        None => checked(output, &import, "importing Python modules")
            .map(|_| python.version().to_owned()),
    }
}

impl Program for Script {
    fn name(&self) -> &str {
        &self.name
    }

    fn answer(&mut self, rows: &[Vec<u32>]) -> Result<Answers, VerifyError> {
        let mut command = self.python.in_folder(&self.folder);
        pipe::ask(command.arg(self.script).args(&self.arguments), rows)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_modules_are_named_and_not_python() {
        let Ok(python) = PYTHON.find() else {
            assert_ne!(std::env::var("CI").as_deref(), Ok("true"), "python3 is not installed");
            return;
        };
        let ask = |modules: &[&str]| with_modules(&python, Path::new("."), modules);
        let error = ask(&["json", "no_such_1", "sys", "no_such_2"]).expect_err("two are missing");
        assert_eq!(
            error.to_string(),
            "the module no_such_1 of python3 is not installed; \
             run python3 -m pip install no_such_1 no_such_2"
        );
        let name = ask(&["json", "sys"]).expect("always there");
        assert!(name.starts_with("Python 3") && name.contains(", json"), "{name}");
    }
}
