//! The stages that a row passes, and the bits that each keeps.

use crate::checked::Checked;
use crate::complete::Split;
use crate::ident::identifier;

/// The stages of the pipeline. Registers of stage `s` hold what was at the inputs `s + 1` clocks
/// before.
pub(super) struct Pipeline {
    /// The features, in the order of a row.
    pub(super) features: Vec<PipedFeature>,
    /// Levels of splits. Features are in stages 0 to `depth - 1`, paths in stages 1 to `depth`.
    pub(super) depth: usize,
    /// How many terms are left at each stage from the trees' weights on: halved at each, to 1.
    pub(super) terms: Vec<usize>,
}

/// A feature on its way through the pipeline.
pub(super) struct PipedFeature {
    /// What ports and registers are named after.
    pub(super) name: String,
    /// The bits kept of it: as many as are needed to count one beyond its largest threshold. Larger
    /// values become all ones, which is above every threshold, too.
    pub(super) bits: usize,
    /// In how many stages it is kept: up to the last level that asks for it.
    pub(super) stages: usize,
}

/// Bits of a leaf's weight.
pub(super) const WEIGHT_BITS: usize = 8;

impl Pipeline {
    pub(super) fn new(model: &Checked<'_>) -> Self {
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
    pub(super) fn latency(&self) -> usize {
        1 + self.depth + 1 + (self.terms.len() - 1) + 1
    }

    /// Bits of a term at the `level`-th stage from the weights on.
    pub(super) fn term_bits(level: usize) -> usize {
        WEIGHT_BITS + level
    }

    /// Bits of the score.
    pub(super) fn score_bits(&self) -> usize {
        Self::term_bits(self.terms.len() - 1)
    }
}

/// Whether a split sends anything right.
pub(super) fn decides(split: &Split) -> bool {
    split.threshold < u32::MAX
}

/// How many bits it takes to write a number; 0 takes none.
fn bits(number: u32) -> usize {
    (u32::BITS - number.leading_zeros()) as usize
}
