//! A sample of the rows, of bounded size, drops by themselves: they are few and matter most.

use dropcast_data::random::uniform;
use std::collections::BinaryHeap;

/// Rows of one label that are kept.
pub(crate) struct Stratum {
    most: usize,
    /// Rows added.
    seen: u64,
    /// The random number of each kept row, largest first, and its place in `columns`.
    keys: BinaryHeap<(u64, usize)>,
    columns: Vec<Vec<u32>>,
}

impl Stratum {
    /// At most `most` rows of `width` values.
    pub(crate) fn new(most: usize, width: usize) -> Self {
        Stratum { most, seen: 0, keys: BinaryHeap::new(), columns: vec![Vec::new(); width] }
    }

    /// Adds row `number` of a run, which is at `row` in these columns. The rows with the smallest
    /// hashes of their numbers are kept: a uniform sample that does not depend on batches, nor on
    /// the order of runs.
    pub(crate) fn add(
        &mut self,
        seed: u64,
        (run, number): (u64, u64),
        columns: &[&[u32]],
        row: usize,
    ) {
        let key = uniform(seed, &[run, number]);
        self.seen += 1;
        let values = columns.iter().map(|column| column[row]);
        if self.keys.len() < self.most {
            self.keys.push((key, self.keys.len()));
            self.columns.iter_mut().zip(values).for_each(|(kept, value)| kept.push(value));
        } else if let Some(mut largest) = self.keys.peek_mut()
            && key < largest.0
        {
            let place = largest.1;
            *largest = (key, place);
            self.columns.iter_mut().zip(values).for_each(|(kept, value)| kept[place] = value);
        }
    }

    /// Puts the kept rows in the order of their random numbers.
    pub(crate) fn sort(&mut self) {
        let keys = std::mem::take(&mut self.keys).into_sorted_vec();
        for column in &mut self.columns {
            *column = keys.iter().map(|&(_, place)| column[place]).collect();
        }
        self.keys = (0..).zip(keys).map(|(place, (key, _))| (key, place)).collect();
    }

    /// Rows that are kept.
    pub(crate) fn len(&self) -> usize {
        self.keys.len()
    }

    /// Rows added.
    pub(crate) fn seen(&self) -> u64 {
        self.seen
    }

    /// How many rows a kept row represents.
    pub(crate) fn weight(&self) -> f64 {
        if self.keys.is_empty() { 0.0 } else { self.seen as f64 / self.keys.len() as f64 }
    }

    /// The values of a feature, of all kept rows.
    pub(crate) fn column(&self, feature: usize) -> &[u32] {
        &self.columns[feature]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rows_with_the_smallest_numbers_are_kept() {
        let mut stratum = Stratum::new(10, 1);
        let keys = (0..200_u32).map(|row| (uniform(3, &[0, u64::from(row)]), row));
        let mut slow: Vec<(u64, u32)> = keys.collect();
        slow.sort_unstable();
        (0..200_u32).for_each(|row| stratum.add(3, (0, u64::from(row)), &[&[row]], 0));
        let mut kept: Vec<u32> = stratum.column(0).to_vec();
        let mut expected: Vec<u32> = slow[..10].iter().map(|key| key.1).collect();
        kept.sort_unstable();
        expected.sort_unstable();
        assert_eq!(kept, expected);
        assert_eq!((stratum.seen(), stratum.weight()), (200, 20.0));
        let mut backwards = Stratum::new(10, 1);
        (0..200_u32).rev().for_each(|row| backwards.add(3, (0, u64::from(row)), &[&[row]], 0));
        assert_ne!(stratum.column(0), backwards.column(0));
        stratum.sort();
        backwards.sort();
        assert_eq!(stratum.column(0), backwards.column(0));
    }

    #[test]
    fn few_rows_are_all_kept() {
        let mut stratum = Stratum::new(10, 2);
        (0..3).for_each(|row| stratum.add(3, (0, row as u64), &[&[1, 1, 1], &[0, 1, 2]], row));
        assert_eq!((stratum.len(), stratum.weight()), (3, 1.0));
        assert_eq!((stratum.column(0), stratum.column(1)), (&[1, 1, 1][..], &[0, 1, 2][..]));
    }
}
