//! Confidence intervals over seeds.

use super::percentiles::quantile;
use dropcast_arrivals::{StreamPurpose, stream};
use rand::Rng;
use serde::{Deserialize, Serialize};

/// Resamples of a bootstrap.
const RESAMPLES: usize = 10_000;
/// With fewer values no interval holds the mean in 95% of the cases.
pub(super) const LEAST_VALUES: usize = 5;

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
    /// The mean of one number over independent runs, with the expanded percentile bootstrap's
    /// interval: means of resampled runs between two quantiles that lie further out the fewer runs
    /// there are (Hesterberg, What Teachers Should Know About the Bootstrap, The American
    /// Statistician 2015, section 4.3). Those of the plain bootstrap, the middle 95%, would miss the
    /// mean of 5 normal values in 15% of the cases. None of no values.
    pub fn bootstrap(values: &[f64], seed: u64) -> Option<Self> {
        let count = values.len();
        if count == 0 {
            return None;
        }
        let mean = values.iter().sum::<f64>() / count as f64;
        if count == 1 {
            return Some(Interval { values: 1, mean, bounds: None });
        }
        let mut rng = stream(seed, StreamPurpose::Bootstrap);
        let mut means: Vec<f64> = (0..RESAMPLES)
            .map(|_| {
                let sum: f64 = (0..count).map(|_| values[rng.random_range(0..count)]).sum();
                sum / count as f64
            })
            .collect();
        means.sort_unstable_by(f64::total_cmp);
        let tail = tail(count);
        let at = |share| quantile(&means, means.len() as u64, share);
        let bounds = at(tail).zip(at(1.0 - tail));
        Some(Interval { values: count, mean, bounds })
    }

    /// Whether the interval is above or below 0: a difference beyond noise. Null for fewer than 5
    /// values, which are too few.
    pub fn excludes_zero(&self) -> Option<bool> {
        let bounds = self.bounds.filter(|_| self.values >= LEAST_VALUES);
        bounds.map(|(low, high)| low > 0.0 || high < 0.0)
    }
}

/// The share of resampled means on either side of the interval: `Phi(-sqrt(n / (n - 1)) * t)`, `t`
/// the 97.5% quantile of Student's distribution with `n - 1` degrees of freedom.
fn tail(count: usize) -> f64 {
    const OF_4_TO_30: [f64; 27] = [
        0.000_12, 0.000_95, 0.002_43, 0.004_11, 0.005_74, 0.007_22, 0.008_55, 0.009_72, 0.010_76,
        0.011_67, 0.012_48, 0.013_21, 0.013_86, 0.014_44, 0.014_97, 0.015_45, 0.015_88, 0.016_28,
        0.016_65, 0.016_98, 0.017_29, 0.017_58, 0.017_85, 0.018_10, 0.018_33, 0.018_55, 0.018_76,
    ];
    match count {
        0..4 => 0.0,
        4..=30 => OF_4_TO_30[count - 4],
        _ => 0.025 - 0.19 / count as f64,
    }
}

/// How much larger a number is in runs of one kind than in runs of another with the same seeds
/// (paired by index; pairs with an undefined number are left out). `None` without pairs.
pub fn paired_difference(of: &[Option<f64>], than: &[Option<f64>], seed: u64) -> Option<Interval> {
    let pairs = of.iter().zip(than).filter_map(|(of, than)| of.zip(*than));
    let differences: Vec<f64> = pairs.map(|(of, than)| of - than).collect();
    Interval::bootstrap(&differences, seed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_distr::{Distribution, Normal};

    #[test]
    fn the_interval_holds_the_mean_about_as_often_as_it_says() {
        let normal = Normal::new(3.0, 1.0).expect("valid");
        let mut rng = stream(1, StreamPurpose::Bursts);
        for count in [5, 10, 40] {
            let held = (0..400)
                .filter(|&seed| {
                    let values: Vec<f64> = (0..count).map(|_| normal.sample(&mut rng)).collect();
                    let interval = Interval::bootstrap(&values, seed).expect("values");
                    let (low, high) = interval.bounds.expect("several values");
                    low <= 3.0 && 3.0 <= high
                })
                .count();
            // 95% of 400 are 380, with a standard deviation of 4.4.
            assert!((362..=394).contains(&held), "{held} of 400 with {count} values");
        }
    }

    #[test]
    fn one_value_has_no_spread_and_none_no_mean() {
        assert_eq!(Interval::bootstrap(&[], 1), None);
        let single = Interval::bootstrap(&[2.0], 1).expect("a value");
        assert_eq!((single.mean, single.bounds, single.excludes_zero()), (2.0, None, None));
    }

    #[test]
    fn differences_are_paired() {
        let of = [Some(11.0), Some(102.0), None, Some(1_003.0), Some(3.0), Some(7.0)];
        let than = [Some(10.0), Some(101.0), Some(5.0), Some(1_002.0), Some(2.0), Some(6.0)];
        let difference = paired_difference(&of, &than, 1).expect("pairs");
        assert_eq!((difference.values, difference.mean), (5, 1.0));
        assert_eq!(difference.excludes_zero(), Some(true));
        let few = paired_difference(&of[..4], &than[..4], 1).expect("pairs");
        assert_eq!(few.excludes_zero(), None, "3 pairs are too few");
        let signs = [1.0, -1.0, 1.0, -1.0, 1.0].map(Some);
        let noise = paired_difference(&signs, &[Some(0.0); 5], 1).expect("pairs");
        assert_eq!(noise.excludes_zero(), Some(false));
    }
}
