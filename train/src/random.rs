//! Randomness by counting: a hash of what is drawn for, so that no draw depends on the order,
//! the partition or the thread in which rows are met.

use crate::RowId;

/// Weyl increment of SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number
/// generators, OOPSLA 2014).
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// What a draw is for: draws for different purposes are independent.
#[derive(Clone, Copy)]
#[repr(u64)]
pub(crate) enum Purpose {
    Bootstrap = 1,
    FeatureOrder = 2,
    Split = 3,
}

/// A stream of random numbers, addressed by position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stream(u64);

impl Stream {
    /// The stream of `purpose` for everything in `key`.
    pub(crate) fn new(seed: u64, purpose: Purpose, key: &[u64]) -> Self {
        let start = mix(mix(seed).wrapping_add(purpose as u64));
        Stream(key.iter().fold(start, |state, &part| mix(state.wrapping_add(GOLDEN) ^ mix(part))))
    }

    /// The number at `position`: 64 uniform bits.
    pub(crate) fn at(self, position: u64) -> u64 {
        mix(self.0.wrapping_add(position.wrapping_mul(GOLDEN)))
    }

    /// A row's number in the stream of its run and switch.
    pub(crate) fn of_row(seed: u64, purpose: Purpose, id: RowId) -> u64 {
        Stream::new(seed, purpose, &[id.run, u64::from(id.switch)]).at(id.row)
    }
}

/// SplitMix64's output function: a bijection that scrambles all bits.
fn mix(mut x: u64) -> u64 {
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// `count` numbers 0..`count` in a random order.
pub(crate) fn permutation(count: usize, stream: Stream) -> Vec<usize> {
    let mut order: Vec<usize> = (0..count).collect();
    for last in (1..count).rev() {
        // The high half of a 128-bit product maps 64 bits to 0..=last; the bias is below 2^-48.
        let product = u128::from(stream.at(last as u64)) * (last as u128 + 1);
        order.swap(last, (product >> 64) as usize);
    }
    order
}

/// Poisson draws: how often a row is drawn into a bootstrap sample.
///
/// `n` draws with replacement from `n` rows draw each row binomially (n, 1/n), which is Poisson(1)
/// in the limit; independent draws by row are what makes sampling order-free (Oza and Russell,
/// Online bagging and boosting, 2001).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Poisson {
    /// A draw is the number of these that the 64 random bits reach.
    cumulative: [u64; Poisson::MOST],
}

impl Poisson {
    /// No draw is larger. For a mean of 1 the chance that one would be is below 1e-14.
    pub(crate) const MOST: usize = 16;

    /// Draws with this mean, 0 < `mean` <= 1.
    pub(crate) fn new(mean: f64) -> Self {
        let mut probability = exp_minus(mean);
        let mut below = 0.0;
        let mut cumulative = [0; Poisson::MOST];
        for (count, limit) in (1_u32..).zip(&mut cumulative) {
            below += probability;
            probability *= mean / f64::from(count);
            // 2^64: the cast saturates where rounding reaches it.
            *limit = (below * 18_446_744_073_709_551_616.0) as u64;
        }
        Poisson { cumulative }
    }

    /// The draw that 64 random bits stand for.
    pub(crate) fn draw(&self, bits: u64) -> u32 {
        const COMMON: usize = 3;
        let reached = |limit: &u64| u32::from(bits >= *limit);
        let mut draw: u32 = self.cumulative[..COMMON].iter().map(reached).sum();
        if draw == COMMON as u32 {
            draw += self.cumulative[COMMON..].iter().map(reached).sum::<u32>();
        }
        draw
    }
}

/// `exp(-x)` for 0 <= x <= 1 by its series: basic operations only, so the same bits everywhere,
/// which `f64::exp` does not promise.
fn exp_minus(x: f64) -> f64 {
    let (mut term, mut sum) = (1.0, 1.0);
    for n in 1..=25_u32 {
        term *= -x / f64::from(n);
        sum += term;
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn poisson_draws_have_their_distribution() {
        for mean in [1.0, 0.25] {
            let poisson = Poisson::new(mean);
            let stream = Stream::new(7, Purpose::Bootstrap, &[1, 2, 3]);
            let mut seen = [0_u32; Poisson::MOST + 1];
            let rows = 400_000;
            (0..rows).for_each(|row| seen[poisson.draw(stream.at(row)) as usize] += 1);
            let mut expected = f64::exp(-mean) * rows as f64;
            for (count, &seen) in seen.iter().enumerate().take(6) {
                let off = (f64::from(seen) - expected).abs();
                assert!(off < 5.0 * expected.sqrt() + 1.0, "{mean} {count}: {seen} {expected}");
                expected *= mean / (count + 1) as f64;
            }
        }
    }

    #[test]
    fn the_series_of_exp_is_as_exact_as_a_double() {
        for x in [0.0, 0.1, 0.5, 0.632, 1.0] {
            assert!((exp_minus(x) - f64::exp(-x)).abs() < 1e-15, "{x}");
        }
    }

    #[test]
    fn streams_do_not_repeat_each_other() {
        let mut first: Vec<u64> = Vec::new();
        for seed in 0..10 {
            for tree in 0..10 {
                for purpose in [Purpose::Bootstrap, Purpose::FeatureOrder] {
                    let stream = Stream::new(seed, purpose, &[tree, 0]);
                    first.extend((0..10).map(|position| stream.at(position)));
                }
            }
        }
        let draws = first.len();
        first.sort_unstable();
        first.dedup();
        assert_eq!(first.len(), draws);
    }

    #[test]
    fn permutations_are_fair() {
        let mut seen = [[0_u32; 4]; 4];
        for seed in 0..24_000 {
            let order = permutation(4, Stream::new(seed, Purpose::FeatureOrder, &[]));
            for (place, &feature) in order.iter().enumerate() {
                seen[place][feature] += 1;
            }
        }
        for count in seen.into_iter().flatten() {
            assert!((5_700..6_300).contains(&count), "{count}");
        }
    }
}
