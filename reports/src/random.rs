//! Random numbers that are a function of what they are for, not of the order they are asked in.

/// SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014).
pub(crate) fn mix(value: u64) -> u64 {
    let z = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// 64 uniform bits for `key`.
pub(crate) fn uniform(seed: u64, key: &[u64]) -> u64 {
    key.iter().fold(mix(seed), |state, &part| mix(state ^ mix(part)))
}

/// A number from 0 to `end - 1` from uniform bits; the bias is below `end / 2^64`.
pub(crate) fn below(bits: u64, end: u64) -> u64 {
    ((u128::from(bits) * u128::from(end)) >> 64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_below_an_end_are_all_reached_alike() {
        let mut seen = [0_u32; 5];
        (0..50_000).for_each(|at| seen[below(uniform(1, &[7, at]), 5) as usize] += 1);
        assert!(seen.iter().all(|&count| (9_600..10_400).contains(&count)), "{seen:?}");
    }
}
