//! The ONNX model, checked by ONNX's own checker and run by onnxruntime.

use crate::emitted::Emitted;
use crate::python::Script;
use crate::{Program, VerifyError};

const MODULES: [&str; 3] = ["onnxruntime", "onnx", "numpy"];

pub(super) fn build(emitted: &Emitted<'_>) -> Result<Vec<Box<dyn Program>>, VerifyError> {
    let script = ("predict_onnx.py", include_str!("onnx/predict.py"));
    Ok(vec![Box::new(Script::new(emitted, "onnx", &MODULES, script)?)])
}
