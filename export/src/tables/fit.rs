//! Whether tables fit into a layout that other forests share.

use super::forest_tables::Tables;
use crate::ExportError;
use crate::fixed_layout::FixedLayout;

impl Tables {
    /// Refuses tables that do not fit into a layout.
    pub(crate) fn check_fit(&self, layout: FixedLayout) -> Result<(), ExportError> {
        let refuse = |problem: String| {
            let problem = format!("{problem}; the layout is {layout}");
            Err(ExportError::Unsupported { target: "a fixed layout", problem })
        };
        let trees = self.trees_with_tables();
        if trees.len() > layout.trees() {
            return refuse(format!(
                "{} trees, the layout has room for {} (trees)",
                trees.len(),
                layout.trees()
            ));
        }
        let most = layout.max_score();
        if self.max_score() > most {
            return refuse(format!(
                "scores reach {}, the layout has room for {most} (trees)",
                self.max_score()
            ));
        }
        for tree in trees {
            let leaves = self.trees[tree].leaves.len();
            if leaves > layout.leaves() {
                return refuse(format!(
                    "tree {tree} has {leaves} leaves, the layout has room for {} (depth)",
                    layout.leaves()
                ));
            }
            for key in &self.trees[tree].keys {
                if key.width() > layout.bits() {
                    let feature = self.features.iter().find(|of| of.column == key.column);
                    return refuse(format!(
                        "tree {tree} has {} thresholds of {}, the layout has room for {} (bits)",
                        key.width(),
                        feature.map_or("a feature", |feature| feature.name.as_str()),
                        layout.bits()
                    ));
                }
            }
        }
        match self.features.iter().find(|feature| feature.prefixes.len() > layout.prefixes()) {
            Some(feature) => refuse(format!(
                "{} takes {} prefixes, the layout has room for {} (prefixes)",
                feature.name,
                feature.prefixes.len(),
                layout.prefixes()
            )),
            None => Ok(()),
        }
    }
}
