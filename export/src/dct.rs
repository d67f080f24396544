//! The compact byte table `.dct`, for programs that link `dropcast-runtime` or read bytes.
//! `docs/dct.md` describes the layout. With a switch, also its constants in Rust (`docs/oracle.md`).

mod decision;

use crate::ExportError;
use crate::checked::Checked;
use crate::target::{EmittedFile, Emitter};
use dropcast_runtime::{Field, MAGIC, VERSION, crc32};

/// The compact byte table.
pub(crate) const TARGET: Emitter = Emitter {
    name: "dct",
    about: "compact byte table, see docs/dct.md",
    decides: true,
    has_layouts: false,
    emit,
};

fn emit(model: &Checked<'_>) -> Result<Vec<EmittedFile>, ExportError> {
    let table = format!("{}.dct", model.prefix);
    let mut files = vec![EmittedFile { name: table.clone(), bytes: encode(model) }];
    if let Some(switch) = &model.origin.switch {
        let name = format!("{}_decision.rs", model.prefix);
        let text = decision::text(model, switch, &table)?;
        files.push(EmittedFile { name, bytes: text.into_bytes() });
        let name = format!("{}_driver.rs", model.prefix);
        let text = include_str!("dct/driver.rs").replace("@NAME", &model.prefix);
        files.push(EmittedFile { name, bytes: text.into_bytes() });
    }
    Ok(files)
}

fn encode(model: &Checked<'_>) -> Vec<u8> {
    let layout = model.complete.layout;
    let mut bytes = vec![0; layout.total_bytes()];
    bytes[Field::MAGIC].copy_from_slice(&MAGIC);
    bytes[Field::VERSION].copy_from_slice(&[VERSION]);
    bytes[Field::TREES].copy_from_slice(&layout.trees().to_le_bytes());
    bytes[Field::DEPTH].copy_from_slice(&[layout.depth()]);
    bytes[Field::FEATURES].copy_from_slice(&[layout.features()]);
    bytes[Field::VOTE_THRESHOLD].copy_from_slice(&model.forest.vote_threshold.to_le_bytes());
    bytes[Field::AVERAGE_NS].copy_from_slice(&model.average_ns.to_le_bytes());
    bytes[Field::MODEL_ID].copy_from_slice(&model.id);

    let splits = || model.complete.trees.iter().flat_map(|tree| &tree.splits);
    let weights = model.complete.trees.iter().flat_map(|tree| &tree.weights);
    let codes = model.origin.columns.iter().map(|column| column.code);
    fill(&mut bytes[layout.thresholds()], splits().flat_map(|split| split.threshold.to_le_bytes()));
    fill(&mut bytes[layout.columns()], splits().map(|split| split.column));
    fill(&mut bytes[layout.weights()], weights.copied());
    fill(&mut bytes[layout.feature_codes()], codes);

    let checksum = crc32(&bytes[Field::CHECKSUM.end..]);
    bytes[Field::CHECKSUM].copy_from_slice(&checksum.to_le_bytes());
    bytes
}

fn fill(place: &mut [u8], with: impl Iterator<Item = u8>) {
    place.iter_mut().zip(with).for_each(|(byte, value)| *byte = value);
}
