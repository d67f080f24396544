//! The ONNX model, checked by ONNX's own checker and run by onnxruntime.

use crate::python::Script;
use crate::{Emitted, Program, Runner, VerifyError};

/// Runs `onnx`.
pub(crate) const RUNNER: Onnx = Onnx;

pub(crate) struct Onnx;

const MODULES: [&str; 3] = ["onnxruntime", "onnx", "numpy"];

impl Runner for Onnx {
    fn target(&self) -> &'static str {
        "onnx"
    }

    fn build(&self, emitted: &Emitted<'_>) -> Result<Vec<Box<dyn Program>>, VerifyError> {
        let script = ("predict_onnx.py", include_str!("onnx/predict.py"));
        Ok(vec![Box::new(Script::new(emitted, "onnx", &MODULES, script)?)])
    }
}
