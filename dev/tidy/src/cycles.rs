//! Strongly connected files.
//!
//! This is not `petgraph`'s algorithm in linear time because a crate has a few hundred files: a search from each will do.

use std::collections::{BTreeMap, BTreeSet};

/// The strongly connected components of more than one of `nodes` under `edges`.
pub(crate) fn cycles(nodes: usize, edges: &BTreeSet<(usize, usize)>) -> Vec<Vec<usize>> {
    let mut after: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    edges.iter().for_each(|&(from, to)| after.entry(from).or_default().push(to));
    let reached = |from: usize| {
        let (mut seen, mut open) = (BTreeSet::new(), vec![from]);
        while let Some(at) = open.pop() {
            let next = after.get(&at).into_iter().flatten();
            open.extend(next.copied().filter(|&next| seen.insert(next)));
        }
        seen
    };
    let reached: Vec<BTreeSet<usize>> = (0..nodes).map(reached).collect();
    let group = |node: usize| -> Vec<usize> {
        (0..nodes)
            .filter(|other| reached[node].contains(other) && reached[*other].contains(&node))
            .collect()
    };
    let groups: BTreeSet<Vec<usize>> =
        (0..nodes).map(group).filter(|group| group.len() > 1).collect();
    groups.into_iter().collect()
}
