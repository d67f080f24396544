//! Where codes are: in words of 8, 16 or 32 bits, the sizes of Tofino's containers. Only the table
//! of one feature writes a word, all of it at once, so the tables of features never meet in a
//! container and can share a stage.

use super::shape::FeatureShape;
use crate::tables::Code;

/// The codes of one feature.
pub(crate) struct CodeWords {
    /// Bits of each word.
    pub(crate) words: Vec<usize>,
    /// Where each code is, in the order of [`FeatureShape::codes`].
    pub(crate) parts: Vec<Vec<CodeBits>>,
}

/// Bits of a code within one word.
#[derive(Clone, Copy)]
pub(crate) struct CodeBits {
    pub(crate) word: usize,
    /// The first bit in the word.
    pub(crate) low: usize,
    pub(crate) width: usize,
    /// The first bit of the code.
    pub(crate) from: usize,
}

/// Bits of the largest container.
const WORD: usize = 32;

impl CodeWords {
    pub(crate) fn new(feature: &FeatureShape) -> Self {
        let mut next = 0;
        let parts = feature.codes.iter().map(|&(_, width)| place(width, &mut next)).collect();
        let count = next.div_ceil(WORD);
        let words = (0..count).map(|word| match next - word * WORD {
            1..=8 => 8,
            9..=16 => 16,
            _ => WORD,
        });
        CodeWords { words: words.collect(), parts }
    }

    /// The words that hold these codes, one for each of [`Self::parts`]; codes may be shorter.
    pub(crate) fn holding(&self, codes: &[Code]) -> Vec<Code> {
        let mut words: Vec<Code> = self.words.iter().map(|&bits| Code::zero(bits)).collect();
        for (code, parts) in codes.iter().zip(&self.parts) {
            for part in parts {
                for bit in (0..part.width).filter(|bit| code.bit(part.from + bit)) {
                    words[part.word].set(part.low + bit);
                }
            }
        }
        words
    }
}

impl CodeBits {
    /// These bits of a code, which may be shorter.
    pub(crate) fn of(&self, code: &Code) -> Code {
        let mut part = Code::zero(self.width);
        (0..self.width).filter(|bit| code.bit(self.from + bit)).for_each(|bit| part.set(bit));
        part
    }
}

/// Places a code at bit `next` or after, in as few bytes as it can be, because tables match whole
/// bytes.
fn place(width: usize, next: &mut usize) -> Vec<CodeBits> {
    let bytes = |low: usize| (low + width).div_ceil(8) - low / 8;
    if bytes(*next) > width.div_ceil(8) {
        *next = next.next_multiple_of(8);
    }
    let (mut parts, end) = (Vec::new(), *next + width);
    while *next < end {
        let low = *next % WORD;
        let taken = (end - *next).min(WORD - low);
        parts.push(CodeBits { word: *next / WORD, low, width: taken, from: width - (end - *next) });
        *next += taken;
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_word_is_the_smallest_that_holds_the_rest() {
        let words = |widths: &[usize]| {
            let codes = widths.iter().copied().enumerate().collect();
            CodeWords::new(&FeatureShape { column: 0, entries: 0, codes }).words
        };
        assert_eq!(words(&[7]), [8]);
        assert_eq!(words(&[32, 7]), [32, 8]);
        assert_eq!(words(&[32, 9]), [32, 16]);
        assert_eq!(words(&[32, 17]), [32, 32]);
        assert_eq!(words(&[32, 32, 32, 7]), [32, 32, 32, 8]);
    }

    #[test]
    fn no_code_lacks_a_bit_or_shares_one() {
        for widths in [vec![1], vec![3, 4, 5, 9], vec![15; 9], vec![63, 1, 64, 40, 7], vec![32; 3]]
        {
            let codes = widths.iter().copied().enumerate().collect();
            let words = CodeWords::new(&FeatureShape { column: 0, entries: 0, codes });
            let mut taken: Vec<Code> = words.words.iter().map(|&bits| Code::zero(bits)).collect();
            for (parts, &width) in words.parts.iter().zip(&widths) {
                assert_eq!(parts.iter().map(|part| part.width).sum::<usize>(), width);
                let bytes = |part: &CodeBits| (part.low + part.width).div_ceil(8) - part.low / 8;
                assert_eq!(parts.iter().map(bytes).sum::<usize>(), width.div_ceil(8));
                for bit in parts.iter().flat_map(|part| {
                    (part.low..part.low + part.width).map(move |bit| (part.word, bit))
                }) {
                    assert!(bit.1 < words.words[bit.0] && !taken[bit.0].bit(bit.1), "{widths:?}");
                    taken[bit.0].set(bit.1);
                }
            }
            let ones: Vec<Code> = widths.iter().map(|&width| Code::of_rank(width, width)).collect();
            assert_eq!(words.holding(&ones), taken);
        }
    }
}
