//! Random numbers for vectors, reproducible for ever: a dependency's stream could change.

/// SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA
/// 2014).
pub(crate) struct SplitMix(u64);

impl SplitMix {
    pub(crate) fn new(seed: u64) -> Self {
        SplitMix(seed)
    }

    pub(crate) fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number from `low` to `high`, both included, with `low <= high`. The bias is below 2^-32.
    pub(crate) fn between(&mut self, low: u32, high: u32) -> u32 {
        let choices = u64::from(high - low) + 1;
        // Less than `choices`, hence at most `high - low`.
        let offset = (u128::from(self.next_u64()) * u128::from(choices)) >> 64;
        low + offset as u32
    }

    /// A random element; `None` if there are none.
    pub(crate) fn pick<T: Copy>(&mut self, from: &[T]) -> Option<T> {
        let last = u32::try_from(from.len().checked_sub(1)?).unwrap_or(u32::MAX);
        from.get(self.between(0, last) as usize).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gives_the_published_stream() {
        let mut random = SplitMix::new(1_234_567);
        let stream: [u64; 3] = std::array::from_fn(|_| random.next_u64());
        assert_eq!(
            stream,
            [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]
        );
    }

    #[test]
    fn stays_within_bounds_and_meets_them() {
        let mut random = SplitMix::new(1);
        let drawn: Vec<u32> = (0..200).map(|_| random.between(5, 8)).collect();
        assert_eq!(drawn.iter().min(), Some(&5));
        assert_eq!(drawn.iter().max(), Some(&8));
        assert_eq!(random.between(u32::MAX, u32::MAX), u32::MAX);
        assert_eq!(random.pick::<u32>(&[]), None);
    }
}
