//! Hashes of flows and of a fabric's seed.

use dropcast_data::random::mix;

/// A hash of a flow's packets in one direction, never 0, which means "no hash". Tables and bitmaps of flows take its last
/// bits, paths its first.
pub(super) fn hash(seed: u64, flow: u64, direction: u64) -> u64 {
    let start = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ (2 * flow + direction + 1);
    mix(mix(start)).max(1)
}
