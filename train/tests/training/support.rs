//! What the tests share: labelled rows in memory.

use dropcast_data::LabelledBatch;
use dropcast_features::FeatureSet;
use dropcast_train::{CheckedForestParams, FitTask, RunBatch, Split, SwitchContext, VoteRule};
use std::num::NonZeroUsize;

/// A row: its feature values, and whether it is a drop.
pub(crate) type Row = (Vec<u32>, bool);

/// One run of these rows, a nanosecond apart.
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
