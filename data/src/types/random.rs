//! Randomness by counting: a hash of what is drawn for, so that no draw depends on the order, the
//! partition or the thread in which rows are met.
//!
//! The hash is SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators,
//! OOPSLA 2014).

/// Weyl increment of SplitMix64.
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// SplitMix64's output function: a bijection that scrambles all bits.
fn finalize(mut x: u64) -> u64 {
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// The first number of SplitMix64 seeded with `value`: 64 uniform bits.
pub fn mix(value: u64) -> u64 {
    finalize(value.wrapping_add(GOLDEN))
}

/// SplitMix64 as a sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SplitMix64(u64);

impl SplitMix64 {
    /// The sequence of a seed.
    pub fn new(seed: u64) -> Self {
        SplitMix64(seed)
    }

    /// The next 64 uniform bits.
    pub fn next_u64(&mut self) -> u64 {
        let bits = mix(self.0);
        self.0 = self.0.wrapping_add(GOLDEN);
        bits
    }

    /// A number from `low` to `high`, both included, with `low <= high`. The bias is below 2^-32.
    pub fn between(&mut self, low: u32, high: u32) -> u32 {
        // At most `high - low`.
        low + below(self.next_u64(), u64::from(high - low) + 1) as u32
    }

    /// A random element; `None` if there are none.
    pub fn pick<T: Copy>(&mut self, from: &[T]) -> Option<T> {
        let last = u32::try_from(from.len().checked_sub(1)?).unwrap_or(u32::MAX);
        from.get(self.between(0, last) as usize).copied()
    }

    /// The next uniform number from 0 to below 1.
    pub fn next_f64(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// 64 uniform bits for `key`.
pub fn uniform(seed: u64, key: &[u64]) -> u64 {
    key.iter().fold(mix(seed), |state, &part| mix(state ^ mix(part)))
}

/// A number from 0 to `end - 1` from uniform bits; the bias is below `end / 2^64`.
pub fn below(bits: u64, end: u64) -> u64 {
    ((u128::from(bits) * u128::from(end)) >> 64) as u64
}

/// A stream of random numbers, addressed by position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stream(u64);

impl Stream {
    /// The stream of `purpose` for everything in `key`. Streams of other purposes are independent.
    pub fn new(seed: u64, purpose: u64, key: &[u64]) -> Self {
        let start = finalize(finalize(seed).wrapping_add(purpose));
        let next = |state: u64, &part: &u64| finalize(state.wrapping_add(GOLDEN) ^ finalize(part));
        Stream(key.iter().fold(start, next))
    }

    /// The number at `position`: 64 uniform bits.
    pub fn at(self, position: u64) -> u64 {
        finalize(self.0.wrapping_add(position.wrapping_mul(GOLDEN)))
    }

    /// The numbers 0..`count` in a random order.
    pub fn permutation(self, count: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..count).collect();
        for last in (1..count).rev() {
            order.swap(last, below(self.at(last as u64), last as u64 + 1) as usize);
        }
        order
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_do_not_repeat_each_other() {
        let mut numbers: Vec<u64> = Vec::new();
        for seed in 0..10 {
            for key in 0..10 {
                for purpose in 1..3 {
                    let stream = Stream::new(seed, purpose, &[key, 0]);
                    numbers.extend((0..10).map(|position| stream.at(position)));
                }
            }
        }
        let draws = numbers.len();
        numbers.sort_unstable();
        numbers.dedup();
        assert_eq!(numbers.len(), draws);
    }

    #[test]
    fn the_sequence_is_the_published_one() {
        let mut random = SplitMix64::new(1_234_567);
        let sequence: [u64; 3] = std::array::from_fn(|_| random.next_u64());
        assert_eq!(
            sequence,
            [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]
        );
    }

    #[test]
    fn numbers_between_stay_within_their_bounds_and_meet_them() {
        let mut random = SplitMix64::new(1);
        let drawn: Vec<u32> = (0..200).map(|_| random.between(5, 8)).collect();
        assert_eq!((drawn.iter().min(), drawn.iter().max()), (Some(&5), Some(&8)));
        assert_eq!(random.between(u32::MAX, u32::MAX), u32::MAX);
        assert_eq!(random.pick::<u32>(&[]), None);
    }

    #[test]
    fn permutations_are_fair() {
        let mut seen = [[0_u32; 4]; 4];
        for seed in 0..24_000 {
            let order = Stream::new(seed, 2, &[]).permutation(4);
            for (place, &feature) in order.iter().enumerate() {
                seen[place][feature] += 1;
            }
        }
        for count in seen.into_iter().flatten() {
            assert!((5_700..6_300).contains(&count), "{count}");
        }
    }

    #[test]
    fn numbers_below_an_end_are_all_reached_alike() {
        let mut seen = [0_u32; 5];
        (0..50_000).for_each(|at| seen[below(uniform(1, &[7, at]), 5) as usize] += 1);
        assert!(seen.iter().all(|&count| (9_600..10_400).contains(&count)), "{seen:?}");
    }
}
