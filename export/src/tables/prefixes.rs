//! Ranges of values as prefixes: the minimal set and the naive one.

use super::code::prefix_mask;

/// Maps the values that share their first `length` bits with `value` to range number `range`,
/// unless a longer prefix matches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PrefixEntry {
    /// The first `length` bits; all others are 0.
    pub value: u32,
    /// The number of bits that count; also the entry's priority, as longer prefixes win.
    pub length: u8,
    /// The range: the number of thresholds that the values are above.
    pub range: usize,
}

impl PrefixEntry {
    /// 1 for the bits that count.
    pub fn mask(&self) -> u32 {
        prefix_mask(self.length)
    }
}

/// Bits of a feature's value.
const BITS: u8 = 32;

/// The fewest prefixes that map every value to the number of `thresholds` it is above, with
/// longest-prefix match. `thresholds` are ascending, distinct and below `u32::MAX`.
///
/// No set of prefixes is smaller: this is ORTC (Draves, King, Venkatachary and Zill,
/// "Constructing optimal IP routing tables", INFOCOM 1999) on a trie whose leaves are single
/// ranges. In order of value, an enclosing prefix before those within it.
pub(crate) fn minimal_prefixes(thresholds: &[u32]) -> Vec<PrefixEntry> {
    minimal(thresholds, BITS)
}

/// The naive prefixes: every range is cut separately into the fewest prefixes.
pub(crate) fn disjoint_prefixes(thresholds: &[u32]) -> Vec<PrefixEntry> {
    disjoint(thresholds, BITS)
}

/// [`minimal_prefixes`] for values of `bits` bits.
fn minimal(thresholds: &[u32], bits: u8) -> Vec<PrefixEntry> {
    let block = Block { low: 0, length: 0, bits };
    let mut entries = Vec::new();
    choose(&cheapest(block, thresholds, 0), block, None, &mut entries);
    entries
}

/// The values that share a prefix.
#[derive(Clone, Copy)]
struct Block {
    low: u32,
    length: u8,
    bits: u8,
}

impl Block {
    /// The largest value of its lower half. The block has two halves: one of its thresholds is not
    /// its last value.
    fn middle(self) -> u32 {
        self.low + (1 << (self.bits - self.length - 1)) - 1
    }

    fn halves(self) -> [Block; 2] {
        let half = |low| Block { low, length: self.length + 1, ..self };
        [half(self.low), half(self.middle() + 1)]
    }

    fn last(self) -> u32 {
        let values = 1_u64 << (self.bits - self.length);
        (u64::from(self.low) + values - 1) as u32
    }

    /// As an entry; values of fewer than 32 bits are in the low bits.
    fn entry(self, range: usize) -> PrefixEntry {
        PrefixEntry { value: self.low, length: self.length, range }
    }
}

/// The cheapest ways to map a block.
enum Choice {
    /// All its values lie in this range.
    One(usize),
    /// Several ranges: those that its own prefix, or an enclosing one, may name so that the fewest
    /// prefixes are needed within; ascending.
    Several { best: Vec<usize>, halves: Box<[Choice; 2]> },
}

impl Choice {
    fn best(&self) -> &[usize] {
        match self {
            Choice::One(range) => std::slice::from_ref(range),
            Choice::Several { best, .. } => best,
        }
    }
}

/// Bottom up: which ranges a block may inherit for free. `thresholds` are those within the block
/// except its last value, `range` is the range of its first value.
fn cheapest(block: Block, thresholds: &[u32], range: usize) -> Choice {
    if thresholds.is_empty() {
        return Choice::One(range);
    }
    let [lower, upper] = block.halves();
    let middle = block.middle();
    let below = thresholds.partition_point(|&threshold| threshold < middle);
    let until = thresholds.partition_point(|&threshold| threshold <= middle);
    let halves = Box::new([
        cheapest(lower, &thresholds[..below], range),
        cheapest(upper, &thresholds[until..], range + until),
    ]);
    let [left, right] = [halves[0].best(), halves[1].best()];
    // Ranges rise with values, so both halves share at most one: the last of the lower half.
    let best = match (left.last(), right.first()) {
        (Some(last), Some(first)) if last == first => vec![*last],
        _ => [left, right].concat(),
    };
    Choice::Several { best, halves }
}

/// Top down: names a range where the inherited one is not among the best.
fn choose(choice: &Choice, block: Block, inherited: Option<usize>, into: &mut Vec<PrefixEntry>) {
    let best = choice.best();
    let named = match inherited {
        Some(range) if best.binary_search(&range).is_ok() => range,
        _ => {
            into.push(block.entry(best[0]));
            best[0]
        }
    };
    if let Choice::Several { halves, .. } = choice {
        for (half, block) in halves.iter().zip(block.halves()) {
            choose(half, block, Some(named), into);
        }
    }
}

/// [`disjoint_prefixes`] for values of `bits` bits.
fn disjoint(thresholds: &[u32], bits: u8) -> Vec<PrefixEntry> {
    let mut entries = Vec::new();
    disjoint_within(Block { low: 0, length: 0, bits }, thresholds, 0, &mut entries);
    entries
}

/// A block within one range is a prefix of it; any other is cut in two.
fn disjoint_within(block: Block, thresholds: &[u32], range: usize, into: &mut Vec<PrefixEntry>) {
    let within = &thresholds[..thresholds.partition_point(|&threshold| threshold < block.last())];
    if within.is_empty() {
        into.push(block.entry(range));
        return;
    }
    let [lower, upper] = block.halves();
    let until = within.partition_point(|&threshold| threshold <= block.middle());
    disjoint_within(lower, &within[..until], range, into);
    disjoint_within(upper, &within[until..], range + until, into);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lookup(entries: &[PrefixEntry], value: u32, bits: u8) -> usize {
        let matches = |entry: &&PrefixEntry| {
            let free = bits - entry.length;
            u64::from(value) >> free == u64::from(entry.value) >> free
        };
        entries.iter().filter(matches).max_by_key(|entry| entry.length).expect("a match").range
    }

    fn rank(thresholds: &[u32], value: u32) -> usize {
        thresholds.iter().filter(|&&threshold| value > threshold).count()
    }

    fn subset(bits: u8, which: u32) -> Vec<u32> {
        (0..(1 << bits) - 1).filter(|at| which >> at & 1 == 1).collect()
    }

    /// The fewest prefixes, by definition: each block names any range or none.
    fn fewest(thresholds: &[u32], low: u32, size: u32, inherited: Option<usize>) -> usize {
        let named = (0..=thresholds.len()).map(|range| (Some(range), 1));
        named
            .chain([(inherited, 0)])
            .map(|(range, cost)| {
                cost + if size > 1 {
                    let half = size / 2;
                    fewest(thresholds, low, half, range)
                        + fewest(thresholds, low + half, half, range)
                } else if range == Some(rank(thresholds, low)) {
                    0
                } else {
                    1000
                }
            })
            .min()
            .expect("something is always possible")
    }

    #[test]
    fn no_set_of_prefixes_is_smaller() {
        for bits in 0..=3 {
            for which in 0..1_u32 << ((1 << bits) - 1) {
                let thresholds = subset(bits, which);
                let entries = minimal(&thresholds, bits);
                let fewest = fewest(&thresholds, 0, 1 << bits, None);
                assert_eq!(entries.len(), fewest, "{thresholds:?}: {entries:?}");
            }
        }
    }

    #[test]
    fn every_value_finds_its_range() {
        for which in 0..1 << 15 {
            let thresholds = subset(4, which);
            let (minimal, disjoint) = (minimal(&thresholds, 4), disjoint(&thresholds, 4));
            for value in 0..16 {
                assert_eq!(lookup(&minimal, value, 4), rank(&thresholds, value));
                assert_eq!(lookup(&disjoint, value, 4), rank(&thresholds, value));
            }
            assert!(minimal.len() <= disjoint.len());
        }
    }

    #[test]
    fn the_naive_way_is_one_cover_for_each_range() {
        // 1..=14 of 4 bits is the worst range: 2 * 4 - 2 prefixes.
        assert_eq!(disjoint(&[0, 14], 4).len(), 1 + 6 + 1);
        assert_eq!(minimal(&[0, 14], 4).len(), 3);
        assert_eq!(disjoint_prefixes(&[0, u32::MAX - 1]).len(), 1 + 62 + 1);
        assert_eq!(minimal_prefixes(&[0, u32::MAX - 1]).len(), 3);
        assert_eq!(minimal_prefixes(&[]), [PrefixEntry { value: 0, length: 0, range: 0 }]);
    }

    #[test]
    fn wide_values_find_their_range_at_every_threshold() {
        let thresholds = [0, 1, 30_000, 1 << 20, (1 << 20) + 1, u32::MAX / 2, u32::MAX - 1];
        for entries in [minimal_prefixes(&thresholds), disjoint_prefixes(&thresholds)] {
            for value in thresholds.iter().flat_map(|&at| [at, at + 1]).chain([u32::MAX]) {
                assert_eq!(lookup(&entries, value, 32), rank(&thresholds, value), "{value}");
            }
        }
    }
}
