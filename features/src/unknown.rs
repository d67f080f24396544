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
    // Names that only begin alike are near by Jaro and Winkler, but not misspelt.
    let changes = strsim::damerau_levenshtein(name, known);
    (likeness >= NEAR && changes * 3 <= name.len().max(known.len())).then_some(known)
}

/// Serde's message about an unknown field or variant, with the one that is meant, if one is near, in place of all that there are.
///
/// ```
/// let said = "unknown field `servrs`, expected one of `leaves`, `spines`, `servers`";
/// assert_eq!(
///     dropcast_features::with_suggestion(said),
///     "unknown field `servrs`; did you mean `servers`?"
/// );
/// ```
pub fn with_suggestion(message: &str) -> String {
    ["unknown field `", "unknown variant `"]
        .iter()
        .find_map(|kind| suggested(message, kind))
        .unwrap_or_else(|| message.to_owned())
}

fn suggested(message: &str, kind: &str) -> Option<String> {
    let (_, rest) = message.split_once(kind)?;
    let (name, rest) = rest.split_once('`')?;
    let before = &message[..message.len() - rest.len()];
    let rest = rest.strip_prefix(", expected ")?;
    let mut rest = rest.strip_prefix("one of ").unwrap_or(rest);
    let mut known = Vec::new();
    while let Some((one, more)) = rest.strip_prefix('`').and_then(|rest| rest.split_once('`')) {
        known.push(one);
        rest = more;
        let next = [", ", " or "].iter().find_map(|between| more.strip_prefix(between));
        rest = next.filter(|next| next.starts_with('`')).unwrap_or(rest);
    }
    let near = nearest(name, known.into_iter())?;
    // Where it is, before what it should be.
    let (place, more) = rest.split_at(rest.find('\n').unwrap_or(rest.len()));
    Some(format!("{before}{place}; did you mean `{near}`?{more}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_near_name_takes_the_place_of_all_names() {
        for (said, expected) in [
            (
                "\"dtt\": unknown variant `dtt`, expected `dt` or `abm`",
                "\"dtt\": unknown variant `dtt`; did you mean `dt`?",
            ),
            (
                "unknown field `tres`, expected one of `trees`, `votes` at line 9 column 15\nhint",
                "unknown field `tres` at line 9 column 15; did you mean `trees`?\nhint",
            ),
            (
                "unknown field `alhpa`, expected `alpha`",
                "unknown field `alhpa`; did you mean `alpha`?",
            ),
        ] {
            assert_eq!(with_suggestion(said), expected);
        }
        for same in [
            "unknown field `x`, expected one of `trees`, `votes`",
            "unknown field `train_share`, expected one of `trainer`, `split`",
            "unknown field `x`, there are no fields",
            "unknown field `x",
            "is not there",
        ] {
            assert_eq!(with_suggestion(same), same);
        }
    }
}
