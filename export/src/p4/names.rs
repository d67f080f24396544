//! Names in P4, defined once so that programs and entries agree.

use crate::ExportError;
use crate::checked::Checked;
use crate::ident::identifier;
use crate::tables::{FeatureTable, Tables, TreeTable};

/// A model about to be written as P4.
pub(crate) struct P4<'a> {
    pub(crate) model: &'a Checked<'a>,
    pub(crate) tables: Tables,
}

/// p4c's limit on the width of a `bit<>`.
const MAX_FIELD_BITS: usize = 2048;

/// P4Runtime identifiers have 24 bits; half of the bits number a model's tables.
const MAX_TABLES: usize = (1 << 12) - VOTE_IDS;

/// Identifiers of the vote: its table and its first action, its second action.
const VOTE_IDS: usize = 2;

/// The controls of the programs. `Ingress` and `Egress` would be v1model's own names.
pub(crate) const INGRESS: &str = "QueryIngress";

/// As [`INGRESS`].
pub(crate) const EGRESS: &str = "QueryEgress";

impl<'a> P4<'a> {
    /// The tables of a model.
    ///
    /// # Errors
    /// If P4 cannot express them.
    pub(crate) fn new(model: &'a Checked<'a>) -> Result<Self, ExportError> {
        let tables = Tables::new(model.forest)?;
        let widest = tables.trees.iter().flat_map(|tree| &tree.keys).map(|key| key.width()).max();
        let count = tables.features.len() + tables.trees.len();
        let refuse = |problem: String| Err(ExportError::Unsupported { target: "P4", problem });
        match widest {
            Some(bits) if bits > MAX_FIELD_BITS => refuse(format!(
                "a tree has {bits} thresholds of one feature, one bit of its code each; p4c takes \
                fields of up to {MAX_FIELD_BITS} bits"
            )),
            _ if count > MAX_TABLES => refuse(format!(
                "it takes {count} tables; P4Runtime identifiers leave room for {MAX_TABLES}"
            )),
            _ => Ok(P4 { model, tables }),
        }
    }

    /// The trees that have a table, with their numbers.
    pub(crate) fn trees(&self) -> impl Iterator<Item = (usize, &TreeTable)> {
        self.tables.trees.iter().enumerate().filter(|(_, tree)| tree.constant().is_none())
    }

    /// Prefix of types: `Example`.
    pub(crate) fn type_name(&self) -> String {
        let word = |word: &str| {
            let (first, rest) = word.split_at(word.len().min(1));
            first.to_ascii_uppercase() + rest
        };
        self.model.prefix.split('_').map(word).collect()
    }

    /// Prefix of constants and macros: `EXAMPLE`.
    pub(crate) fn macro_name(&self) -> String {
        self.model.prefix.to_ascii_uppercase()
    }

    /// The field that holds the value of a feature.
    pub(crate) fn field(&self, column: usize) -> String {
        identifier(&self.model.origin.columns[column].name)
    }

    /// The variable that holds the code of a feature for a tree.
    pub(crate) fn code(&self, tree: usize, column: usize) -> String {
        format!("tree_{tree}_{}", self.field(column))
    }

    pub(crate) fn feature_table(&self, feature: &FeatureTable) -> String {
        format!("code_{}", self.field(feature.column))
    }

    pub(crate) fn feature_action(&self, feature: &FeatureTable) -> String {
        format!("set_codes_of_{}", self.field(feature.column))
    }

    /// Identifier of a feature's table; its action has the same number among actions.
    pub(crate) fn feature_id(&self, feature: &FeatureTable) -> u32 {
        self.id(self.tables.features.partition_point(|other| other.column < feature.column))
    }

    /// Identifier of a tree's table; its action has the same number among actions.
    pub(crate) fn tree_id(&self, tree: usize) -> u32 {
        self.id(self.tables.features.len() + tree)
    }

    /// Identifiers of the actions that predict acceptance and a drop; the table of the vote has the
    /// first.
    pub(crate) fn vote_ids(&self) -> [u32; VOTE_IDS] {
        let after = self.tables.features.len() + self.tables.trees.len();
        [self.id(after), self.id(after + 1)]
    }

    /// 24 bits: 12 of the model's hash, so that two models rarely collide, and a 12-bit counter.
    fn id(&self, table: usize) -> u32 {
        let hash = u32::from(self.model.id[0]) << 4 | u32::from(self.model.id[1]) >> 4;
        hash << 12 | table as u32
    }

    /// Bits of the score.
    pub(crate) fn score_bits(&self) -> usize {
        let largest = self.tables.max_score().max(self.tables.vote_threshold);
        if largest > u32::from(u16::MAX) { 32 } else { 16 }
    }
}

/// First byte of the identifier of a table in P4Runtime.
pub(crate) const TABLE_ID: u32 = 0x02 << 24;

/// First byte of the identifier of an action in P4Runtime.
pub(crate) const ACTION_ID: u32 = 0x01 << 24;
