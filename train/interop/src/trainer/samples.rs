//! Rows for the trainers' tests.

use super::rows::FloatRows;
use dropcast_features::FeatureSet;
use dropcast_forest::{Node, SwitchContext, Tree};
use dropcast_train::{FitTask, ForestParams, Split};
use std::num::NonZeroUsize;

/// Rows of four features with noisy labels, the same every time.
pub(super) fn rows(count: usize) -> FloatRows {
    let mut state = 3_u64;
    let mut random = |top: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        ((state >> 33) * top) >> 31
    };
    let mut rows = FloatRows { values: Vec::new(), drop: Vec::new() };
    for _ in 0..count {
        // Few values, many values, and some above 2^24.
        let values = [random(40), random(100_000), random(1 << 32), random(9) * 1_000];
        let is_full = values[1] > 60_000 && values[2] > 1 << 31;
        let is_long = values[0] > 35 && values[3] > 2_000;
        rows.drop.push((is_full || is_long) != (random(9) == 0));
        rows.values.extend(values.map(|value| value as f64));
    }
    rows
}

pub(super) fn task(params: ForestParams) -> FitTask {
    FitTask {
        features: FeatureSet::paper4(),
        params: params.check().expect("parameters of a test are in range"),
        split: Split::None,
        vote: dropcast_train::VoteRule::F1,
        switch: SwitchContext::default(),
        data: Vec::new(),
        threads: NonZeroUsize::MIN,
    }
}

/// All rows, and for each threshold some of them moved to it and to the integers beside it.
pub(super) fn neighbours(trees: &[Tree], rows: &FloatRows) -> Vec<Vec<u32>> {
    let all: Vec<Vec<u32>> = rows
        .values
        .chunks_exact(4)
        .map(|row| row.iter().map(|&value| value as u32).collect())
        .collect();
    let mut cases = all.clone();
    for node in trees.iter().flat_map(|tree| &tree.nodes) {
        let Node::Split { feature, threshold, .. } = *node else { continue };
        for row in all.iter().step_by(37) {
            for value in [threshold.saturating_sub(1), threshold, threshold.saturating_add(1)] {
                let mut row = row.clone();
                row[usize::from(feature)] = value;
                cases.push(row);
            }
        }
    }
    cases
}
