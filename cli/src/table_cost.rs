//! What forests take of a device, by the tables they are exported as.

use dropcast_data::sha256;
use dropcast_export::{Facts, Origin, Resources, TernaryEntries};
use dropcast_features::FeatureSet;
use dropcast_forest::Forest;
use dropcast_train::{ForestCost, Resource};

/// The cost of forests of some features.
pub(crate) struct TableCost {
    origin: Origin,
}

impl TableCost {
    pub(crate) fn of(features: &FeatureSet) -> Self {
        TableCost { origin: Origin::new("model", &sha256(b""), features) }
    }
}

impl ForestCost for TableCost {
    fn cost(&self, forest: &Forest, resource: Resource) -> Option<u64> {
        let facts = || Facts::new(forest, &self.origin).ok();
        let totals = || Some(Resources::new(forest, &self.origin).ok()?.totals);
        match resource {
            Resource::TernaryEntries => Some(TernaryEntries::of(forest).ok()?.minimised()),
            Resource::RangeEntries => Some(totals()?.range_entries as u64),
            Resource::Bits => Some(totals()?.tcam_key_bits as u64),
            Resource::DctBytes => Some(facts()?.dct_bytes as u64),
            Resource::Thresholds => {
                Some(facts()?.thresholds.iter().map(|feature| feature.distinct as u64).sum())
            }
        }
    }
}
