//! Numbers of rows of each partition, from which each row's number follows.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Numbers of rows by key and by the place of their partition.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct PlacedRows<K: Ord>(BTreeMap<K, BTreeMap<u64, u64>>);

impl<K: Ord> Default for PlacedRows<K> {
    fn default() -> Self {
        PlacedRows(BTreeMap::new())
    }
}

impl<K: Ord + Copy> PlacedRows<K> {
    /// The rows of one partition.
    pub(super) fn of_partition(place: u64, rows: impl IntoIterator<Item = (K, u64)>) -> Self {
        let mut placed = PlacedRows::default();
        rows.into_iter().for_each(|(key, rows)| placed.add(key, place, rows));
        placed
    }

    /// Adds rows of a partition.
    pub(super) fn add(&mut self, key: K, place: u64, rows: u64) {
        let sum = self.0.entry(key).or_default().entry(place).or_default();
        *sum = sum.saturating_add(rows);
    }

    /// Adds the rows of other partitions.
    pub(super) fn merge(&mut self, other: Self) {
        for (key, places) in other.0 {
            places.into_iter().for_each(|(place, rows)| self.add(key, place, rows));
        }
    }

    /// By key, the rows of the partitions before `place`.
    pub(super) fn before(&self, place: u64) -> BTreeMap<K, u64> {
        let of = |places: &BTreeMap<u64, u64>| sum(places.range(..place).map(|(_, &rows)| rows));
        self.0.iter().map(|(&key, places)| (key, of(places))).collect()
    }

    /// By key, all rows.
    pub(super) fn totals(&self) -> BTreeMap<K, u64> {
        self.0.iter().map(|(&key, places)| (key, sum(places.values().copied()))).collect()
    }
}

fn sum(rows: impl Iterator<Item = u64>) -> u64 {
    rows.fold(0, u64::saturating_add)
}
