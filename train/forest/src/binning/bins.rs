//! Bins: the ranges of a feature's values between which splits are chosen.

/// The edges of one feature, ascending. A value `x` is in bin `b` if `b` edges are below it, so `x
/// <= edges[b]` if and only if its bin is at most `b`: a split between bins is a split of values,
/// without loss.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bins {
    edges: Vec<u32>,
    /// Indices into `edges`, the most useful edge first.
    by_use: Vec<u8>,
    /// Values are looked up by their high bits first: `value >> shift`.
    shift: u32,
    /// By high bits, how many edges lie below every value with these bits.
    first: Vec<u8>,
    /// Steps of the binary search among the edges of one look-up.
    halvings: u32,
    /// The edges, padded with `u32::MAX`, which no value exceeds.
    padded: Box<[u32; PADDED]>,
}

/// At most this many bits index the look-up table (256 KiB). Its slots are as narrow as the ranges
/// that edges are chosen between, so no slot holds more than one edge.
const MOST_BITS: u32 = 18;
/// Index bits where edges are closer together.
const LOOKUP_BITS: u32 = 16;

/// Up to this many edges, comparing with all is faster than a look-up.
const FEW_EDGES: usize = 24;

/// Room for 255 edges and for as many steps beyond them.
const PADDED: usize = 512;

impl Bins {
    /// Bins with these edges, the most useful first: distinct, at most 255 of them.
    pub fn new(by_use: Vec<u32>) -> Self {
        let mut edges = by_use.clone();
        edges.sort_unstable();
        let count = |edges: usize| u8::try_from(edges).expect("there are at most 255 edges");
        let by_use = by_use.iter().map(|edge| count(edges.partition_point(|e| e < edge))).collect();
        let largest = edges.last().copied().unwrap_or(0);
        let shift_to = |bits| (u32::BITS - largest.leading_zeros()).saturating_sub(bits);
        let parts_edges =
            |shift: &u32| edges.windows(2).all(|pair| pair[0] >> shift < pair[1] >> shift);
        let narrow = (shift_to(MOST_BITS)..u32::BITS).rev().find(parts_edges);
        let shift = narrow.unwrap_or(shift_to(LOOKUP_BITS));
        let mut below = 0;
        let mut first_of = |high: u32| {
            let lowest = u64::from(high) << shift;
            while below < edges.len() && u64::from(edges[below]) < lowest {
                below += 1;
            }
            count(below)
        };
        let first: Vec<u8> = (0..=(largest >> shift) + 1).map(&mut first_of).collect();
        // If a slot holds a single value, an edge at that value is not below it.
        let within = first.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap_or(0);
        let halvings = if shift == 0 { 0 } else { u8::BITS - within.leading_zeros() };
        let mut padded = Box::new([u32::MAX; PADDED]);
        padded[..edges.len()].copy_from_slice(&edges);
        Bins { edges, by_use, shift, first, halvings, padded }
    }

    /// The edges, ascending.
    pub fn edges(&self) -> &[u32] {
        &self.edges
    }

    /// The bin of `value`.
    pub fn bin(&self, value: u32) -> u8 {
        self.look_up(value, self.halvings)
    }

    /// The bin of `value`, without a branch; `halvings` must be those of these bins.
    #[inline]
    fn look_up(&self, value: u32, halvings: u32) -> u8 {
        let last = self.first.len() - 1;
        let mut bin = usize::from(self.first[((value >> self.shift) as usize).min(last)]);
        for halving in (0..halvings).rev() {
            // The search starts at edge `bin`; edges beyond the slot's are not below `value`.
            let half = 1 << halving;
            let is_below = value > self.padded[(bin + half - 1) % PADDED];
            bin += if is_below { half } else { 0 };
        }
        bin as u8
    }

    /// Replaces `bins` by those of `values`.
    pub fn bin_all(&self, values: &[u32], bins: &mut Vec<u8>) {
        bins.resize(values.len(), 0);
        // A constant trip count lets the compiler unroll the loop.
        match self.halvings {
            _ if self.edges.len() <= FEW_EDGES => self.compare_all(values, bins),
            0 => self.look_up_all(values, bins, 0),
            1 => self.look_up_all(values, bins, 1),
            2 => self.look_up_all(values, bins, 2),
            more => self.look_up_all(values, bins, more),
        }
    }

    #[inline(always)]
    fn look_up_all(&self, values: &[u32], bins: &mut [u8], halvings: u32) {
        for (bin, &value) in bins.iter_mut().zip(values) {
            *bin = self.look_up(value, halvings);
        }
    }

    /// Compares several values at a time with all edges.
    fn compare_all(&self, values: &[u32], bins: &mut [u8]) {
        let (values, rest) = values.as_chunks::<16>();
        let (bins, rest_bins) = bins.as_chunks_mut::<16>();
        for (bins, values) in bins.iter_mut().zip(values) {
            let mut below = [0_u32; 16];
            for &edge in &self.edges {
                for (below, &value) in below.iter_mut().zip(values) {
                    *below = below.wrapping_add(u32::from(value > edge));
                }
            }
            *bins = below.map(|below| below as u8);
        }
        self.look_up_all(rest, rest_bins, self.halvings);
    }

    /// The coarser bins that `max_bins` allows: the most useful edges only.
    pub fn coarser(&self, max_bins: usize) -> CoarserBins {
        let mut edges = self.by_use[..self.by_use.len().min(max_bins - 1)].to_vec();
        edges.sort_unstable();
        CoarserBins {
            values: edges.iter().map(|&edge| self.edges[usize::from(edge)]).collect(),
            edges,
        }
    }
}

/// Some of the edges of [`Bins`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CoarserBins {
    /// Their indices among all edges, ascending.
    pub edges: Vec<u8>,
    /// The edges themselves.
    values: Vec<u32>,
}

impl CoarserBins {
    /// The edge to split at where a node has rows in bins `below` and `above` but none between: the
    /// last edge up to the middle of the gap.
    pub fn middle(&self, below: usize, above: usize) -> usize {
        let gap = &self.values[below..above];
        let (first, last) = (gap[0], gap[gap.len() - 1]);
        let middle = first + (last - first) / 2;
        // The first edge is never above the middle, so the count is at least 1.
        below + gap.partition_point(|&edge| edge <= middle) - 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_middle_of_a_gap_is_measured_in_values() {
        let bins = Bins::new(vec![100, 12, 11, 10]).coarser(256);
        assert_eq!(bins.edges, [0, 1, 2, 3]);
        assert_eq!(bins.middle(1, 2), 1);
        assert_eq!(bins.middle(0, 3), 1);
        assert_eq!(bins.middle(1, 4), 2, "12 is the last edge up to 55");
    }

    #[test]
    fn coarser_bins_keep_the_most_useful_edges() {
        let bins = Bins::new(vec![50, 10, 90, 70]);
        assert_eq!(bins.edges(), [10, 50, 70, 90]);
        assert_eq!(bins.coarser(4), CoarserBins { edges: vec![0, 1, 3], values: vec![10, 50, 90] });
    }

    proptest! {
        #[test]
        fn bins_count_the_edges_below(
            edges in prop::collection::btree_set(any::<u32>(), 0..255),
            small in prop::collection::btree_set(0_u32..600, 0..255),
            values in prop::collection::vec(any::<u32>(), 0..50),
        ) {
            for edges in [edges, small] {
                let edges: Vec<u32> = edges.into_iter().collect();
                let bins = Bins::new(edges.clone());
                let near = edges.iter().flat_map(|&e| [e, e.saturating_add(1), e.saturating_sub(1)]);
                for value in values.iter().copied().chain(near).chain([0, u32::MAX]) {
                    let below = edges.iter().filter(|&&edge| edge < value).count();
                    prop_assert_eq!(usize::from(bins.bin(value)), below);
                }
                let mut all = vec![9];
                bins.bin_all(&values, &mut all);
                prop_assert_eq!(all, Vec::from_iter(values.iter().map(|&value| bins.bin(value))));
            }
        }
    }
}
