//! Forests that were trained elsewhere.

mod arrays;
mod foreign;
mod lightgbm;
mod lightgbm_dump;
mod onnx;
mod printed;
mod xgboost;
mod xgboost_dump;
mod xgboost_node;
mod xgboost_text;

use crate::ImportError;
use crate::weights::weigh;
use dropcast_features::FeatureSet;
use dropcast_forest::{Forest, ImportOrigin, SwitchContext};
use dropcast_train::TrainedModel;
use foreign::{Foreign, Reading, has, wrong};

pub use arrays::ArrayTree;

/// A file format of forests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
#[derive(strum::Display, strum::EnumString, strum::IntoStaticStr)]
#[strum(serialize_all = "lowercase", parse_err_ty = UnknownImportFormat, parse_err_fn = unknown)]
pub enum ImportFormat {
    /// ONNX with one `TreeEnsembleClassifier` or `TreeEnsembleRegressor`, as skl2onnx writes it.
    Onnx,
    /// LightGBM's text model (`save_model`) or its JSON dump (`dump_model`).
    LightGbm,
    /// XGBoost's JSON model (`save_model("m.json")`), or its dump as text or JSON (`dump_model`).
    XGBoost,
}

/// A name that no format has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown format {0:?}; known are onnx, lightgbm, xgboost")]
pub struct UnknownImportFormat(pub String);

fn unknown(name: &str) -> UnknownImportFormat {
    UnknownImportFormat(name.to_owned())
}

/// What to import, and as what.
#[derive(Clone, Debug, Default)]
pub struct ImportTask {
    /// The file's format; recognized by its content by default.
    pub format: Option<ImportFormat>,
    /// The features that the forest was trained on, in the order of its columns; needed unless the
    /// file names them.
    pub features: Option<FeatureSet>,
    /// The switch it was trained for, as far as known.
    pub switch: SwitchContext,
    /// The original's score (before any logistic function) above which a packet is dropped. By
    /// default: where the original predicts its second class, or a value above one half.
    pub threshold: Option<f64>,
    /// Accept a forest even if some decisions are not proven to be those of the original.
    pub allow_rounding: bool,
    /// The file's name, for the model's origin.
    pub name: String,
    /// SHA-256 of the file, in hexadecimal, for the model's origin.
    pub sha256: String,
}

/// A forest that was imported.
#[derive(Clone, Debug, PartialEq)]
pub struct Imported {
    /// It, as one of ours.
    pub model: TrainedModel,
    /// Splits that send a missing value to another side than 0, where the file does not record what was missing when it was
    /// trained: if 0 was, the original decides 0 otherwise there. Agreement is proven for forests to which no integer was.
    pub zero_elsewhere: usize,
}

/// Reads a forest from the bytes of a file and makes it an integer forest that decides every row
/// as the original does. Splits are exact for all 2^32 values of a feature. Leaves become 8-bit
/// weights; that no decision changes is proven, or the forest is refused unless `allow_rounding`.
///
/// # Errors
/// What is wrong with the file and where, or why the forest cannot be held or proven equal.
pub fn import(file: &[u8], task: &ImportTask) -> Result<Imported, ImportError> {
    if task.threshold.is_some_and(|threshold| !threshold.is_finite()) {
        return Err(wrong("the threshold", "is not a finite number".to_owned()));
    }
    let format = task.format.map_or_else(|| ImportFormat::detect(file), Ok)?;
    let reading = Reading { features: task.features.as_ref(), threshold: task.threshold };
    let foreign = match format {
        ImportFormat::Onnx => onnx::read(file, &reading),
        ImportFormat::LightGbm if is_object(file) => lightgbm_dump::read(file, &reading),
        ImportFormat::LightGbm => lightgbm::read(file, &reading),
        ImportFormat::XGBoost if xgboost_dump::is_dump(file) => xgboost_dump::read(file, &reading),
        ImportFormat::XGBoost => xgboost::read(file, &reading),
    }?;
    let zero_elsewhere = foreign.zero_elsewhere;
    Ok(Imported { model: weighed(foreign, &format.to_string(), task)?, zero_elsewhere })
}

/// Makes a forest that another program has in memory an integer forest, as [`import`] does; rows have
/// so many `columns`. `tool` is what made it.
///
/// # Errors
/// What is wrong with a tree, or why the forest cannot be held or proven equal.
pub fn import_arrays(
    trees: &[ArrayTree],
    columns: usize,
    tool: &str,
    task: &ImportTask,
) -> Result<TrainedModel, ImportError> {
    weighed(arrays::read(trees, columns)?, tool, task)
}

/// The model, with weights of integers.
fn weighed(foreign: Foreign, format: &str, task: &ImportTask) -> Result<TrainedModel, ImportError> {
    let features = foreign.features(task.features.as_ref())?;
    let weighted = weigh(&foreign.forest, features.len());
    if !(weighted.agreement.is_proven() || task.allow_rounding) {
        return Err(ImportError::NotProven(weighted.agreement));
    }
    let forest = Forest {
        features: features.names(),
        vote_threshold: weighted.vote_threshold,
        trees: weighted.trees,
    };
    forest.check()?;
    let origin = ImportOrigin {
        tool: concat!("dropcast ", env!("CARGO_PKG_VERSION")).to_owned(),
        format: format.to_owned(),
        producer: foreign.producer,
        name: task.name.clone(),
        sha256: task.sha256.clone(),
        agreement: weighted.agreement,
    };
    let model = TrainedModel::new(forest, features, task.switch.clone());
    Ok(TrainedModel { imported: Some(origin), ..model })
}

fn is_object(file: &[u8]) -> bool {
    file.trim_ascii_start().starts_with(b"{")
}

impl ImportFormat {
    /// Its name.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// The format of a file by its first bytes.
    fn detect(file: &[u8]) -> Result<Self, ImportError> {
        let text = file.trim_ascii_start();
        match text {
            [] => Err(ImportError::Unknown("it is empty")),
            [b'{', b'L' | b'i' | b'U' | b'l' | b'I', ..] => {
                Err(ImportError::Unknown("it is XGBoost's binary UBJSON; save it as m.json"))
            }
            [b'{', ..] if lightgbm_dump::is_dump(text) => Ok(ImportFormat::LightGbm),
            [b'{', ..] if has(text, b"\"features_info\"") => {
                Err(ImportError::Unknown("it is CatBoost's JSON, which is not read"))
            }
            [b'{' | b'[', ..] => Ok(ImportFormat::XGBoost),
            _ if xgboost_dump::is_text(text) => Ok(ImportFormat::XGBoost),
            [0x80, ..] => {
                Err(ImportError::Unknown("it seems to be a pickle; convert it with skl2onnx"))
            }
            _ if text.starts_with(b"tree\n") || text.starts_with(b"tree\r\n") => {
                Ok(ImportFormat::LightGbm)
            }
            // The first field of an ONNX model is the number `ir_version`.
            [0x08, ..] => Ok(ImportFormat::Onnx),
            _ => Err(ImportError::Unknown("it begins like none of them")),
        }
    }
}
