//! Unknown feature names.

use crate::list::{LIST, NamedSet, SETS};

/// A name that is neither a feature nor a set.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown feature {0:?}; known are {known} and the sets {sets}; a column of your own is own:NAME, \
         its name letters, digits and _", known = features(), sets = sets())]
pub struct UnknownFeature(pub String);

fn features() -> String {
    LIST.map(|feature| feature.name).join(", ")
}

fn sets() -> String {
    let set = |set: &NamedSet| {
        let names: Vec<&str> = set.features.iter().map(|feature| feature.name).collect();
        format!("{} = {}", set.name, names.join(", "))
    };
    SETS.map(set).join("; ")
}
