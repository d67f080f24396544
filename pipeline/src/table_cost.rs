//! What forests take of a device, by the tables they are exported as.

use dropcast_data::sha256;
use dropcast_export::{Facts, Origin, TableResources, TernaryEntries};
use dropcast_features::FeatureSet;
use dropcast_forest::Forest;
use dropcast_train::{ForestCost, ForestSize, Resource, TreeOutline};

/// The cost of forests of some features.
pub struct TableCost {
    origin: Origin,
}

impl TableCost {
    /// The cost of forests of these features.
    pub fn new(features: &FeatureSet) -> Self {
        TableCost { origin: Origin::new("model", &sha256(b""), features) }
    }

    /// What a forest takes in tables; null what it cannot be exported to.
    pub fn size(&self, forest: &Forest) -> ForestSize {
        ForestSize {
            dct_bytes: self.cost(forest, Resource::DctBytes),
            ternary_entries: self.cost(forest, Resource::TernaryEntries),
            thresholds: self.cost(forest, Resource::Thresholds).unwrap_or_default(),
        }
    }
}

impl ForestCost for TableCost {
    fn cost(&self, forest: &Forest, resource: Resource) -> Option<u64> {
        let facts = || Facts::new(forest, &self.origin).ok();
        let totals = || Some(TableResources::new(forest, &self.origin).ok()?.totals);
        match resource {
            Resource::TernaryEntries => Some(TernaryEntries::count(forest).ok()?.minimised()),
            Resource::RangeEntries => Some(totals()?.range_entries as u64),
            Resource::Bits => Some(totals()?.tcam_key_bits as u64),
            Resource::DctBytes => Some(facts()?.dct_bytes as u64),
            Resource::LoadedEntries => Some(totals()?.loaded_entries),
            Resource::Stages => Some(totals()?.stages as u64),
            Resource::Thresholds => {
                Some(facts()?.thresholds.iter().map(|feature| feature.distinct as u64).sum())
            }
        }
    }

    fn tree_cost(&self, tree: TreeOutline, resource: Resource) -> Option<u64> {
        // A tree of one leaf needs no table.
        let entries = if tree.leaves > 1 { tree.leaves } else { 0 };
        match resource {
            Resource::TernaryEntries => Some(entries),
            Resource::Bits => Some(entries * tree.thresholds),
            Resource::RangeEntries | Resource::Thresholds => Some(0),
            // All trees are filled up to the depth of the deepest; a table's default entry is not loaded; stages are shared.
            Resource::DctBytes | Resource::LoadedEntries | Resource::Stages => None,
        }
    }

    fn thresholds_cost(&self, thresholds: &[u32], resource: Resource) -> Option<u64> {
        match resource {
            Resource::TernaryEntries => Some(TernaryEntries::prefixes_of(thresholds)),
            Resource::Bits => Some(32 * TernaryEntries::prefixes_of(thresholds)),
            Resource::RangeEntries => Some(thresholds.len() as u64 + 1),
            Resource::Thresholds => Some(thresholds.len() as u64),
            Resource::DctBytes | Resource::LoadedEntries | Resource::Stages => None,
        }
    }
}
