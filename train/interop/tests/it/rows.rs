//! Labelled rows for the trainers: drops are what a full buffer makes likely.

use dropcast_data::LabelledBatch;
use dropcast_features::FeatureSet;
use dropcast_forest::SwitchContext;
use dropcast_train::{FitTask, ForestParams, RunBatch, Split};
use std::num::NonZeroUsize;

/// Rows of four features with noisy labels, the same every time.
pub(crate) fn rows(count: usize) -> RunBatch {
    let mut state = 7_u64;
    let mut random = |top: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        ((state >> 33) * top) >> 31
    };
    let mut batch = LabelledBatch { features: vec![Vec::new(); 4], ..LabelledBatch::default() };
    for _ in 0..count {
        // Few values, many values, and some above 2^24.
        let values = [random(40), random(100_000), random(1 << 32), random(9) * 1_000];
        let is_full = values[1] > 60_000 && values[2] > 1 << 31;
        let is_long = values[0] > 35 && values[3] > 2_000;
        batch.drop.push((is_full || is_long) != (random(20) == 0));
        let columns = batch.features.iter_mut().zip(values);
        columns.for_each(|(column, value)| column.push(value as u32));
    }
    RunBatch { run: 5, batch }
}

pub(crate) fn task(params: ForestParams) -> FitTask {
    FitTask {
        features: FeatureSet::paper4(),
        params: params.check().unwrap(),
        split: Split::random(),
        vote: "fixed".parse().unwrap(),
        switch: SwitchContext { ports: Some(4), ..SwitchContext::default() },
        data: Vec::new(),
        threads: NonZeroUsize::MIN,
    }
}
