//! Unknown feature names.

use crate::list::{LIST, SETS};
use crate::own::{LONGEST_NAME, PREFIX, is_computed, is_name};

/// A name that is neither a feature nor a set, or that no column of the user's own may have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", problem(.0))]
pub struct UnknownFeature(pub String);

impl UnknownFeature {
    /// Of a name that was given as that of a column of the user's own.
    pub(crate) fn own(name: &str) -> Self {
        let prefix = if name.starts_with(PREFIX) { "" } else { PREFIX };
        UnknownFeature(format!("{prefix}{name}"))
    }
}

/// From this Jaro-Winkler similarity on a name is taken for a misspelt one.
const NEAR: f64 = 0.85;

fn problem(name: &str) -> String {
    let bare = name.strip_prefix(PREFIX).unwrap_or(name);
    if is_computed(bare) {
        return format!(
            "{bare:?} is computed, it is no column of your own; ask for it among the features, or rename \
             your column"
        );
    }
    if bare != name && is_name(bare) {
        return format!(
            "{name:?} is more than the name of a column; leave out {PREFIX}, as {bare}"
        );
    }
    if bare != name {
        return format!(
            "{bare:?} cannot be a feature of your own; its name is letters, digits and _, begins with a \
             letter, and has at most {LONGEST_NAME} characters; rename the column"
        );
    }
    let known = LIST.iter().map(|feature| feature.name).chain(SETS.iter().map(|set| set.name));
    if let Some(near) = nearest(name, known) {
        return format!("unknown feature {name:?}; did you mean {near}?");
    }
    format!(
        "unknown feature {name:?}; known are {} and the sets {} (docs/features.md); a column of your own is {PREFIX}NAME",
        LIST.map(|feature| feature.name).join(", "),
        SETS.map(|set| set.name).join(", ")
    )
}

/// The known name that is meant by another, if one is near.
pub fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let near = known.map(|known| (strsim::jaro_winkler(name, known), known));
    let (likeness, known) = near.max_by(|one, other| one.0.total_cmp(&other.0))?;
    (likeness >= NEAR).then_some(known)
}
