//! What the tests share: labelled rows in memory.

use dropcast_data::LabelledBatch;
use dropcast_features::FeatureSet;
use dropcast_forest::SwitchContext;
use dropcast_train::{CheckedForestParams, FitTask, RunBatch, Split, VoteRule};
use std::num::NonZeroUsize;

/// A row: its feature values, and whether it is a drop.
pub(crate) type Row = (Vec<u32>, bool);

/// One run of these rows, one nanosecond apart.
pub(crate) fn run_of(run: u64, rows: &[Row]) -> RunBatch {
    let features = rows.first().map_or(0, |(values, _)| values.len());
    let mut batch = LabelledBatch::with_arrivals(features);
    let arrivals = batch.arrivals.as_mut().unwrap();
    for (time_ns, (values, drop)) in (0..).zip(rows) {
        arrivals.time_ns.push(time_ns);
        arrivals.switch_id.push(0);
        batch.features.iter_mut().zip(values).for_each(|(column, &value)| column.push(value));
        batch.drop.push(*drop);
    }
    batch.outcome = None;
    RunBatch { run, batch }
}

/// Two runs of two switches with interleaved packets; features and drops correlate loosely.
pub(crate) fn two_runs() -> Vec<RunBatch> {
    let mut state = 1_u64;
    let mut random = move |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 33) % below
    };
    let run = |run: u64, random: &mut dyn FnMut(u64) -> u64| {
        let mut rows = Vec::new();
        for _ in 0..6000 {
            let queue = random(40) * random(40) * random(40);
            let occupancy = queue + random(100_000);
            let drop = queue + occupancy / 4 + random(15_000) > 55_000;
            rows.push((vec![queue as u32, random(9) as u32, occupancy as u32], drop));
        }
        let mut batch = run_of(run, &rows);
        let switches = (0..rows.len()).map(|_| random(2) as u16 * 5).collect();
        batch.batch.arrivals.as_mut().unwrap().switch_id = switches;
        batch
    };
    vec![run(11, &mut random), run(22, &mut random)]
}

/// Training on the first `features` features.
pub(crate) fn task(features: usize, params: CheckedForestParams, split: Split) -> FitTask {
    let names = FeatureSet::all().names()[..features].to_vec();
    FitTask {
        features: FeatureSet::try_from(names).unwrap(),
        params,
        split,
        vote: VoteRule::F1,
        switch: SwitchContext { ports: Some(4), ..SwitchContext::default() },
        data: Vec::new(),
        threads: NonZeroUsize::MIN,
    }
}
