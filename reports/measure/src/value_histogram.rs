//! The distribution of a feature in bounded memory.

/// Buckets per power of two.
const FINE: u32 = 64;
const FINE_BITS: u32 = FINE.ilog2();

/// Counts of 32-bit values: exact below 128, within 1/64 of the value above.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ValueHistogram {
    counts: Vec<u64>,
    rows: u64,
    sum: u128,
    least: Option<u32>,
    most: Option<u32>,
}

impl ValueHistogram {
    pub(crate) fn add(&mut self, value: u32) {
        let bucket = bucket(value);
        if bucket >= self.counts.len() {
            self.counts.resize(bucket + 1, 0);
        }
        self.counts[bucket] += 1;
        self.rows += 1;
        self.sum += u128::from(value);
        self.least = Some(self.least.map_or(value, |least| least.min(value)));
        self.most = Some(self.most.map_or(value, |most| most.max(value)));
    }

    pub(crate) fn rows(&self) -> u64 {
        self.rows
    }

    pub(crate) fn least(&self) -> Option<u32> {
        self.least
    }

    pub(crate) fn most(&self) -> Option<u32> {
        self.most
    }

    pub(crate) fn mean(&self) -> Option<f64> {
        (self.rows > 0).then(|| self.sum as f64 / self.rows as f64)
    }

    /// The value that `percent` of the rows do not exceed, rounded up to the end of its bucket.
    pub(crate) fn percentile(&self, percent: u32) -> Option<u32> {
        let wanted = (u128::from(self.rows) * u128::from(percent)).div_ceil(100).max(1);
        self.cumulative().find(|step| u128::from(step.1) >= wanted).map(|step| step.0)
    }

    /// For each bucket that is not empty: its largest value (the largest seen, in the last one)
    /// and how many rows do not exceed it.
    pub(crate) fn cumulative(&self) -> impl Iterator<Item = (u32, u64)> {
        let mut rows = 0;
        let most = self.most.unwrap_or(0);
        self.counts.iter().enumerate().filter(|(_, count)| **count > 0).map(move |(at, &count)| {
            rows += count;
            (last_of(at).min(most), rows)
        })
    }
}

/// Values below `2 * FINE` have a bucket each; above, the leading bits choose it.
fn bucket(value: u32) -> usize {
    let shift = value.checked_ilog2().unwrap_or(0).saturating_sub(FINE_BITS);
    (shift * FINE + (value >> shift)) as usize
}

/// The largest value of a bucket.
fn last_of(bucket: usize) -> u32 {
    let bucket = bucket as u64;
    let fine = u64::from(FINE);
    let shift = (bucket / fine).saturating_sub(1);
    let lead = bucket - shift * fine;
    u32::try_from(((lead + 1) << shift) - 1).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn buckets_are_narrow_and_in_order(value in any::<u32>(), shift in 0_u32..32) {
            let value = value >> shift;
            let last = last_of(bucket(value));
            prop_assert!(last >= value);
            prop_assert!(u64::from(last - value) * u64::from(FINE) <= u64::from(value));
            prop_assert!(last < 2 * FINE || last > value || bucket(last) == bucket(value));
            if last < u32::MAX {
                prop_assert_eq!(bucket(last + 1), bucket(value) + 1);
            }
        }

        #[test]
        fn percentiles_of_small_values_are_exact(mut values in prop::collection::vec(0_u32..128, 1..50)) {
            let mut histogram = ValueHistogram::default();
            values.iter().for_each(|&value| histogram.add(value));
            values.sort_unstable();
            for percent in [1, 50, 90, 99, 100] {
                let rank = (values.len() * percent).div_ceil(100).max(1);
                prop_assert_eq!(histogram.percentile(percent as u32), Some(values[rank - 1]));
            }
            prop_assert_eq!(histogram.cumulative().last(), Some((values[values.len() - 1], values.len() as u64)));
        }
    }

    #[test]
    fn nothing_has_no_mean() {
        let empty = ValueHistogram::default();
        assert_eq!((empty.mean(), empty.percentile(50), empty.least()), (None, None, None));
    }
}
