//! Confidence intervals over seeds.

use super::percentiles::at;
use crate::rng::{Stream, stream};
use rand::Rng;
use serde::{Deserialize, Serialize};

/// Resamples of a bootstrap.
const RESAMPLES: usize = 2_000;

/// A mean and its 95% confidence interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// Number of values.
    pub values: usize,
    /// Their mean.
    pub mean: f64,
    /// Bounds; null for a single value, whose spread is unknown.
    pub bounds: Option<(f64, f64)>,
}

impl Interval {
    /// The mean of one number over independent runs, with the percentile bootstrap's interval
    /// (Efron 1979): the middle 95% of the means of resampled runs. `None` without values.
    pub fn of(values: &[f64], seed: u64) -> Option<Self> {
        let count = values.len();
        if count == 0 {
            return None;
        }
        let mean = values.iter().sum::<f64>() / count as f64;
        if count == 1 {
            return Some(Interval { values: 1, mean, bounds: None });
        }
        let mut rng = stream(seed, Stream::Bootstrap);
        let mut means: Vec<f64> = (0..RESAMPLES)
            .map(|_| {
                let sum: f64 = (0..count).map(|_| values[rng.random_range(0..count)]).sum();
                sum / count as f64
            })
            .collect();
        means.sort_unstable_by(f64::total_cmp);
        let bounds = at(&means, 0.025).zip(at(&means, 0.975));
        Some(Interval { values: count, mean, bounds })
    }

    /// Whether the interval is above or below 0: a difference beyond noise. Null for a single value.
    pub fn excludes_zero(&self) -> Option<bool> {
        self.bounds.map(|(low, high)| low > 0.0 || high < 0.0)
    }
}

/// How much larger a number is in runs of one kind than in runs of another with the same seeds
/// (paired by index; pairs with an undefined number are left out). `None` without pairs.
pub fn paired_difference(of: &[Option<f64>], than: &[Option<f64>], seed: u64) -> Option<Interval> {
    let pairs = of.iter().zip(than).filter_map(|(of, than)| of.zip(*than));
    let differences: Vec<f64> = pairs.map(|(of, than)| of - than).collect();
    Interval::of(&differences, seed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_distr::{Distribution, Normal};

    #[test]
    fn the_interval_holds_the_mean_about_as_often_as_it_says() {
        let normal = Normal::new(3.0, 1.0).expect("valid");
        let mut rng = stream(1, Stream::Bursts);
        let held = (0..200)
            .filter(|&seed| {
                let values: Vec<f64> = (0..20).map(|_| normal.sample(&mut rng)).collect();
                let interval = Interval::of(&values, seed).expect("values");
                let (low, high) = interval.bounds.expect("several values");
                low <= 3.0 && 3.0 <= high
            })
            .count();
        // Percentile intervals of 20 values hold it in about 93%.
        assert!((178..=198).contains(&held), "{held} of 200");
    }

    #[test]
    fn one_value_has_no_spread_and_none_no_mean() {
        assert_eq!(Interval::of(&[], 1), None);
        let single = Interval::of(&[2.0], 1).expect("a value");
        assert_eq!((single.mean, single.bounds, single.excludes_zero()), (2.0, None, None));
    }

    #[test]
    fn differences_are_paired() {
        let of = [Some(11.0), Some(102.0), None, Some(1_003.0)];
        let than = [Some(10.0), Some(101.0), Some(5.0), Some(1_002.0)];
        let difference = paired_difference(&of, &than, 1).expect("pairs");
        assert_eq!((difference.values, difference.mean), (3, 1.0));
        assert_eq!(difference.excludes_zero(), Some(true));
        let noise = paired_difference(&[Some(1.0), Some(-1.0)], &[Some(0.0), Some(0.0)], 1);
        assert_eq!(noise.expect("pairs").excludes_zero(), Some(false));
    }
}
