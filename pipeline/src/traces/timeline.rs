//! Arrivals and drops of a trace over time.

use super::LabelledTrace;
use crate::PipelineError;

/// Packets by the time of their arrival, in bins of equal length.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Timeline {
    /// When the first bin begins: the first arrival, nanoseconds.
    pub start_ns: u64,
    /// How long a bin is, nanoseconds.
    pub bin_ns: u64,
    /// Arrivals of each bin.
    pub arrivals: Vec<u64>,
    /// Of which LQD drops.
    pub drops: Vec<u64>,
}

impl Timeline {
    /// The timeline of a trace in at most so many bins, at least one. Reads it twice.
    ///
    /// # Errors
    /// If the trace cannot be read, or its rows do not say when they arrived.
    pub fn of(trace: &LabelledTrace, bins: usize) -> Result<Self, PipelineError> {
        let mut range: Option<(u64, u64)> = None;
        each_row(trace, |time_ns, _| {
            let (first, last) = range.unwrap_or((time_ns, time_ns));
            range = Some((first.min(time_ns), last.max(time_ns)));
        })?;
        let Some((start_ns, last)) = range else { return Ok(Timeline::default()) };
        let bins = bins.clamp(1, 1 << 20);
        let bin_ns = (last - start_ns) / bins as u64 + 1;
        let bins = ((last - start_ns) / bin_ns + 1) as usize;
        let mut found =
            Timeline { start_ns, bin_ns, arrivals: vec![0; bins], drops: vec![0; bins] };
        each_row(trace, |time_ns, is_drop| {
            let bin = ((time_ns - start_ns) / bin_ns) as usize;
            found.arrivals[bin] += 1;
            found.drops[bin] += u64::from(is_drop);
        })?;
        Ok(found)
    }
}

fn each_row(trace: &LabelledTrace, mut row: impl FnMut(u64, bool)) -> Result<(), PipelineError> {
    for batch in trace.read(&[])? {
        let batch = batch?;
        let arrivals = batch
            .arrivals
            .as_ref()
            .ok_or_else(|| PipelineError::unfit(&trace.name, "has no arrival times"))?;
        for (&time_ns, &is_drop) in arrivals.time_ns.iter().zip(&batch.drop) {
            row(time_ns, is_drop);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use dropcast_data::{ArrivalColumns, LabelledBatch, RowOrder, TraceMeta};

    fn trace(times_ns: &[u64], drop: &[bool]) -> LabelledTrace {
        let rows = times_ns.len();
        let arrivals = ArrivalColumns {
            time_ns: times_ns.to_vec(),
            switch_id: vec![0; rows],
            port: vec![0; rows],
            queue: vec![0; rows],
            size_bytes: vec![1; rows],
            flows: None,
        };
        let drop = drop.to_vec();
        let batch = LabelledBatch { arrivals: Some(arrivals), drop, ..LabelledBatch::default() };
        let meta = TraceMeta::unknown(RowOrder::Arrival, Vec::new());
        LabelledTrace::in_memory("trace", meta, vec![batch]).unwrap()
    }

    #[test]
    fn every_row_is_in_a_bin() {
        let found = Timeline::of(&trace(&[10, 19, 20, 29], &[true, false, true, true]), 2).unwrap();
        let expected =
            Timeline { start_ns: 10, bin_ns: 10, arrivals: vec![2, 2], drops: vec![1, 2] };
        assert_eq!(found, expected);
        let one = Timeline::of(&trace(&[7], &[false]), 100).unwrap();
        assert_eq!((one.bin_ns, one.arrivals), (1, vec![1]));
    }
}
