//! A checked forest, as targets receive it.

use crate::complete::Complete;
use crate::fixed_layout::FixedLayout;
use crate::ident::identifier;
use crate::{ExportError, Origin};
use dropcast_forest::Forest;

/// A checked forest with its origin: the input of a target.
pub(crate) struct Checked<'a> {
    /// The forest as trained.
    pub(crate) forest: &'a Forest,
    /// Its origin.
    pub(crate) origin: &'a Origin,
    /// The forest as complete trees, level by level.
    pub(crate) complete: Complete,
    /// First bytes of the hash of `model.json`.
    pub(crate) id: [u8; 8],
    /// Time constant of the moving averages, ns; 0 if not stated.
    pub(crate) average_ns: u32,
    /// The base of file names and identifiers.
    pub(crate) prefix: String,
    /// The layout of P4 tables, if it is to be that of other models too.
    pub(crate) layout: Option<FixedLayout>,
}

impl<'a> Checked<'a> {
    /// Checks all that targets rely on.
    ///
    /// # Errors
    /// If the forest is invalid or too large, or `origin` describes another one.
    pub(crate) fn new(forest: &'a Forest, origin: &'a Origin) -> Result<Self, ExportError> {
        check_forest(forest)?;
        check_columns(forest, origin)?;
        Ok(Checked {
            forest,
            origin,
            complete: Complete::new(forest)?,
            id: origin.model_id()?,
            average_ns: average_ns(origin)?,
            prefix: identifier(&origin.model_name),
            layout: None,
        })
    }
}

/// Checks that each prediction with `forest` reaches a leaf and reads only values that rows have.
///
/// # Errors
/// If not, or if there are more trees or features than targets can index.
pub(crate) fn check_forest(forest: &Forest) -> Result<(), ExportError> {
    forest.check().map_err(ExportError::Forest)?;
    let (trees, features) = (forest.trees.len(), forest.features.len());
    if trees > usize::from(u16::MAX) {
        return Err(ExportError::TooManyTrees(trees));
    }
    if features == 0 || features > usize::from(u8::MAX) {
        return Err(ExportError::FeatureCount(features));
    }
    Ok(())
}

/// Checks that `origin` describes the forest's features, in the same order and with distinct names.
fn check_columns(forest: &Forest, origin: &Origin) -> Result<(), ExportError> {
    let described: Vec<&str> = origin.columns.iter().map(|column| column.name.as_str()).collect();
    if forest.features != described {
        return Err(ExportError::OtherFeatures {
            forest: forest.features.join(","),
            origin: described.join(","),
        });
    }
    for (at, name) in described.iter().enumerate() {
        let same = |other: &&&str| identifier(other) == identifier(name);
        if let Some(other) = described[..at].iter().find(same) {
            return Err(ExportError::SameName((*other).to_owned(), (*name).to_owned()));
        }
    }
    Ok(())
}

fn average_ns(origin: &Origin) -> Result<u32, ExportError> {
    let average_ns = origin.average_ns.unwrap_or(0);
    u32::try_from(average_ns).map_err(|_| ExportError::TimeConstant(average_ns))
}

#[cfg(test)]
mod tests {
    use super::*;
    use dropcast_features::FeatureSet;
    use dropcast_forest::{Node, Tree};

    #[test]
    fn what_is_not_a_forest_is_refused() {
        let child = Node::Split { feature: 0, threshold: 5, left: 1, right: 2 };
        let tree = Tree { nodes: vec![child, Node::Leaf { weight: 1 }] };
        let features = FeatureSet::paper4();
        let forest = Forest { features: features.names(), vote_threshold: 0, trees: vec![tree] };
        let origin = Origin::new("m", &"0".repeat(64), &features);
        let error = Checked::new(&forest, &origin).map(|_| ()).expect_err("a child is missing");
        assert!(matches!(error, ExportError::Forest(_)), "{error}");
    }

    #[test]
    fn features_must_be_those_of_the_model() {
        let tree = Tree { nodes: vec![Node::Leaf { weight: 1 }] };
        let hash = "0".repeat(64);
        let origin = Origin::new("m", &hash, &FeatureSet::paper4());
        let forest = |features| Forest { features, vote_threshold: 0, trees: vec![tree.clone()] };
        let fine = forest(FeatureSet::paper4().names());
        assert!(Checked::new(&fine, &origin).is_ok());
        let fewer = forest(vec!["occupancy".to_owned()]);
        let error = Checked::new(&fewer, &origin).map(|_| ()).expect_err("other features");
        assert!(matches!(error, ExportError::OtherFeatures { .. }), "{error}");
        let none = Checked::new(&forest(vec![]), &origin).map(|_| ()).expect_err("no features");
        assert_eq!(none, ExportError::FeatureCount(0));
    }

    #[test]
    fn features_with_one_name_in_code_are_refused() {
        let names = || vec!["rate-1".to_owned(), "rate_1".to_owned()];
        let tree = Tree { nodes: vec![Node::Leaf { weight: 1 }] };
        let forest = Forest { features: names(), vote_threshold: 0, trees: vec![tree] };
        let mut origin = Origin::new("m", &"0".repeat(64), &FeatureSet::paper4());
        origin.columns.truncate(2);
        for (column, name) in origin.columns.iter_mut().zip(names()) {
            column.name = name;
        }
        let error = Checked::new(&forest, &origin).map(|_| ()).expect_err("same name");
        assert_eq!(error, ExportError::SameName("rate-1".to_owned(), "rate_1".to_owned()));
    }
}
