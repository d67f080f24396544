//! What all tables of a forest take together.

use serde::{Deserialize, Serialize};

/// Bits of the value of a feature.
pub(super) const VALUE_BITS: usize = 32;

/// All tables together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TableTotals {
    /// Tables.
    pub tables: usize,
    /// Entries of the features' tables where they match ranges.
    pub range_entries: usize,
    /// Ternary entries of all tables, defaults included.
    pub ternary_entries: u64,
    /// The same if every range were cut into prefixes by itself.
    pub naive_ternary_entries: u64,
    /// `ternary_entries / naive_ternary_entries`; null if there are none.
    pub ternary_share: Option<f64>,
    /// Entries to load into the P4 program: one less for each of these tables, because it is the
    /// default action, and those of the vote.
    #[serde(default)]
    pub loaded_entries: u64,
    /// Key bits of all ternary entries; a TCAM stores each with its mask.
    pub tcam_key_bits: usize,
    /// Bits of action data of all ternary entries: codes, and 8 for a weight.
    pub sram_action_bits: usize,
    /// Bits of codes that a packet carries between the tables.
    pub metadata_bits: usize,
    /// Stages of the P4 program by dependencies alone: features, trees that add to the same sum,
    /// additions two at a time, the vote. 0 if the answer is the same for every row.
    pub stages: usize,
}
