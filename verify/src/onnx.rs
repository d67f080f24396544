//! The ONNX model, checked by ONNX's own checker and run by onnxruntime.

use crate::python::Script;
use crate::{Emitted, Program, Runner, Tool, VerifyError};

/// Runs `onnx`.
pub(crate) const RUNNER: Onnx = Onnx;

pub(crate) struct Onnx;

/// Python with the packages `onnx` and `onnxruntime`.
const PYTHON: Tool = Tool {
    command: "python3",
    version_arguments: &[
        "-c",
        "import onnx, onnxruntime; print('onnxruntime', onnxruntime.__version__)",
    ],
    package: "python3-pip, then python3 -m pip install onnx onnxruntime",
};

impl Runner for Onnx {
    fn target(&self) -> &'static str {
        "onnx"
    }

    fn build(&self, emitted: &Emitted<'_>) -> Result<Vec<Box<dyn Program>>, VerifyError> {
        let script = ("predict_onnx.py", include_str!("onnx/predict.py"));
        let found = Script::new(emitted, "onnx", PYTHON, script);
        let named = |error| match error {
            VerifyError::MissingTool { package, .. } => {
                let tool = "onnxruntime (for python3)".to_owned();
                VerifyError::MissingTool { tool, package }
            }
            error => error,
        };
        Ok(vec![Box::new(found.map_err(named)?)])
    }
}
