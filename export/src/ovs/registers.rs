//! Allocation of Open vSwitch's sixteen 32-bit registers to features, codes and the score.

use crate::ExportError;
use crate::tables::{Code, Tables, Ternary};
use std::collections::BTreeMap;

/// The register of the score.
pub(super) const SCORE: usize = 14;

/// The register of the prediction.
pub(super) const RESULT: usize = 15;

const REGISTER_BITS: usize = 32;

/// Some bits of a register.
pub(super) struct Word {
    pub(super) register: usize,
    pub(super) value: u32,
    pub(super) mask: u32,
}

impl Word {
    /// As a match.
    pub(super) fn pattern(&self) -> String {
        format!("reg{}={:#x}/{:#x}", self.register, self.value, self.mask)
    }

    /// As an action that sets these bits.
    pub(super) fn set(&self) -> String {
        format!("set_field:{:#x}/{:#x}->reg{}", self.value, self.mask, self.register)
    }
}

/// Features in the first registers, then codes packed one after the other.
pub(super) struct Registers {
    /// The first register of codes.
    first: usize,
    /// The first bit of each code, by tree and column.
    places: BTreeMap<(usize, usize), usize>,
}

impl Registers {
    /// Allocates all features and codes.
    ///
    /// # Errors
    /// If there is not enough room.
    pub(super) fn new(tables: &Tables, columns: usize) -> Result<Self, ExportError> {
        let mut places = BTreeMap::new();
        let mut bits = 0;
        for (at, tree) in tables.trees.iter().enumerate() {
            for key in &tree.keys {
                places.insert((at, key.column), bits);
                bits += key.width();
            }
        }
        let needed = columns + bits.div_ceil(REGISTER_BITS);
        if needed > SCORE {
            let problem = format!(
                "{columns} features and {bits} bits of codes take {needed} registers of 32 bits, \
                but there are {SCORE}; train fewer or shallower trees"
            );
            return Err(ExportError::Unsupported { target: "Open vSwitch", problem });
        }
        Ok(Registers { first: columns, places })
    }

    /// Codes, by tree and column, as values of registers.
    pub(super) fn codes<'c>(
        &self,
        codes: impl Iterator<Item = (usize, usize, &'c Code)>,
    ) -> Vec<Word> {
        let mut words = BTreeMap::new();
        for (tree, column, code) in codes {
            let all = (0..code.width()).map(|bit| (bit, bit_of(code, bit)));
            self.place(tree, column, all, &mut words);
        }
        into_words(words)
    }

    /// Patterns of a tree, by column, as patterns of registers.
    pub(super) fn patterns(&self, tree: usize, patterns: &[(usize, &Ternary)]) -> Vec<Word> {
        let mut words = BTreeMap::new();
        for (column, Ternary { value, mask }) in patterns {
            let exact = (0..mask.width()).filter(|&bit| bit_of(mask, bit));
            self.place(tree, *column, exact.map(|bit| (bit, bit_of(value, bit))), &mut words);
        }
        into_words(words)
    }

    /// Adds bits of a code to values and masks of registers.
    fn place(
        &self,
        tree: usize,
        column: usize,
        bits: impl Iterator<Item = (usize, bool)>,
        into: &mut BTreeMap<usize, (u32, u32)>,
    ) {
        let start = self.places.get(&(tree, column)).copied().unwrap_or(0);
        for (bit, is_set) in bits {
            let at = start + bit;
            let word = into.entry(self.first + at / REGISTER_BITS).or_default();
            word.0 |= u32::from(is_set) << (at % REGISTER_BITS);
            word.1 |= 1 << (at % REGISTER_BITS);
        }
    }
}

fn bit_of(code: &Code, bit: usize) -> bool {
    code.words()[bit / 64] >> (bit % 64) & 1 == 1
}

fn into_words(words: BTreeMap<usize, (u32, u32)>) -> Vec<Word> {
    let word = |(register, (value, mask))| Word { register, value, mask };
    words.into_iter().map(word).collect()
}
