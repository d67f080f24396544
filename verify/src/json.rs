//! The JSON table, read and evaluated in Python.

use crate::python::Script;
use crate::{Emitted, Program, Runner, Tool, VerifyError};

/// Runs `json`.
pub(crate) const RUNNER: Json = Json;

pub(crate) struct Json;

/// Python with NumPy, so that a million rows take seconds.
const PYTHON: Tool = Tool {
    command: "python3",
    version_arguments: &["-c", "import numpy; print('Python with NumPy', numpy.__version__)"],
    package: "python3-numpy",
};

impl Runner for Json {
    fn target(&self) -> &'static str {
        "json"
    }

    fn build(&self, emitted: &Emitted<'_>) -> Result<Vec<Box<dyn Program>>, VerifyError> {
        let script = ("predict_json.py", include_str!("json/predict.py"));
        Ok(vec![Box::new(Script::new(emitted, "table.json", PYTHON, script)?)])
    }
}
