//! The JSON table, read and evaluated in Python.

use crate::emitted::Emitted;
use crate::python::Script;
use crate::{Program, VerifyError};

/// NumPy, so that a million rows take seconds.
const MODULES: [&str; 1] = ["numpy"];

pub(super) fn build(emitted: &Emitted<'_>) -> Result<Vec<Box<dyn Program>>, VerifyError> {
    let script = ("predict_json.py", include_str!("json/predict.py"));
    Ok(vec![Box::new(Script::new(emitted, "table.json", &MODULES, script)?)])
}
