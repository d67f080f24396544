//! A forest's origin, as every emitted file states it.

use crate::ExportError;
use dropcast_data::SwitchSpec;
use dropcast_features::FeatureSet;
use dropcast_forest::Model;

/// A forest's origin: the model, its features and the tool, for emitted files.
#[derive(Clone, Debug, PartialEq)]
pub struct Origin {
    /// Name of the model. Emitted files and the identifiers in emitted code are named after it.
    pub model_name: String,
    /// SHA-256 of `model.json`, 64 hexadecimal digits.
    pub model_sha256: String,
    /// Version of the exporting dropcast.
    pub tool_version: String,
    /// The values of a row, in order.
    pub columns: Vec<Column>,
    /// Time constant of the moving averages among the features, ns (`tau`, the base round-trip
    /// time), if the model states it.
    pub average_ns: Option<u64>,
    /// Shared buffer of the switch that the model is for, bytes, if the model states it.
    pub buffer_bytes: Option<u32>,
    /// Output ports of that switch, if the model states them.
    pub ports: Option<u16>,
    /// The switch to export the whole decision for, by targets that can ([`Target::decides`]); none
    /// does without.
    ///
    /// [`Target::decides`]: crate::Target::decides
    pub switch: Option<SwitchSpec>,
}

/// One value of a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// Name of the feature, as in `model.json`.
    pub name: String,
    /// Unit of its values.
    pub unit: String,
    /// Its definition, in one sentence.
    pub definition: String,
    /// Its number in tables: `Feature::code`.
    pub code: u8,
}

impl Origin {
    /// A model trained on `features`, exported by this version of dropcast, for an unknown switch.
    pub fn new(model_name: &str, model_sha256: &str, features: &FeatureSet) -> Self {
        let columns = features.features().iter().map(|&feature| Column {
            name: feature.name().to_owned(),
            unit: feature.unit().to_owned(),
            definition: feature.definition().to_owned(),
            code: feature.code(),
        });
        Origin {
            model_name: model_name.to_owned(),
            model_sha256: model_sha256.to_owned(),
            tool_version: env!("CARGO_PKG_VERSION").to_owned(),
            columns: columns.collect(),
            average_ns: None,
            buffer_bytes: None,
            ports: None,
            switch: None,
        }
    }

    /// A model read from a `model.json` with this hash.
    pub fn of_model<P>(model: &Model<P>, model_name: &str, model_sha256: &str) -> Self {
        Origin {
            average_ns: model.switch.base_rtt_ns,
            buffer_bytes: model.switch.buffer_bytes,
            ports: model.switch.ports,
            ..Origin::new(model_name, model_sha256, &model.features)
        }
    }

    /// The first 8 bytes of the model's hash, which tables carry.
    ///
    /// # Errors
    /// If the hash is not 64 hexadecimal digits.
    pub(crate) fn model_id(&self) -> Result<[u8; 8], ExportError> {
        let hash = self.model_sha256.as_bytes();
        let nibble = |at: usize| char::from(hash[at]).to_digit(16);
        if hash.len() != 64 || (0..64).any(|at| nibble(at).is_none()) {
            return Err(ExportError::NotAHash(self.model_sha256.clone()));
        }
        let byte = |at| 16 * nibble(2 * at).unwrap_or(0) + nibble(2 * at + 1).unwrap_or(0);
        Ok(std::array::from_fn(|at| byte(at) as u8))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_model_id_is_the_start_of_its_hash() {
        let hash = "00ff10aB09c3d4e5".to_owned() + &"7".repeat(48);
        let mut origin = Origin::new("m", &hash, &FeatureSet::paper4());
        assert_eq!(origin.model_id(), Ok([0x00, 0xFF, 0x10, 0xAB, 0x09, 0xC3, 0xD4, 0xE5]));
        for bad in ["", "00ff", &"g".repeat(64), &"7".repeat(65), &"é".repeat(32)] {
            origin.model_sha256 = bad.to_owned();
            assert_eq!(origin.model_id(), Err(ExportError::NotAHash(bad.to_owned())));
        }
    }
}
