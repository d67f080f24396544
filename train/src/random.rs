//! Randomness by counting: a hash of what is drawn for, so that no draw depends on the order,
//! the partition or the thread in which rows are met.

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
    pub(crate) fn of_row(seed: u64, purpose: Purpose, run: u64, switch: u16, row: u64) -> u64 {
        Stream::new(seed, purpose, &[run, u64::from(switch)]).at(row)
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

#[cfg(test)]
mod tests {
    use super::*;

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
