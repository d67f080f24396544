//! What identifies the rows of a trace, however they are stored.

use dropcast_data::LabelledBatch;
use dropcast_data::random::mix;

/// A digest of rows: of when and where packets arrived, their sizes and their labels; where arrivals
/// are unknown, of the labels alone. Features and other columns do not count: the same rows with
/// more or fewer of them are the same rows.
///
/// It is the sum of a hash of each row with its number, so how rows are cut into batches does not
/// matter, nor in what file they are. The digests of two of a million traces agree by chance once in
/// thirty million times.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct RowsDigest {
    rows: u64,
    sum: u64,
}

impl RowsDigest {
    /// Adds the next rows.
    pub(crate) fn add(&mut self, batch: &LabelledBatch) {
        let numbers = self.rows..;
        let labels = batch.drop.iter().map(|&drop| u64::from(drop));
        let sum = |sum: u64, hash: u64| sum.wrapping_add(hash);
        self.sum = match &batch.arrivals {
            None => {
                let hashes = numbers.zip(labels).map(|(row, drop)| mix(mix(row) ^ drop));
                hashes.fold(self.sum, sum)
            }
            Some(arrivals) => {
                let at = arrivals.switch_id.iter().zip(&arrivals.port).zip(&arrivals.size_bytes);
                let at = at.map(|((&switch, &port), &bytes)| {
                    u64::from(switch) << 48 | u64::from(port) << 32 | u64::from(bytes)
                });
                let rest = arrivals.queue.iter().zip(labels);
                let rest = rest.map(|(&queue, drop)| u64::from(queue) << 1 | drop);
                let rows = numbers.zip(&arrivals.time_ns).zip(at).zip(rest);
                let hashes = rows.map(|(((row, time_ns), at), rest)| {
                    [*time_ns, at, rest].iter().fold(mix(row), |hash, part| mix(hash ^ part))
                });
                hashes.fold(self.sum, sum)
            }
        };
        self.rows += batch.len() as u64;
    }

    /// Number of rows.
    pub(crate) fn rows(self) -> u64 {
        self.rows
    }

    /// The number by which a trace of these rows is known.
    pub(crate) fn run(self) -> u64 {
        mix(self.sum ^ mix(self.rows))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dropcast_data::ArrivalColumns;

    fn batch(with_arrivals: bool) -> LabelledBatch {
        let arrivals = ArrivalColumns {
            time_ns: (0..100).map(|row| row / 3).collect(),
            switch_id: (0..100).map(|row| row % 2).collect(),
            port: (0..100).map(|row| row % 7).collect(),
            queue: (0..100).map(|row| row % 5).collect(),
            size_bytes: (0..100).map(|row| 64 + row % 11).collect(),
            flows: None,
        };
        LabelledBatch {
            arrivals: with_arrivals.then_some(arrivals),
            features: vec![(0..100).collect()],
            drop: (0..100).map(|row| row % 13 == 0).collect(),
            ..LabelledBatch::default()
        }
    }

    fn run_of(batches: &[LabelledBatch]) -> u64 {
        let mut digest = RowsDigest::default();
        batches.iter().for_each(|batch| digest.add(batch));
        digest.run()
    }

    #[test]
    fn the_division_into_batches_does_not_matter() {
        for with_arrivals in [true, false] {
            let whole = batch(with_arrivals);
            for cut in [0, 1, 50, 100] {
                let mut first = whole.clone();
                let rest = first.split_off(cut);
                assert_eq!(run_of(&[first, rest]), run_of(std::slice::from_ref(&whole)), "{cut}");
            }
        }
    }

    /// Every value of a row, the order of rows and their number count; features do not.
    #[test]
    fn rows_that_differ_in_anything_that_was_seen_are_other_rows() {
        type Change = fn(&mut LabelledBatch, &mut ArrivalColumns);
        let changes: [(Change, bool); 9] = [
            (|_, arrivals| arrivals.time_ns[5] += 1, true),
            (|_, arrivals| arrivals.switch_id[5] = 7, true),
            (|_, arrivals| arrivals.port[5] = 9, true),
            (|_, arrivals| arrivals.queue[5] = 9, true),
            (|_, arrivals| arrivals.size_bytes[5] = 9, true),
            (|batch, _| batch.drop[5] = true, true),
            (|_, arrivals| arrivals.port.swap(0, 1), true),
            (|batch, _| batch.features = Vec::new(), false),
            (|batch, _| batch.features[0][5] = 9, false),
        ];
        for (nth, (change, is_other)) in changes.into_iter().enumerate() {
            let mut changed = batch(true);
            let mut arrivals = changed.arrivals.take().unwrap_or_default();
            change(&mut changed, &mut arrivals);
            changed.arrivals = Some(arrivals);
            assert_eq!(run_of(&[changed]) != run_of(&[batch(true)]), is_other, "{nth}");
        }
        let mut shorter = batch(false);
        shorter.drop.pop();
        assert_ne!(run_of(&[shorter]), run_of(&[batch(false)]));
        assert_ne!(run_of(&[batch(true)]), run_of(&[batch(false)]));
    }
}
