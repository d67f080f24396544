//! The vote: the scores that predict a drop, as ternary patterns.

use crate::tables::{Code, Ternary};

/// Patterns for the scores above `threshold`, up to `max_score`; no score matches two. Scores have
/// `bits` bits.
pub(crate) fn vote_patterns(threshold: u32, max_score: u32, bits: usize) -> Vec<Ternary> {
    let used = (u32::BITS - max_score.leading_zeros()) as usize;
    let (threshold, max_score) = (u64::from(threshold), u64::from(max_score));
    // A larger score agrees with the threshold down to a bit that it has and the threshold lacks.
    let lowest = |bit: usize| (threshold >> bit | 1) << bit;
    let lacks = |&bit: &usize| threshold >> bit & 1 == 0 && lowest(bit) <= max_score;
    (0..used).rev().filter(lacks).map(|bit| pattern(lowest(bit), bit..used, bits)).collect()
}

/// The scores that agree with `value` in these bits; none has higher ones.
fn pattern(value: u64, agree: std::ops::Range<usize>, bits: usize) -> Ternary {
    let mut pattern = Ternary { value: Code::zero(bits), mask: Code::zero(bits) };
    for bit in agree {
        pattern.mask.set(bit);
        if value >> bit & 1 == 1 {
            pattern.value.set(bit);
        }
    }
    pattern
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exactly_the_scores_above_the_threshold_match_once() {
        for max_score in [0, 1, 5, 255, 260, 1020] {
            for threshold in (0..=max_score + 9).chain([u32::MAX]) {
                let patterns = vote_patterns(threshold, max_score, 16);
                assert!(patterns.len() <= 16);
                for score in 0..=max_score {
                    let matches = |pattern: &&Ternary| {
                        u64::from(score) & pattern.mask.words()[0] == pattern.value.words()[0]
                    };
                    let matching = patterns.iter().filter(matches).count();
                    assert_eq!(matching, usize::from(score > threshold), "{score} {threshold}");
                }
            }
        }
    }
}
