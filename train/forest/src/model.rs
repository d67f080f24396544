//! A model and its file, `model.json` (`docs/model.md`).

use crate::json_layout::lay_out;
use crate::{FeatureRange, Forest, ForestError, ImportOrigin, LeafRows, Metrics};
use dropcast_data::AVERAGE_NS3_TRUNC;
use dropcast_features::{Feature, FeatureMemory, FeatureSet, UnknownFeature};
use dropcast_runtime::DropOracle;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// Version of the format that [`Model::to_json`] writes.
pub const FORMAT_VERSION: u64 = 1;

/// A forest with everything needed to use it correctly: its features, the switch it is for, how it
/// was made, and its metrics.
///
/// `P` is the record of how it was made. It belongs to the trainer; this crate only stores it.
#[derive(Clone, Debug, PartialEq)]
pub struct Model<P> {
    /// The forest that is executed. It lists the names of `features`.
    pub forest: Forest,
    /// The features, in the order predictions expect.
    pub features: FeatureSet,
    /// The range of each feature on the rows that trained; absent if it was made elsewhere.
    pub ranges: Option<Vec<FeatureRange>>,
    /// By tree, the training rows of each leaf, in the order of nodes; absent if it was made elsewhere, or
    /// squeezed into a budget.
    pub leaf_rows: Option<Vec<Vec<LeafRows>>>,
    /// The switch it is for.
    pub switch: SwitchContext,
    /// The buffer it was trained for, bytes, if its thresholds were later scaled to another
    /// ([`Model::for_buffer`]).
    pub rescaled_from_bytes: Option<u32>,
    /// Record of its training; absent if dropcast did not train it.
    pub provenance: Option<P>,
    /// Its origin, if it was trained elsewhere.
    pub imported: Option<ImportOrigin>,
    /// Its metrics; absent if it was not measured.
    pub metrics: Option<Metrics>,
}

/// The switch (or all the switches) that the labelled rows come from, as far as known.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SwitchContext {
    /// Number of output ports, the papers' `N`.
    pub ports: Option<u16>,
    /// Shared buffer `B`, bytes: thresholds in bytes are on its scale. The largest, if the switches
    /// differ.
    pub buffer_bytes: Option<u32>,
    /// Base round-trip time, nanoseconds: the time constant of averages.
    pub base_rtt_ns: Option<u64>,
}

/// Why a text cannot be read as a model.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// Not JSON, or JSON of another shape.
    #[error("not a dropcast model: {0}")]
    Json(#[from] serde_json::Error),
    /// JSON without a `format_version`.
    #[error("not a dropcast model: there is no format_version")]
    NoVersion,
    /// Another format version.
    #[error(
        "the model has format_version {found}, but this dropcast reads {FORMAT_VERSION}; train or import it again"
    )]
    Version {
        /// The version in the text.
        found: String,
    },
    /// The rows of leaves are not those of the forest's leaves.
    #[error("the model's leaf_rows have {found} for tree {tree}, whose leaves are {expected}")]
    LeafRows {
        /// The tree.
        tree: usize,
        /// How many there are, or what is wrong with one.
        found: String,
        /// The number of its leaves.
        expected: usize,
    },
    /// The forest is not sound.
    #[error("the model's forest is not sound: {0}")]
    Forest(#[from] ForestError),
    /// A feature that this dropcast cannot compute.
    #[error("the model's features: {0}")]
    UnknownFeature(#[from] UnknownFeature),
    /// The description of a feature differs from how this dropcast computes it.
    #[error(
        "the model's feature {name} has {field} {found}, but this dropcast computes {expected}"
    )]
    Definition {
        /// The feature.
        name: String,
        /// What differs.
        field: &'static str,
        /// The model's value.
        found: String,
        /// This dropcast's value.
        expected: String,
    },
    /// The range of a feature is not one, or others have one and it has none.
    #[error("the model's feature {name} has {found}, expected one from lowest to highest")]
    Range {
        /// The feature.
        name: String,
        /// What it has.
        found: String,
    },
    /// The forest's list of features is not that of the model.
    #[error("the model describes features {described:?}, but its forest lists {listed:?}")]
    Features {
        /// The names in `features`.
        described: Vec<String>,
        /// The names in `forest.features`.
        listed: Vec<String>,
    },
}

impl<P> Model<P> {
    /// A model with only a forest, its features and its switch. `features` must name the forest's
    /// features.
    pub fn new(forest: Forest, features: FeatureSet, switch: SwitchContext) -> Self {
        let forest = Forest { features: features.names(), ..forest };
        Model {
            forest,
            features,
            ranges: None,
            leaf_rows: None,
            switch,
            rescaled_from_bytes: None,
            provenance: None,
            imported: None,
            metrics: None,
        }
    }

    /// What is executed of it, for its switch, without its records and metrics.
    pub fn executed(&self) -> Model<()> {
        Model::new(self.forest.clone(), self.features.clone(), self.switch.clone())
    }

    /// The text of `model.json`. The same model gives the same text.
    pub fn to_json(&self) -> String
    where
        P: Serialize,
    {
        let range = |at: usize| self.ranges.as_ref().and_then(|ranges| ranges.get(at).copied());
        let described = self.features.features().iter().enumerate();
        let text = ModelText {
            format_version: FORMAT_VERSION,
            features: described.map(|(at, &feature)| describe(feature, range(at))).collect(),
            forest: Cow::Borrowed(&self.forest),
            leaf_rows: self.leaf_rows.as_deref().map(Cow::Borrowed),
            switch: Cow::Borrowed(&self.switch),
            rescaled_from_bytes: self.rescaled_from_bytes,
            metrics: Cow::Borrowed(&self.metrics),
            provenance: self.provenance.as_ref(),
            imported: self.imported.as_ref().map(Cow::Borrowed),
        };
        let compact = serde_json::to_string(&text);
        lay_out(&compact.expect("a model has only strings as keys, and writes to memory"))
    }

    /// Reads the text of a `model.json` and checks all of it.
    ///
    /// # Errors
    /// The fault, and where it is: a line and column, or a tree and node.
    pub fn from_json(text: &str) -> Result<Self, ModelError>
    where
        P: DeserializeOwned,
    {
        let Header { format_version } = serde_json::from_str(text)?;
        let found = format_version.ok_or(ModelError::NoVersion)?;
        if found.as_u64() != Some(FORMAT_VERSION) {
            return Err(ModelError::Version { found: found.to_string() });
        }
        let text: ModelText<'_, P> = serde_json::from_str(text)?;
        let forest = text.forest.into_owned();
        forest.check()?;
        let described: Vec<String> = text.features.iter().map(|info| info.name.clone()).collect();
        if described != forest.features {
            return Err(ModelError::Features { described, listed: forest.features });
        }
        let features = described.iter().zip(&text.features).map(|(name, info)| known(name, info));
        let features: Vec<String> = features.collect::<Result<_, ModelError>>()?;
        let model = Model {
            forest,
            features: FeatureSet::try_from(features)?,
            ranges: ranges(&text.features)?,
            leaf_rows: text.leaf_rows.map(Cow::into_owned),
            switch: text.switch.into_owned(),
            rescaled_from_bytes: text.rescaled_from_bytes,
            provenance: text.provenance,
            imported: text.imported.map(Cow::into_owned),
            metrics: text.metrics.into_owned(),
        };
        if let Some(leaves) = &model.leaf_rows {
            check_leaf_rows(&model.forest, leaves)?;
        }
        Ok(model)
    }
}

/// The forest itself predicts, without a table.
impl DropOracle for Forest {
    fn predicts_drop(&self, features: &[u32]) -> bool {
        Forest::predicts_drop(self, features)
    }
}

/// Read first, whatever else the text holds.
#[derive(Deserialize)]
struct Header {
    format_version: Option<serde_json::Number>,
}

/// A model as it is written, in this order.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[serde(bound(deserialize = "P: Deserialize<'de>"))]
struct ModelText<'a, P> {
    format_version: u64,
    features: Vec<FeatureText>,
    switch: Cow<'a, SwitchContext>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    rescaled_from_bytes: Option<u32>,
    metrics: Cow<'a, Option<Metrics>>,
    #[serde(deserialize_with = "Option::deserialize")]
    provenance: Option<P>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    imported: Option<Cow<'a, ImportOrigin>>,
    forest: Cow<'a, Forest>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    leaf_rows: Option<Cow<'a, [Vec<LeafRows>]>>,
}

/// The unit of features of the user's own (`docs/features.md`).
const OWN_UNIT: &str = "own";

/// A feature as it is described.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct FeatureText {
    name: String,
    unit: String,
    definition: String,
    /// Which moving average; absent for other features.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    average: Option<String>,
    /// Absent in models that were made elsewhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    range: Option<FeatureRange>,
}

fn describe(feature: Feature, range: Option<FeatureRange>) -> FeatureText {
    let is_average = feature.memory() == FeatureMemory::MovingAverages;
    FeatureText {
        name: feature.name().to_owned(),
        unit: feature.unit().to_owned(),
        definition: feature.definition().to_owned(),
        average: is_average.then(|| AVERAGE_NS3_TRUNC.to_owned()),
        range,
    }
}

/// Refuses rows of other leaves than the forest has.
fn check_leaf_rows(forest: &Forest, leaves: &[Vec<LeafRows>]) -> Result<(), ModelError> {
    for tree in 0..forest.trees.len().max(leaves.len()) {
        let expected = forest.trees.get(tree).map_or(0, |tree| tree.leaves().count());
        let own = leaves.get(tree).map_or(&[][..], Vec::as_slice);
        let odd = own.iter().find(|leaf| leaf.drops > leaf.rows);
        let found = match odd {
            Some(LeafRows { rows, drops }) => format!("{drops} drops of {rows} rows"),
            None if own.len() != expected => own.len().to_string(),
            None => continue,
        };
        return Err(ModelError::LeafRows { tree, found, expected });
    }
    Ok(())
}

/// The ranges of the features, which all have, or none.
fn ranges(features: &[FeatureText]) -> Result<Option<Vec<FeatureRange>>, ModelError> {
    let has_ranges = features.iter().any(|info| info.range.is_some());
    for FeatureText { name, range, .. } in features {
        let found = match range {
            None if has_ranges => "no range".to_owned(),
            Some(range) if range.lowest > range.highest => {
                format!("the range from {} to {}", range.lowest, range.highest)
            }
            _ => continue,
        };
        return Err(ModelError::Range { name: name.clone(), found });
    }
    Ok(has_ranges.then(|| features.iter().filter_map(|info| info.range).collect()))
}

/// How a list names a feature, checked to be computed here as the model describes it. The wording of a
/// definition may change; a different definition has another name or other parameters.
fn known(name: &str, info: &FeatureText) -> Result<String, ModelError> {
    let spelled = if info.unit == OWN_UNIT { format!("own:{name}") } else { name.to_owned() };
    let ours = describe(spelled.parse()?, None);
    let differs = |field, found: &str, expected: &str| ModelError::Definition {
        name: name.to_owned(),
        field,
        found: found.to_owned(),
        expected: expected.to_owned(),
    };
    if info.unit != ours.unit {
        return Err(differs("unit", &info.unit, &ours.unit));
    }
    if info.average != ours.average {
        let text = |average: &Option<String>| average.clone().unwrap_or_else(|| "none".to_owned());
        return Err(differs("average", &text(&info.average), &text(&ours.average)));
    }
    Ok(spelled)
}
