//! Which of up to 64 things hold for a row, looked up by its bins.
//!
//! After QuickScorer (Lucchese et al., QuickScorer: a fast algorithm to rank documents with
//! additive ensembles of regression trees, SIGIR 2015): each thing has a bit, and what a feature's
//! bin rules out is one word. So a row costs a look-up for each feature, without a branch, however
//! many tests there are.

use std::ops::Range;

/// By feature and bin, what is not ruled out.
#[derive(Clone, Debug)]
pub(crate) struct BinMasks {
    /// What holds before any bin is known.
    all: u64,
    /// Of features that rule out something.
    features: Vec<FeatureMasks>,
}

#[derive(Clone, Debug)]
struct FeatureMasks {
    feature: usize,
    /// By bin.
    left: Box<[u64; 256]>,
}

/// Features that are looked up at once.
const AT_ONCE: usize = 4;

impl BinMasks {
    /// The bits of `all` hold for every row.
    pub(crate) fn new(all: u64) -> Self {
        BinMasks { all, features: Vec::new() }
    }

    /// Clears `bit` for these bins of `feature`, at most 256.
    pub(crate) fn rule_out(&mut self, bit: usize, feature: usize, bins: Range<usize>) {
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
        let mut features = self.features.chunks(AT_ONCE);
        match features.next() {
            Some(first) => and_chunk(first, columns, left, |_| self.all),
            None => left.fill(self.all),
        }
        features.for_each(|more| and_chunk(more, columns, left, |left| left));
    }
}

/// Writes what is left of `before` of what was written.
fn and_chunk(
    masks: &[FeatureMasks],
    columns: &[&[u8]],
    left: &mut [u64],
    before: impl Fn(u64) -> u64,
) {
    let pair = |at: usize| (&*masks[at].left, columns[masks[at].feature]);
    match masks.len() {
        4 => and_all([pair(0), pair(1), pair(2), pair(3)], left, before),
        3 => and_all([pair(0), pair(1), pair(2)], left, before),
        2 => and_all([pair(0), pair(1)], left, before),
        _ => and_all([pair(0)], left, before),
    }
}

fn and_all<const N: usize>(
    masks: [(&[u64; 256], &[u8]); N],
    left: &mut [u64],
    before: impl Fn(u64) -> u64,
) {
    let masks = masks.map(|(masks, column)| (masks, &column[..left.len()]));
    for (row, left) in left.iter_mut().enumerate() {
        let now = masks.iter().map(|(masks, bins)| masks[usize::from(bins[row])]);
        *left = now.fold(before(*left), |a, b| a & b);
    }
}
