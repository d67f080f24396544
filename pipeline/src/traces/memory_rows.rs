//! Labelled traces in memory.

use super::{LabelledTrace, RowsDigest, TraceBatches, TraceRows};
use crate::PipelineError;
use dropcast_data::{ArrivalColumns, DataError, InputProvenance, LabelledBatch, TraceMeta, sha256};
use dropcast_train::DataOrigin;
use std::sync::Arc;

/// The rows of a trace, with the columns of its features.
#[derive(Debug)]
struct MemoryRows {
    name: String,
    sha256: String,
    features: Vec<String>,
    batches: Vec<LabelledBatch>,
}

impl LabelledTrace {
    /// A trace whose rows are in memory: the columns of each batch are those of `meta.features`.
    ///
    /// # Errors
    /// If a column is missing from a batch, or is not as long as the others.
    pub fn in_memory(
        name: impl Into<String>,
        meta: TraceMeta,
        batches: Vec<LabelledBatch>,
    ) -> Result<Self, PipelineError> {
        let name = name.into();
        for batch in &batches {
            check(batch, meta.features.len())
                .map_err(|problem| PipelineError::unfit(&name, problem))?;
        }
        let sha256 = hash(&meta, &batches)?;
        let mut digest = RowsDigest::default();
        batches.iter().for_each(|batch| digest.add(batch));
        let origin = DataOrigin { name: name.clone(), run: digest.run(), sha256: sha256.clone() };
        let features = meta.features.clone();
        let rows = Arc::new(MemoryRows { name: name.clone(), sha256, features, batches });
        let mut trace = LabelledTrace::new(name, origin, meta, rows);
        trace.row_count = Some(digest.rows());
        Ok(trace)
    }
}

fn check(batch: &LabelledBatch, features: usize) -> Result<(), String> {
    if batch.features.len() != features {
        return Err(format!("has {} columns of {features} features", batch.features.len()));
    }
    let mut lengths: Vec<usize> = batch.features.iter().map(Vec::len).collect();
    lengths.extend(batch.outcome.as_ref().map(Vec::len));
    lengths.extend(batch.real_drop.as_ref().map(Vec::len));
    lengths.extend(batch.arrivals.iter().flat_map(ArrivalColumns::lengths));
    let rows = batch.len();
    match lengths.into_iter().find(|&length| length != rows) {
        Some(length) => Err(format!("has a column of {length} values for {rows} labels")),
        None => Ok(()),
    }
}

/// SHA-256 of the description and of every column, in hexadecimal.
fn hash(meta: &TraceMeta, batches: &[LabelledBatch]) -> Result<String, PipelineError> {
    fn column(values: impl Iterator<Item = u64>) -> String {
        sha256(&values.flat_map(u64::to_le_bytes).collect::<Vec<u8>>())
    }
    let encode = |error: serde_json::Error| PipelineError::Encode {
        what: "the description of a trace",
        problem: error.to_string(),
    };
    let arrivals = || batches.iter().filter_map(|batch| batch.arrivals.as_ref());
    let mut hashes = vec![
        column(arrivals().flat_map(|all| all.time_ns.iter().copied())),
        column(arrivals().flat_map(|all| all.switch_id.iter().map(|&id| id.into()))),
        column(arrivals().flat_map(|all| all.port.iter().map(|&port| port.into()))),
        column(arrivals().flat_map(|all| all.queue.iter().map(|&queue| queue.into()))),
        column(arrivals().flat_map(|all| all.size_bytes.iter().map(|&size| size.into()))),
        column(batches.iter().flat_map(|batch| &batch.drop).map(|&drop| drop.into())),
    ];
    hashes.push(sha256(serde_json::to_string(meta).map_err(encode)?.as_bytes()));
    for feature in 0..meta.features.len() {
        let values = batches.iter().flat_map(|batch| &batch.features[feature]);
        hashes.push(column(values.map(|&value| value.into())));
    }
    let outcomes = batches.iter().filter_map(|batch| batch.outcome.as_ref()).flatten();
    hashes.push(column(outcomes.map(|&outcome| outcome as u64)));
    if batches.iter().any(|batch| batch.real_drop.is_some()) {
        let reasons = batches.iter().filter_map(|batch| batch.real_drop.as_ref()).flatten();
        hashes.push(column(reasons.map(|reason| reason.map_or(0, |reason| reason as u64))));
    }
    if batches.iter().any(|batch| batch.ecn_mark.is_some()) {
        let marks = batches.iter().filter_map(|batch| batch.ecn_mark.as_ref()).flatten();
        hashes.push(column(marks.map(|&is_marked| is_marked.into())));
    }
    if arrivals().any(|all| all.flows.is_some()) {
        let flows = || arrivals().filter_map(|all| all.flows.as_ref());
        hashes.push(column(flows().flat_map(|flows| flows.hash.iter().copied())));
        hashes.push(column(flows().flat_map(|flows| &flows.first_rtt).map(|&is| is.into())));
    }
    Ok(sha256(hashes.concat().as_bytes()))
}

impl TraceRows for MemoryRows {
    fn read(&self, features: &[String]) -> Result<Box<dyn TraceBatches + '_>, DataError> {
        let place = |feature: &String| {
            let place = self.features.iter().position(|has| has == feature);
            place.ok_or_else(|| DataError::MissingFeature {
                file: self.name.clone(),
                feature: feature.clone(),
                has: self.features.clone(),
            })
        };
        let columns = features.iter().map(place).collect::<Result<_, _>>()?;
        Ok(Box::new(MemoryBatches { rows: self, columns, next: 0 }))
    }
}

/// One pass over the rows.
struct MemoryBatches<'a> {
    rows: &'a MemoryRows,
    /// Places of the columns that were asked for.
    columns: Vec<usize>,
    next: usize,
}

impl Iterator for MemoryBatches<'_> {
    type Item = Result<LabelledBatch, DataError>;

    fn next(&mut self) -> Option<Self::Item> {
        let batch = self.rows.batches.get(self.next)?;
        self.next += 1;
        let columns = self.columns.iter().map(|&column| batch.features[column].clone());
        Some(Ok(LabelledBatch {
            arrivals: batch.arrivals.clone(),
            features: columns.collect(),
            drop: batch.drop.clone(),
            outcome: batch.outcome.clone(),
            real_drop: batch.real_drop.clone(),
            ecn_mark: batch.ecn_mark.clone(),
        }))
    }
}

impl TraceBatches for MemoryBatches<'_> {
    fn provenance(&self) -> InputProvenance {
        InputProvenance {
            name: self.rows.name.clone(),
            sha256: self.rows.sha256.clone(),
            events: self.rows.batches.iter().map(|batch| batch.len() as u64).sum(),
            ..InputProvenance::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dropcast_data::RowOrder;

    fn origin(features: &[(&str, u32)], time_ns: u64, drop: bool) -> DataOrigin {
        let names = features.iter().map(|(name, _)| (*name).to_owned()).collect();
        let batch = LabelledBatch {
            arrivals: Some(ArrivalColumns {
                time_ns: vec![time_ns],
                switch_id: vec![0],
                port: vec![1],
                queue: vec![0],
                size_bytes: vec![64],
                flows: None,
            }),
            features: features.iter().map(|&(_, value)| vec![value]).collect(),
            drop: vec![drop],
            ..LabelledBatch::default()
        };
        let meta = TraceMeta::unknown(RowOrder::Arrival, names);
        LabelledTrace::in_memory("trace", meta, vec![batch]).expect("even columns").origin
    }

    #[test]
    fn a_run_is_known_by_its_arrivals_and_labels() {
        let first = origin(&[("occupancy", 7)], 1, false);
        let more = origin(&[("occupancy", 7), ("queue_length", 3)], 1, false);
        assert_eq!(first.run, more.run);
        assert_ne!(first.sha256, more.sha256);
        assert_ne!(first.run, origin(&[("occupancy", 7)], 2, false).run);
        assert_ne!(first.run, origin(&[("occupancy", 7)], 1, true).run);
    }
}
