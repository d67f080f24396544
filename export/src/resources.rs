//! The resources of a forest as match-action tables, and of other published encodings.

mod encodings;
mod totals;

pub use encodings::Encoding;
pub use totals::TableTotals;

use crate::p4::{Shape, Stages};
use crate::tables::{FeatureTable, Tables, TernaryEntries, TreeTable};
use crate::{ExportError, Facts, Origin};
use dropcast_forest::Forest;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use totals::VALUE_BITS;

/// What a forest takes as match-action tables.
///
/// Logical estimates: what the tables hold, without a vendor compiler's placement and rounding.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TableResources {
    /// A note that these are estimates.
    pub note: Cow<'static, str>,
    /// The forest's sizes, independent of the target.
    pub forest: Facts,
    /// The tables of the features that some tree needs.
    pub features: Vec<FeatureResources>,
    /// The tables of trees, in the forest's order; a tree with one weight for every row has no key
    /// and no entries.
    pub trees: Vec<TreeResources>,
    /// All tables together.
    pub totals: TableTotals,
    /// The same forest in our encoding, then in others'.
    pub encodings: Vec<Encoding>,
    /// Measurements by tools, if run.
    pub measured: Measured,
}

/// The table of one feature.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FeatureResources {
    /// The feature's name.
    pub feature: String,
    /// Different thresholds, all trees taken together.
    pub thresholds: usize,
    /// Entries of a table that matches ranges.
    pub range_entries: usize,
    /// Entries of a table that matches prefixes, as exported.
    pub ternary_entries: usize,
    /// The same with every range cut into prefixes separately.
    pub naive_ternary_entries: usize,
    /// Bits of all the codes that an entry writes, one code for each tree that needs the feature.
    pub code_bits: usize,
}

/// The table of one tree.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TreeResources {
    /// Bits of the codes that are matched.
    pub key_bits: usize,
    /// Ternary entries, one for each leaf.
    pub ternary_entries: usize,
}

/// What tools measured; null where none was run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    /// Look-up tables of the Verilog, as synthesised.
    pub luts: Option<u64>,
    /// Flip-flops of the Verilog, as synthesised.
    pub flip_flops: Option<u64>,
    /// Instructions of the eBPF program, as compiled and linked.
    pub ebpf_instructions: Option<u64>,
    /// Time of a prediction by the C header on this machine, ns.
    pub ns_per_prediction: Option<f64>,
}

/// The text of [`TableResources::note`].
const NOTE: &str =
    "logical estimates: what the tables hold, not where a vendor's compiler places them";

/// Bits of the weight of a leaf.
const WEIGHT_BITS: usize = 8;

impl TableResources {
    /// Counts all resources; measures nothing.
    ///
    /// # Errors
    /// If the forest cannot be exported.
    pub fn new(forest: &Forest, origin: &Origin) -> Result<Self, ExportError> {
        let facts = Facts::new(forest, origin)?;
        let tables = Tables::new(forest)?;
        let features: Vec<FeatureResources> =
            tables.features.iter().map(|feature| of_feature(&tables, feature)).collect();
        let trees: Vec<TreeResources> = tables.trees.iter().map(of_tree).collect();
        let shape = Shape::of_forest(&tables);
        let totals = totals(&features, &trees, TernaryEntries::count(forest)?, &shape);
        Ok(TableResources {
            note: NOTE.into(),
            encodings: encodings::all(&tables, &totals),
            forest: facts,
            features,
            trees,
            totals,
            measured: Measured::default(),
        })
    }
}

fn of_feature(tables: &Tables, feature: &FeatureTable) -> FeatureResources {
    let keys = feature.trees.iter().filter_map(|&tree| tables.key(tree, feature.column));
    FeatureResources {
        feature: feature.name.clone(),
        thresholds: feature.thresholds.len(),
        range_entries: feature.thresholds.len() + 1,
        ternary_entries: feature.prefixes.len(),
        naive_ternary_entries: feature.disjoint_prefixes().len(),
        code_bits: keys.map(|key| key.width()).sum(),
    }
}

fn of_tree(tree: &TreeTable) -> TreeResources {
    TreeResources {
        key_bits: tree.keys.iter().map(|key| key.width()).sum(),
        ternary_entries: if tree.constant().is_some() { 0 } else { tree.leaves.len() },
    }
}

fn totals(
    features: &[FeatureResources],
    trees: &[TreeResources],
    entries: TernaryEntries,
    shape: &Shape,
) -> TableTotals {
    let lookups = trees.iter().filter(|tree| tree.ternary_entries > 0).count();
    let feature_bits = |bits: fn(&FeatureResources) -> usize| -> usize {
        features.iter().map(|feature| feature.ternary_entries * bits(feature)).sum()
    };
    let tree_bits = |bits: fn(&TreeResources) -> usize| -> usize {
        trees.iter().map(|tree| tree.ternary_entries * bits(tree)).sum()
    };
    TableTotals {
        tables: features.len() + lookups,
        range_entries: features.iter().map(|feature| feature.range_entries).sum(),
        ternary_entries: entries.minimised(),
        naive_ternary_entries: entries.naive(),
        ternary_share: (entries.naive() > 0)
            .then(|| entries.minimised() as f64 / entries.naive() as f64),
        loaded_entries: shape.entries() as u64,
        tcam_key_bits: feature_bits(|_| VALUE_BITS) + tree_bits(|tree| tree.key_bits),
        sram_action_bits: feature_bits(|feature| feature.code_bits) + tree_bits(|_| WEIGHT_BITS),
        metadata_bits: features.iter().map(|feature| feature.code_bits).sum(),
        stages: Stages::by_dependencies(shape).total(),
    }
}
