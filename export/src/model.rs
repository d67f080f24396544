//! A forest that targets can rely on.

use crate::complete::Complete;
use crate::ident::identifier;
use crate::{ExportError, Origin};
use dropcast_train::{Forest, Node, Tree};

/// A forest whose trees are trees, with its origin: what a target is given.
pub(crate) struct Model<'a> {
    /// The forest as trained.
    pub(crate) forest: &'a Forest,
    /// Where it comes from.
    pub(crate) origin: &'a Origin,
    /// The forest as complete trees, level by level.
    pub(crate) complete: Complete,
    /// First bytes of the hash of `model.json`.
    pub(crate) id: [u8; 8],
    /// What files and identifiers are named after.
    pub(crate) prefix: String,
}

impl<'a> Model<'a> {
    /// Checks everything that targets rely on.
    ///
    /// # Errors
    /// If the forest is not one, or not the one that `origin` describes, or too large.
    pub(crate) fn new(forest: &'a Forest, origin: &'a Origin) -> Result<Self, ExportError> {
        check_forest(forest)?;
        check_columns(forest, origin)?;
        Ok(Model {
            forest,
            origin,
            complete: Complete::new(forest)?,
            id: origin.model_id()?,
            prefix: identifier(&origin.model_name),
        })
    }
}

/// Checks that predictions with `forest` end, in a leaf, having looked at values that rows have.
///
/// # Errors
/// If not.
pub(crate) fn check_forest(forest: &Forest) -> Result<(), ExportError> {
    match forest.trees.len() {
        0 => return Err(ExportError::NoTrees),
        trees if trees > usize::from(u16::MAX) => return Err(ExportError::TooManyTrees(trees)),
        _ => {}
    }
    let features = forest.features.len();
    if features == 0 || features > usize::from(u8::MAX) {
        return Err(ExportError::FeatureCount(features));
    }
    for (tree, nodes) in forest.trees.iter().enumerate() {
        check_tree(nodes, features).map_err(|(node, problem)| ExportError::BadTree {
            tree,
            node,
            problem,
        })?;
    }
    Ok(())
}

/// Checks that every node but the first is the child of exactly one node before it.
fn check_tree(tree: &Tree, features: usize) -> Result<(), (usize, &'static str)> {
    if tree.nodes.is_empty() {
        return Err((0, "the tree is empty"));
    }
    let mut has_parent = vec![false; tree.nodes.len()];
    for (at, node) in tree.nodes.iter().enumerate() {
        if at > 0 && !has_parent[at] {
            return Err((at, "no node before it leads to it"));
        }
        let Node::Split { feature, left, right, .. } = *node else { continue };
        if usize::from(feature) >= features {
            return Err((at, "it compares a feature that the forest does not have"));
        }
        for child in [left as usize, right as usize] {
            match has_parent.get_mut(child) {
                None => return Err((at, "its child does not exist")),
                Some(_) if child <= at => return Err((at, "its child comes before it")),
                Some(true) => return Err((at, "its child is another's, too")),
                Some(taken) => *taken = true,
            }
        }
    }
    Ok(())
}

/// Checks that `origin` describes the forest's features, in the same order, by distinct names.
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

#[cfg(test)]
mod tests {
    use super::*;
    use dropcast_features::FeatureSet;

    fn split(feature: u16, left: u32, right: u32) -> Node {
        Node::Split { feature, threshold: 5, left, right }
    }

    fn problem(nodes: Vec<Node>) -> Option<(usize, &'static str)> {
        check_tree(&Tree { nodes }, 4).err()
    }

    #[test]
    fn what_is_not_a_tree_is_refused() {
        let leaf = || Node::Leaf { weight: 1 };
        assert_eq!(problem(vec![split(3, 1, 2), leaf(), leaf()]), None);
        assert_eq!(problem(vec![split(3, 2, 1), leaf(), leaf()]), None);
        for (nodes, at, said) in [
            (vec![], 0, "empty"),
            (vec![split(4, 1, 2), leaf(), leaf()], 0, "compares a feature"),
            (vec![split(0, 1, 3), leaf(), leaf()], 0, "does not exist"),
            (vec![split(0, 1, u32::MAX), leaf()], 0, "does not exist"),
            (vec![split(0, 0, 1), leaf()], 0, "comes before"),
            (vec![split(0, 1, 1), leaf()], 0, "another's"),
            (vec![leaf(), leaf()], 1, "no node before"),
            (vec![split(0, 1, 2), split(0, 2, 3), leaf(), leaf()], 1, "another's"),
        ] {
            let (node, problem) = problem(nodes).expect(said);
            assert_eq!(node, at);
            assert!(problem.contains(said), "{problem}");
        }
    }

    #[test]
    fn features_must_be_those_of_the_model() {
        let tree = Tree { nodes: vec![Node::Leaf { weight: 1 }] };
        let hash = "0".repeat(64);
        let origin = Origin::new("m", &hash, &FeatureSet::paper4());
        let forest = |features| Forest { features, vote_threshold: 0, trees: vec![tree.clone()] };
        let fine = forest(FeatureSet::paper4().names());
        assert!(Model::new(&fine, &origin).is_ok());
        let fewer = forest(vec!["occupancy".to_owned()]);
        let error = Model::new(&fewer, &origin).map(|_| ()).expect_err("other features");
        assert!(matches!(error, ExportError::OtherFeatures { .. }), "{error}");
        let none = Model::new(&forest(vec![]), &origin).map(|_| ()).expect_err("no features");
        assert_eq!(none, ExportError::FeatureCount(0));
    }

    #[test]
    fn features_that_code_cannot_tell_apart_are_refused() {
        let names = || vec!["rate-1".to_owned(), "rate_1".to_owned()];
        let tree = Tree { nodes: vec![Node::Leaf { weight: 1 }] };
        let forest = Forest { features: names(), vote_threshold: 0, trees: vec![tree] };
        let mut origin = Origin::new("m", &"0".repeat(64), &FeatureSet::paper4());
        origin.columns.truncate(2);
        for (column, name) in origin.columns.iter_mut().zip(names()) {
            column.name = name;
        }
        let error = Model::new(&forest, &origin).map(|_| ()).expect_err("same name");
        assert_eq!(error, ExportError::SameName("rate-1".to_owned(), "rate_1".to_owned()));
    }
}
