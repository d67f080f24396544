//! The forest as a pipeline in Verilog, one level of the trees per clock. `docs/verilog.md`
//! describes it.

mod about;
mod adders;
mod features;
mod level;
mod predictor;
mod testbench;
mod tree;

use crate::ExportError;
use crate::checked::Checked;
use crate::complete::Split;
use crate::ident::identifier;
use crate::target::{EmittedFile, Target};

/// The module that predicts, a testbench for it, and a module that keeps moving averages.
pub(crate) const TARGET: Target = Target {
    name: "verilog",
    about: "pipelined Verilog-2001 module and testbench, see docs/verilog.md",
    emit,
};

fn emit(model: &Checked<'_>) -> Result<Vec<EmittedFile>, ExportError> {
    let file = |suffix, text: String| EmittedFile {
        name: format!("{}{suffix}.v", model.prefix),
        bytes: text.into_bytes(),
    };
    let pipeline = Pipeline::of(model);
    let mut files = vec![
        file("_predictor", predictor::module(model, &pipeline)),
        file("_predictor_tb", testbench::module(model, &pipeline)),
    ];
    files.extend(level::module(model).map(|text| file("_level", text)));
    Ok(files)
}

/// The stages of the pipeline. Registers of stage `s` hold the inputs of `s + 1` clocks before.
struct Pipeline {
    /// The features, in the order of a row.
    features: Vec<PipedFeature>,
    /// Levels of splits. Features are in stages 0 to `depth - 1`, paths in stages 1 to `depth`.
    depth: usize,
    /// The number of terms at each stage, from the trees' weights on: halved at each stage, down to
    /// 1.
    terms: Vec<usize>,
}

/// A feature on its way through the pipeline.
struct PipedFeature {
    /// The base name of ports and registers.
    name: String,
    /// The number of bits kept: enough for one more than its largest threshold. Larger values
    /// saturate at all ones, which is also above every threshold.
    bits: usize,
    /// The number of stages that keep it: up to the last level that needs it.
    stages: usize,
}

/// Bits of a leaf's weight.
const WEIGHT_BITS: usize = 8;

impl Pipeline {
    fn of(model: &Checked<'_>) -> Self {
        let mut features: Vec<PipedFeature> = model
            .origin
            .columns
            .iter()
            .map(|column| PipedFeature { name: identifier(&column.name), bits: 0, stages: 0 })
            .collect();
        for tree in &model.complete.trees {
            for (at, split) in tree.splits.iter().enumerate().filter(|(_, split)| decides(split)) {
                let feature = &mut features[usize::from(split.column)];
                feature.bits = feature.bits.max(bits(split.threshold + 1));
                // Split `at` is on level floor(log2(at + 1)).
                feature.stages = feature.stages.max((at + 1).ilog2() as usize + 1);
            }
        }
        let mut terms = vec![model.forest.trees.len()];
        while let Some(&count @ 2..) = terms.last() {
            terms.push(count.div_ceil(2));
        }
        Pipeline { features, depth: usize::from(model.complete.layout.depth()), terms }
    }

    /// Clocks from a row to its prediction: the inputs, the levels, the weights, the additions, the
    /// comparison.
    fn latency(&self) -> usize {
        1 + self.depth + 1 + (self.terms.len() - 1) + 1
    }

    /// Bits of a term at stage number `level`, counted from the weights.
    fn term_bits(level: usize) -> usize {
        WEIGHT_BITS + level
    }

    /// Bits of the score.
    fn score_bits(&self) -> usize {
        Self::term_bits(self.terms.len() - 1)
    }
}

/// Whether a split sends any value right.
fn decides(split: &Split) -> bool {
    split.threshold < u32::MAX
}

/// Bits needed to write a number; 0 takes none.
fn bits(number: u32) -> usize {
    (u32::BITS - number.leading_zeros()) as usize
}
