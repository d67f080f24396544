//! Tofino: a TNA program around the oracle of the P4 target, and a script of entries for the
//! driver's Python shell. `docs/tna.md` says how to use them. They have not been run on a device.

mod bfrt;
mod program;

use crate::ExportError;
use crate::checked::Checked;
use crate::p4::{KEY_BITS, P4, STAGES, Stages, oracle_file};
use crate::target::{EmittedFile, Emitter};

/// P4_16 for Tofino.
pub(crate) const TARGET: Emitter = Emitter {
    name: "tna",
    about: "P4_16 for Tofino (TNA): program and bfrt_python script, see docs/tna.md",
    decides: false,
    has_layouts: true,
    emit,
};

/// Bits of a packet header vector of Tofino.
const MAX_METADATA_BITS: usize = 4096;

fn emit(model: &Checked<'_>) -> Result<Vec<EmittedFile>, ExportError> {
    let p4 = P4::new(model)?;
    check(&p4)?;
    Ok(vec![oracle_file(&p4), program::program(&p4), bfrt::script(&p4)])
}

/// Refuses what no Tofino can hold, or what takes more stages than it has even if features share them;
/// the rest may still not fit.
fn check(p4: &P4<'_>) -> Result<(), ExportError> {
    let refuse = |problem: String| Err(ExportError::Unsupported { target: "TNA", problem });
    for tree in &p4.shape.trees {
        let (number, bits) = (tree.number, tree.key_bits);
        if bits > KEY_BITS {
            return refuse(format!(
                "tree {number} matches {bits} bits of codes, one per threshold, but a stage matches \
                at most {KEY_BITS}; train shallower trees"
            ));
        }
    }
    let features = 32 * p4.model.origin.columns.len();
    let sums = p4.sums.0 * p4.shape.score_bits;
    let bits = features + p4.words.iter().flatten().sum::<usize>() + sums;
    if bits > MAX_METADATA_BITS {
        return refuse(format!(
            "features, codes and sums take {bits} bits, but a packet header vector has \
            {MAX_METADATA_BITS}; train fewer or shallower trees"
        ));
    }
    let stages = Stages::least_of_tofino(&p4.shape);
    if stages.total() > STAGES {
        let Stages { codes, trees, additions, vote } = stages;
        return refuse(format!(
            "it takes at least {} stages by our estimate ({codes} for codes, {trees} for trees, \
            {additions} for additions, {vote} for the vote), but Tofino has {STAGES}; train fewer or \
            shallower trees",
            stages.total()
        ));
    }
    Ok(())
}
