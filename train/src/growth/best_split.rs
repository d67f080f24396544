//! The best split of a node.

use crate::Criterion;
use crate::growth::histogram::{Count, NodeHistogram};
use dropcast_forest::binning::BINS;
use dropcast_forest::binning::CoarserBins;

/// Counts by class: accepted and dropped rows.
pub(crate) type ClassCounts = [Count; 2];

/// A split of a node: bins of `feature` up to `bin` go left.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct BestSplit {
    pub(crate) feature: usize,
    pub(crate) bin: u8,
    pub(crate) left: ClassCounts,
    pub(crate) right: ClassCounts,
    /// Its decrease in impurity, in a measure that orders the splits of one node.
    gain: f64,
}

/// A feature whose splits are searched.
#[derive(Clone, Debug)]
pub(crate) struct SearchedFeature {
    /// The bins it may split between.
    pub(crate) bins: CoarserBins,
    /// Whether scores may not fall when it is higher.
    pub(crate) rises: bool,
}

/// When a split is valid, and how it is rated.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SplitRule {
    pub(crate) criterion: Criterion,
    /// Weights of the classes.
    pub(crate) class_weight: [f64; 2],
    pub(crate) min_samples_leaf: u64,
}

impl SplitRule {
    /// The best split of a node on the first `tried` features of `order`; if they have no valid
    /// split, on the first later feature that has one.
    ///
    /// Ties go to the feature that comes first, then to the lowest threshold. In small nodes many
    /// splits are perfect: if ties went to the lowest feature, trees would be more alike.
    ///
    /// On features that rise, the share of drops may not be lower on the right side.
    pub(crate) fn search(
        &self,
        histogram: &NodeHistogram,
        features: &[SearchedFeature],
        order: &[usize],
        tried: usize,
    ) -> Option<BestSplit> {
        let mut best: Option<BestSplit> = None;
        for (nth, &feature) in order.iter().enumerate() {
            if nth >= tried && best.is_some() {
                break;
            }
            let found = self.of_feature(histogram.feature(feature), feature, &features[feature]);
            if let Some(found) = found
                && best.is_none_or(|best| found.gain > best.gain)
            {
                best = Some(found);
            }
        }
        best
    }

    fn of_feature(
        &self,
        by_bin: &[ClassCounts; BINS],
        feature: usize,
        SearchedFeature { bins, rises }: &SearchedFeature,
    ) -> Option<BestSplit> {
        let total = sum(by_bin);
        let mut left = ClassCounts::default();
        let mut below: Option<usize> = None;
        let mut best: Option<BestSplit> = None;
        let mut from = 0;
        let ends = bins.edges.iter().map(|&edge| usize::from(edge) + 1).chain([BINS]);
        for (bin, to) in ends.enumerate() {
            let counts = sum(&by_bin[from..to]);
            from = to;
            if rows(counts) == 0 {
                continue;
            }
            if let Some(below) = below {
                let right = minus(total, left);
                let gain = self.gain(left, right);
                let is_valid = self.is_valid(left, right) && (!rises || is_rising(left, right));
                if is_valid && best.is_none_or(|best| gain > best.gain) {
                    let bin = bins.edges[bins.middle(below, bin)];
                    best = Some(BestSplit { feature, bin, left, right, gain });
                }
            }
            left[0].add(counts[0]);
            left[1].add(counts[1]);
            below = Some(bin);
        }
        best
    }

    fn is_valid(&self, left: ClassCounts, right: ClassCounts) -> bool {
        rows(left).min(rows(right)) >= self.min_samples_leaf
    }

    fn gain(&self, left: ClassCounts, right: ClassCounts) -> f64 {
        match self.criterion {
            Criterion::Gini => self.gini_gain(left, right),
            Criterion::Entropy => self.entropy_gain(left, right),
        }
    }

    /// Half the decrease of the Gini impurity times the square of the node's weight. With `a`
    /// accepted and `b` dropped rows on the sides, n rows on each, the decrease is
    /// `2 (bL aR - bR aL)^2 / (n^2 nL nR)` times the weight, up to the node's own n: a single
    /// difference of integers, where the difference of two impurities would lose digits. Without
    /// class weights and below 2^26 rows it is exact, so equally good splits tie.
    fn gini_gain(&self, left: ClassCounts, right: ClassCounts) -> f64 {
        let [accept, drop] = self.class_weight;
        let cross =
            |a: ClassCounts, b: ClassCounts| u128::from(a[1].draws) * u128::from(b[0].draws);
        let apart = cross(left, right).abs_diff(cross(right, left)) as f64 * (accept * drop);
        apart * apart / (self.weight(left) * self.weight(right))
    }

    /// The negated weighted entropies (bits) of the sides; the node's own entropy is the same for
    /// all its splits.
    fn entropy_gain(&self, left: ClassCounts, right: ClassCounts) -> f64 {
        let information = |side: ClassCounts| {
            let [accept, drop] = self.class_weight;
            x_log2_x(side[0].draws as f64 * accept) + x_log2_x(side[1].draws as f64 * drop)
                - x_log2_x(self.weight(side))
        };
        information(left) + information(right)
    }

    fn weight(&self, side: ClassCounts) -> f64 {
        let [accept, drop] = self.class_weight;
        side[0].draws as f64 * accept + side[1].draws as f64 * drop
    }

    /// The weight of a leaf with these counts: its drop share scaled to 0..=255, halves up. A leaf
    /// without drawn rows accepts.
    pub(crate) fn leaf_weight(&self, counts: ClassCounts) -> u8 {
        let drop = 255.0 * (counts[1].draws as f64 * self.class_weight[1]);
        if drop == 0.0 {
            return 0;
        }
        (drop / self.weight(counts) + 0.5) as u8
    }
}

/// Whether the share of drops is not lower on the right: class weights do not change which is lower.
fn is_rising(left: ClassCounts, right: ClassCounts) -> bool {
    let cross = |a: ClassCounts, b: ClassCounts| u128::from(a[1].draws) * u128::from(b[0].draws);
    cross(left, right) <= cross(right, left)
}

/// Number of rows: distinct rows if a setting needs them.
pub(crate) fn rows(counts: ClassCounts) -> u64 {
    counts[0].rows + counts[1].rows
}

/// The total over bins.
pub(crate) fn sum(by_bin: &[ClassCounts]) -> ClassCounts {
    by_bin.iter().fold(ClassCounts::default(), |mut sum, counts| {
        sum[0].add(counts[0]);
        sum[1].add(counts[1]);
        sum
    })
}

fn minus(total: ClassCounts, part: ClassCounts) -> ClassCounts {
    [total[0].minus(part[0]), total[1].minus(part[1])]
}

fn x_log2_x(x: f64) -> f64 {
    if x > 0.0 { x * log2(x) } else { 0.0 }
}

/// Binary logarithm of a normal positive number, by basic operations only: bit-identical on every
/// platform, which `f64::log2` does not promise, and from one version to the next, which `libm` does not. Relative error
/// about 2^-52.
fn log2(x: f64) -> f64 {
    const MANTISSA: u64 = (1 << 52) - 1;
    let bits = x.to_bits();
    let mut exponent = (bits >> 52) as i32 - 1023;
    let mut mantissa = f64::from_bits(bits & MANTISSA | 1023 << 52);
    if mantissa > std::f64::consts::SQRT_2 {
        mantissa /= 2.0;
        exponent += 1;
    }
    // ln m = 2 atanh((m - 1) / (m + 1)), whose argument is at most 0.172.
    let z = (mantissa - 1.0) / (mantissa + 1.0);
    let series = (0..=11_u32).rev().fold(0.0, |sum, n| sum * z * z + 1.0 / f64::from(2 * n + 1));
    f64::from(exponent) + 2.0 * z * series * std::f64::consts::LOG2_E
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(accepts: u64, drops: u64) -> ClassCounts {
        [accepts, drops].map(|draws| Count { draws, rows: draws })
    }

    fn rule(criterion: Criterion) -> SplitRule {
        SplitRule { criterion, class_weight: [1.0, 1.0], min_samples_leaf: 1 }
    }

    #[test]
    fn the_logarithm_is_as_exact_as_a_double() {
        for x in [1e-6, 0.3, 0.707, 1.0, 1.0 + 1e-9, 1.4143, 2.0, 3.0, 12345.678, 1e15] {
            let (ours, theirs) = (log2(x), f64::log2(x));
            assert!((ours - theirs).abs() <= 4e-16 * theirs.abs().max(1e-9), "{x} {ours} {theirs}");
        }
        assert_eq!(log2(1.0), 0.0);
        assert_eq!(log2(1024.0), 10.0);
    }

    #[test]
    fn gains_order_splits_as_the_textbook_impurities_do() {
        let node = (40, 10);
        let gini = |(a, b): (u64, u64)| {
            let (a, b) = (a as f64, b as f64);
            (a + b) - (a * a + b * b) / (a + b)
        };
        let entropy = |(a, b): (u64, u64)| {
            let (a, b) = (a as f64, b as f64);
            let term = |x: f64| if x > 0.0 { x * ((a + b) / x).log2() } else { 0.0 };
            term(a) + term(b)
        };
        let mut splits = Vec::new();
        for a in 0..=node.0 {
            splits.extend((0..=node.1).map(|b| (a, b)));
        }
        splits.retain(|&(a, b)| (1..50).contains(&(a + b)));
        for (criterion, scale) in [(Criterion::Gini, 2.0 / 50.0), (Criterion::Entropy, 1.0)] {
            let impurity = |side| match criterion {
                Criterion::Gini => gini(side),
                Criterion::Entropy => entropy(side),
            };
            for &(a, b) in &splits {
                let right = (node.0 - a, node.1 - b);
                let gain = rule(criterion).gain(counts(a, b), counts(right.0, right.1));
                let base = if criterion == Criterion::Entropy { impurity(node) } else { 0.0 };
                let decrease = impurity(node) - impurity((a, b)) - impurity(right);
                assert!((gain * scale + base - decrease).abs() < 1e-9, "{criterion} {a} {b}");
            }
        }
    }

    #[test]
    fn leaf_weights_round_halves_up() {
        let weight = |accepts, drops| rule(Criterion::Gini).leaf_weight(counts(accepts, drops));
        assert_eq!(weight(0, 0), 0);
        assert_eq!(weight(5, 0), 0);
        assert_eq!(weight(0, 5), 255);
        assert_eq!(weight(1, 1), 128, "127.5");
        assert_eq!(weight(509, 1), 1, "0.5");
        assert_eq!(weight(510, 1), 0, "just below 0.5");
        for rows in 1..1200_u64 {
            for drops in 0..=rows {
                let exact = (2 * 255 * drops + rows) / (2 * rows);
                assert_eq!(u64::from(weight(rows - drops, drops)), exact, "{drops} of {rows}");
            }
        }
    }

    #[test]
    fn class_weights_count_rows_of_a_class_more_than_once() {
        let heavy = SplitRule { class_weight: [1.0, 3.0], ..rule(Criterion::Gini) };
        assert_eq!(
            heavy.leaf_weight(counts(3, 1)),
            rule(Criterion::Gini).leaf_weight(counts(3, 3))
        );
        let gain = heavy.gain(counts(5, 1), counts(2, 4));
        assert_eq!(gain, rule(Criterion::Gini).gain(counts(5, 3), counts(2, 12)));
    }
}
