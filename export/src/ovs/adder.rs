//! Addition, which Open vSwitch lacks: a ripple-carry adder with one table per bit of the score.

use super::flow::{Flow, resubmit};
use super::registers::{SCORE, Word};

/// The bit offset of the weight in the score's register.
const WEIGHT_SHIFT: u32 = 16;

/// Bits of a weight.
const WEIGHT_BITS: u32 = 8;

/// The carry.
const CARRY: u32 = 1 << (WEIGHT_SHIFT + WEIGHT_BITS);

/// All bits of the register that are not the score.
pub(super) const SCRATCH: u32 = 0xFFFF_0000;

/// Stores a weight beside the score and clears the carry.
pub(super) fn weight(weight: u8) -> Word {
    let mask = 0xFF << WEIGHT_SHIFT | CARRY;
    Word { register: SCORE, value: u32::from(weight) << WEIGHT_SHIFT, mask }
}

/// Flows that add the weight to a score of `bits` bits, starting in `table`.
pub(super) fn flows(table: usize, bits: u32) -> String {
    let mut text = String::new();
    for bit in 0..bits {
        let score = 1 << bit;
        let weight = if bit < WEIGHT_BITS { 1 << (WEIGHT_SHIFT + bit) } else { 0 };
        for (score_bit, weight_bit, carry) in cases() {
            // Above the weight, nothing changes without a carry.
            if weight == 0 && (weight_bit || !carry) {
                continue;
            }
            let sum = u32::from(score_bit) + u32::from(weight_bit) + u32::from(carry);
            let of = |mask: u32, is_set: bool| if is_set { mask } else { 0 };
            let value = of(score, score_bit) | of(weight, weight_bit) | of(CARRY, carry);
            let new = of(score, sum & 1 == 1) | of(CARRY, sum > 1);
            let set = Word { register: SCORE, value: new, mask: score | CARRY };
            let mut actions = vec![set.set()];
            if bit + 1 < bits {
                actions.push(resubmit(table + bit as usize + 1));
            }
            let matches = vec![Word { register: SCORE, value, mask: score | weight | CARRY }];
            text +=
                &Flow { table: table + bit as usize, priority: 1, matches, actions }.to_string();
        }
    }
    text
}

fn cases() -> impl Iterator<Item = (bool, bool, bool)> {
    (0..8).map(|case| (case & 1 == 1, case & 2 == 2, case & 4 == 4))
}
