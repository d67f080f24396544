//! The forest as a pipeline in Verilog, one level of the trees per clock. `docs/verilog.md`
//! describes it.

mod about;
mod adders;
mod average;
mod decision;
mod decision_testbench;
mod features;
mod length_classes;
mod level;
mod pipeline;
mod ports;
mod predictor;
mod sums;
mod testbench;
mod tree;

use crate::ExportError;
use crate::checked::Checked;
use crate::target::{EmittedFile, Target};
use pipeline::Pipeline;

/// The module that predicts, a testbench for it, and a module that keeps moving averages.
pub(crate) const TARGET: Target = Target {
    name: "verilog",
    about: "pipelined Verilog-2001 module and testbench, see docs/verilog.md",
    decides: true,
    has_layouts: false,
    layout: None,
    emit,
};

fn emit(model: &Checked<'_>) -> Result<Vec<EmittedFile>, ExportError> {
    let file = |suffix, text: String| EmittedFile {
        name: format!("{}{suffix}.v", model.prefix),
        bytes: text.into_bytes(),
    };
    let pipeline = Pipeline::new(model);
    let mut files = vec![
        file("_predictor", predictor::module(model, &pipeline)),
        file("_predictor_tb", testbench::module(model, &pipeline)),
    ];
    files.extend(average::module(model).map(|text| file("_average", text)));
    files.extend(level::module(model).map(|text| file("_level", text)));
    if let Some(switch) = &model.origin.switch {
        files.push(file("_decision", decision::module(model, switch)?));
        files.push(file("_decision_tb", decision_testbench::module(model, switch)));
    }
    Ok(files)
}
