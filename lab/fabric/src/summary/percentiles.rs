//! Percentiles: the only definition of those of flows, queues and runs (lab/notes/fabric.md).

use serde::{Deserialize, Serialize};

/// Percentiles and mean of some values. A percentile between two values lies between them in
/// proportion (linear interpolation, NumPy's default).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Percentiles {
    /// Median.
    pub p50: f64,
    /// 95th percentile.
    pub p95: f64,
    /// 99th percentile.
    pub p99: f64,
    /// Mean.
    pub mean: f64,
}

impl Percentiles {
    /// `None` without values.
    pub fn measure(mut values: Vec<f64>) -> Option<Self> {
        values.sort_unstable_by(f64::total_cmp);
        let at = |share| quantile(&values, values.len() as u64, share);
        Some(Percentiles {
            p50: at(0.5)?,
            p95: at(0.95)?,
            p99: at(0.99)?,
            mean: values.iter().sum::<f64>() / values.len() as f64,
        })
    }

    /// Percentiles of counted values, as [`of_counts`] has them.
    pub(crate) fn of_counts(counts: &[u64], step: f64) -> Option<Self> {
        let at = |share| of_counts(counts, step, share);
        let total: u64 = counts.iter().sum();
        let sum: f64 =
            (0..).zip(counts).map(|(k, &count)| f64::from(k) * step * count as f64).sum();
        Some(Percentiles {
            p50: at(0.5)?,
            p95: at(0.95)?,
            p99: at(0.99)?,
            mean: sum / total as f64,
        })
    }
}

/// The quantile of counted values at this share: `counts[k]` of them are `k * step`. `None` without values.
pub(crate) fn of_counts(counts: &[u64], step: f64, share: f64) -> Option<f64> {
    let total: u64 = counts.iter().sum();
    let place = share * total.checked_sub(1)? as f64;
    let at = |rank: u64| {
        let mut below = 0;
        let place = counts.iter().position(|count| {
            below += count;
            below > rank
        })?;
        Some(place as f64 * step)
    };
    let high = at((place.ceil() as u64).min(total - 1))?;
    Some(between(at(place.floor() as u64)?, high, place.fract()))
}

/// The quantile at this share of `all` things, of which `sorted` are the values of those that have one: the others are
/// larger than any. Between two values in proportion, as NumPy's default. `None` where the quantile lies among or next to
/// things without a value.
pub fn quantile(sorted: &[f64], all: u64, share: f64) -> Option<f64> {
    let place = share * all.checked_sub(1)? as f64;
    let at = |place: f64| sorted.get(place as usize).copied();
    Some(between(at(place.floor())?, at(place.ceil())?, place.fract()))
}

fn between(low: f64, high: f64, part: f64) -> f64 {
    low + (high - low) * part
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_numpys() {
        let all = Percentiles::measure(vec![4.0, 1.0, 3.0, 2.0]).expect("values");
        assert_eq!((all.p50, all.mean), (2.5, 2.5));
        assert!((all.p95 - 3.85).abs() < 1e-12);
        assert_eq!(Percentiles::measure(Vec::new()), None);
    }

    #[test]
    fn things_without_a_value_are_larger_than_any() {
        let sorted = [1.0, 2.0, 4.0];
        let at = |share| quantile(&sorted, 5, share);
        assert_eq!([0.0, 0.25, 0.375, 0.5].map(at), [1.0, 2.0, 3.0, 4.0].map(Some));
        assert_eq!([0.6, 0.75, 1.0].map(at), [None; 3]);
    }

    #[test]
    fn counted_values_are_as_listed_ones() {
        let all = Percentiles::of_counts(&[1, 0, 2, 1], 0.5).expect("values");
        let listed = Percentiles::measure(vec![0.0, 1.0, 1.0, 1.5]).expect("values");
        assert_eq!(all, listed);
        assert_eq!(Percentiles::of_counts(&[0, 0], 1.0), None);
        let tail = [9_999, 2, 0, 1];
        assert_eq!([0.99, 1.0].map(|at| of_counts(&tail, 1.0, at)), [0.0, 3.0].map(Some));
        assert_eq!(of_counts(&[1, 1], 4.0, 0.25), Some(1.0));
    }
}
