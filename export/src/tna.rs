//! Tofino: a TNA program around the oracle of the P4 target, and a script of entries for the
//! driver's Python shell. `docs/tna.md` says how to use them. They have not been run on a device.

mod bfrt;
mod program;

use crate::ExportError;
use crate::checked::Checked;
use crate::p4::{P4, oracle_file};
use crate::target::{EmittedFile, Target};

/// P4_16 for Tofino.
pub(crate) const TARGET: Target = Target {
    name: "tna",
    about: "P4_16 for Tofino (TNA): program and bfrt_python script, see docs/tna.md",
    decides: false,
    emit,
};

/// The widest key of a ternary table in one stage of Tofino: 12 TCAM blocks of 44 bits side by
/// side.
const MAX_KEY_BITS: usize = 12 * 44;

/// Bits of a packet header vector of Tofino.
const MAX_METADATA_BITS: usize = 4096;

fn emit(model: &Checked<'_>) -> Result<Vec<EmittedFile>, ExportError> {
    let p4 = P4::new(model)?;
    check(&p4)?;
    Ok(vec![oracle_file(&p4), program::program(&p4), bfrt::script(&p4)])
}

/// Refuses what no Tofino can hold; the rest may still not fit.
fn check(p4: &P4<'_>) -> Result<(), ExportError> {
    let refuse = |problem: String| Err(ExportError::Unsupported { target: "TNA", problem });
    let mut all_bits = 32 * p4.model.origin.columns.len();
    for (at, tree) in p4.trees() {
        let bits: usize = tree.keys.iter().map(|key| key.width()).sum();
        if bits > MAX_KEY_BITS {
            return refuse(format!(
                "tree {at} matches {bits} bits of codes, one per threshold, but a stage matches at \
                most {MAX_KEY_BITS}; train shallower trees"
            ));
        }
        all_bits += bits + p4.score_bits();
    }
    if all_bits > MAX_METADATA_BITS {
        return refuse(format!(
            "features, codes and weights take {all_bits} bits, but a packet header vector has \
            {MAX_METADATA_BITS}; train fewer or shallower trees"
        ));
    }
    Ok(())
}
