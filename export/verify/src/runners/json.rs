//! The JSON table, read and evaluated in Python.

use crate::python::Script;
use crate::{Emitted, Program, Runner, VerifyError};

/// Runs `json`.
pub(crate) const RUNNER: Json = Json;

pub(crate) struct Json;

/// NumPy, so that a million rows take seconds.
const MODULES: [&str; 1] = ["numpy"];

impl Runner for Json {
    fn target(&self) -> &'static str {
        "json"
    }

    fn build(&self, emitted: &Emitted<'_>) -> Result<Vec<Box<dyn Program>>, VerifyError> {
        let script = ("predict_json.py", include_str!("json/predict.py"));
        Ok(vec![Box::new(Script::new(emitted, "table.json", &MODULES, script)?)])
    }
}
