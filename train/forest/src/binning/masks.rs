//! Which of up to 64 properties hold for a row, looked up by its bins.
//!
//! After QuickScorer (Lucchese et al., QuickScorer: a fast algorithm to rank documents with
//! additive ensembles of regression trees, SIGIR 2015): each property is a bit, and each bin of a
//! feature has a word of the bits it leaves set. A row costs one look-up per feature, without
//! branches, however many tests there are.

use std::ops::Range;

/// By feature and bin, the properties that remain possible.
#[derive(Clone, Debug)]
pub struct BinMasks {
    /// The bits before any bin is known.
    all: u64,
    /// Only features that rule out something.
    features: Vec<FeatureMasks>,
}

#[derive(Clone, Debug)]
struct FeatureMasks {
    feature: usize,
    /// By bin.
    left: Box<[u64; 256]>,
}

/// Features looked up at once.
const AT_ONCE: usize = 4;

/// The columns looked up at once, each with the masks of its bins.
type Lookups<'a, const N: usize> = [(&'a [u64; 256], &'a [u8]); N];

impl BinMasks {
    /// The bits of `all` hold for every row.
    pub fn new(all: u64) -> Self {
        BinMasks { all, features: Vec::new() }
    }

    /// Clears `bit` for these bins of `feature`, at most 256.
    pub fn rule_out(&mut self, bit: usize, feature: usize, bins: Range<usize>) {
        let at = self.features.iter().position(|masks| masks.feature == feature);
        let at = at.unwrap_or_else(|| {
            self.features.push(FeatureMasks { feature, left: Box::new([u64::MAX; 256]) });
            self.features.len() - 1
        });
        for mask in &mut self.features[at].left[bins] {
            *mask &= !(1 << bit);
        }
    }

    /// Writes the bits that hold for each row; `columns` are the bins of each feature.
    pub(crate) fn look_up(&self, columns: &[&[u8]], left: &mut [u64]) {
        left.fill(self.all);
        for masks in self.features.chunks(AT_ONCE) {
            let pair = |at: usize| lookup(&masks[at], columns, left.len());
            match masks.len() {
                4 => and_all([pair(0), pair(1), pair(2), pair(3)], left),
                3 => and_all([pair(0), pair(1), pair(2)], left),
                2 => and_all([pair(0), pair(1)], left),
                _ => and_all([pair(0)], left),
            }
        }
    }

    /// The same for only the rows with one of the bits `wanted`: writes their bits to the front of
    /// `left`, which is as long as the columns, and their row numbers to the front of `rows`, which
    /// is at least as long. Returns how many there are.
    pub fn find(
        &self,
        columns: &[&[u8]],
        wanted: u64,
        left: &mut [u64],
        rows: &mut [u16],
    ) -> usize {
        let masks = &self.features[..];
        let pair = |at: usize| lookup(&masks[at], columns, left.len());
        // All features at once: rows that are not wanted need not be written.
        match masks.len() {
            4 => find_all([pair(0), pair(1), pair(2), pair(3)], self.all, wanted, left, rows),
            3 => find_all([pair(0), pair(1), pair(2)], self.all, wanted, left, rows),
            2 => find_all([pair(0), pair(1)], self.all, wanted, left, rows),
            1 => find_all([pair(0)], self.all, wanted, left, rows),
            _ => {
                self.look_up(columns, left);
                keep(|_, word| word, wanted, left, rows)
            }
        }
    }
}

fn lookup<'a>(
    masks: &'a FeatureMasks,
    columns: &[&'a [u8]],
    rows: usize,
) -> (&'a [u64; 256], &'a [u8]) {
    (&*masks.left, &columns[masks.feature][..rows])
}

/// The bits that the bins of a row leave.
fn left_of<const N: usize>(lookups: &Lookups<'_, N>, row: usize) -> u64 {
    let left = lookups.iter().map(|(masks, bins)| masks[usize::from(bins[row])]);
    left.fold(u64::MAX, |a, b| a & b)
}

fn and_all<const N: usize>(lookups: Lookups<'_, N>, left: &mut [u64]) {
    for (row, left) in left.iter_mut().enumerate() {
        *left &= left_of(&lookups, row);
    }
}

fn find_all<const N: usize>(
    lookups: Lookups<'_, N>,
    all: u64,
    wanted: u64,
    left: &mut [u64],
    rows: &mut [u16],
) -> usize {
    keep(|row, _| all & left_of(&lookups, row), wanted, left, rows)
}

/// Keeps the rows whose word (`word(row number, word so far)`) has a wanted bit.
fn keep(
    word: impl Fn(usize, u64) -> u64,
    wanted: u64,
    left: &mut [u64],
    rows: &mut [u16],
) -> usize {
    let mut found = 0;
    for row in 0..left.len() {
        let word = word(row, left[row]);
        // Always written, kept only if it counts: no branch to mispredict.
        left[found] = word;
        rows[found] = row as u16;
        found += usize::from(word & wanted != 0);
    }
    found
}
