//! The table IR, from which every match-action target is written.

mod build;
mod code;
mod count;
mod emulator;
mod fit;
mod forest_tables;
mod prefixes;
mod prune;

pub use code::{Code, Ternary};
pub use count::TernaryEntries;
pub use emulator::{EmulatedFeature, EmulatedTree, Emulator, LookupError, MatchEntry, MatchTable};
pub use forest_tables::{CodeKey, FeatureTable, LeafEntry, Tables, TreeTable};
pub use prefixes::PrefixEntry;

pub(crate) use prefixes::minimal_prefixes;
