//! Codes: bit strings of any width, and patterns that match them.

use std::fmt;

/// A bit string of a fixed width, as in a metadata field or action data.
///
/// Shown in hexadecimal (`0x1f`), bit 0 last.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Code {
    width: usize,
    /// Least significant first; bits at `width` and above are 0.
    words: Vec<u64>,
}

impl Code {
    /// `width` bits, all 0.
    pub fn zero(width: usize) -> Self {
        Code { width, words: vec![0; width.div_ceil(64)] }
    }

    /// The value of a feature as a code of 32 bits.
    pub fn of_value(value: u32) -> Self {
        Code { width: 32, words: vec![u64::from(value)] }
    }

    /// The code of a value above exactly `rank` of `width` thresholds: bit `i` says whether it is
    /// above threshold `i`, so the lowest `rank` bits are 1.
    pub fn of_rank(rank: usize, width: usize) -> Self {
        let mut code = Code::zero(width);
        (0..rank.min(width)).for_each(|bit| code.set(bit));
        code
    }

    /// The lowest `width` bits of a number.
    pub(crate) fn of_bits(number: u64, width: usize) -> Self {
        let mut code = Code::zero(width);
        (0..width.min(64)).filter(|bit| number >> bit & 1 == 1).for_each(|bit| code.set(bit));
        code
    }

    /// Whether a bit is 1; those beyond the width are 0.
    pub(crate) fn bit(&self, bit: usize) -> bool {
        self.words.get(bit / 64).is_some_and(|word| word >> (bit % 64) & 1 == 1)
    }

    /// Reads the format of [`fmt::Display`]: hexadecimal after `0x`. `None` if malformed or wider
    /// than `width` bits.
    pub fn from_hex(text: &str, width: usize) -> Option<Self> {
        let digits = text.strip_prefix("0x").filter(|digits| !digits.is_empty())?;
        let mut code = Code::zero(width);
        for (at, digit) in digits.chars().rev().enumerate() {
            let digit = digit.to_digit(16)?;
            for bit in (0..4).filter(|bit| digit >> bit & 1 == 1) {
                if 4 * at + bit >= width {
                    return None;
                }
                code.set(4 * at + bit);
            }
        }
        Some(code)
    }

    /// The width in bits.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Its bits, 64 to a word, least significant first.
    pub fn words(&self) -> &[u64] {
        &self.words
    }

    /// Sets a bit, which must be below the width.
    pub(crate) fn set(&mut self, bit: usize) {
        self.words[bit / 64] |= 1 << (bit % 64);
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut words = self.words.iter().rev().skip_while(|word| **word == 0);
        write!(f, "{:#x}", words.next().unwrap_or(&0))?;
        words.try_for_each(|word| write!(f, "{word:016x}"))
    }
}

/// A ternary pattern: bits that must be equal and wildcard bits.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ternary {
    /// The bits that must be equal; wildcard bits are 0.
    pub value: Code,
    /// 1 for bits that must be equal.
    pub mask: Code,
}

impl Ternary {
    /// The codes of values above at least `low` and at most `high` of `width` thresholds. Two bits
    /// decide: bit `low - 1` is 1 and bit `high` is 0.
    pub(crate) fn of_ranks(low: usize, high: usize, width: usize) -> Self {
        let mut pattern = Ternary { value: Code::zero(width), mask: Code::zero(width) };
        if low > 0 {
            pattern.value.set(low - 1);
            pattern.mask.set(low - 1);
        }
        if high < width {
            pattern.mask.set(high);
        }
        pattern
    }

    /// Whether everything matches.
    pub(crate) fn is_any(&self) -> bool {
        self.mask.words.iter().all(|&word| word == 0)
    }

    /// The values whose first `length` of 32 bits are those of `value`.
    pub(crate) fn of_prefix(value: u32, length: u8) -> Self {
        let mask = prefix_mask(length);
        Ternary { value: Code::of_value(value & mask), mask: Code::of_value(mask) }
    }
}

/// A mask of the first `length` of 32 bits.
pub(crate) fn prefix_mask(length: u8) -> u32 {
    u32::MAX.checked_shl(32 - u32::from(length.min(32))).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_written_and_read_in_hexadecimal() {
        for (rank, width, text) in [
            (0, 0, "0x0"),
            (0, 5, "0x0"),
            (3, 5, "0x7"),
            (64, 64, "0xffffffffffffffff"),
            (65, 70, "0x1ffffffffffffffff"),
        ] {
            let code = Code::of_rank(rank, width);
            assert_eq!(code.to_string(), text);
            assert_eq!(Code::from_hex(text, width), Some(code));
        }
        let mut high = Code::zero(130);
        high.set(128);
        assert_eq!(high.to_string(), "0x100000000000000000000000000000000");
        assert_eq!(Code::from_hex(&high.to_string(), 130), Some(high));
        for wrong in ["", "0x", "7", "0x20", "0xg"] {
            assert_eq!(Code::from_hex(wrong, 5), None, "{wrong}");
        }
    }

    #[test]
    fn two_bits_show_whether_a_rank_is_in_between() {
        let width = 9;
        for low in 0..=width {
            for high in low..=width {
                let pattern = Ternary::of_ranks(low, high, width);
                for rank in 0..=width {
                    let code = Code::of_rank(rank, width);
                    let matches = code.words[0] & pattern.mask.words[0] == pattern.value.words[0];
                    assert_eq!(matches, (low..=high).contains(&rank));
                }
            }
        }
    }

    #[test]
    fn masks_of_prefixes_are_their_leading_bits() {
        assert_eq!(prefix_mask(0), 0);
        assert_eq!(prefix_mask(1), 0x8000_0000);
        assert_eq!(prefix_mask(32), u32::MAX);
    }
}
