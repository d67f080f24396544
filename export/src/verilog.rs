//! The forest as a pipeline in Verilog, one level of the trees per clock. `docs/verilog.md`
//! describes it.

mod about;
mod adders;
mod decision;
mod decision_testbench;
mod features;
mod level;
mod pipeline;
mod predictor;
mod testbench;
mod tree;

use crate::ExportError;
use crate::checked::Checked;
use crate::target::{EmittedFile, Emitter};
use pipeline::Pipeline;

/// The module that predicts, a testbench for it, and a module that keeps moving averages.
pub(crate) const TARGET: Emitter = Emitter {
    name: "verilog",
    about: "pipelined Verilog-2001 module and testbench, see docs/verilog.md",
    decides: true,
    has_layouts: false,
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
    if level::is_needed(model) {
        files.extend(sources(&[level::AVERAGE, level::LEVEL]));
        files.push(file("_level", level::module(model)));
    }
    if let Some(switch) = &model.origin.switch {
        files.extend(sources(&[decision::DECISION, decision_testbench::CALLS]));
        files.push(file("_decision", decision::module(model, switch)?));
        files.push(file("_decision_tb", decision_testbench::module(model, switch)));
    }
    Ok(files)
}

/// Files that are the same for every switch.
fn sources(sources: &[(&str, &str)]) -> Vec<EmittedFile> {
    let file =
        |&(name, text): &(&str, &str)| EmittedFile { name: name.to_owned(), bytes: text.into() };
    sources.iter().map(file).collect()
}
