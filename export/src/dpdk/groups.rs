//! Trees in groups that share metadata, which is scarce in SWX.

use crate::ExportError;
use crate::checked::Checked;
use crate::ident::identifier;
use crate::tables::{Code, CodeKey, FeatureTable, Tables, TreeTable};
use dropcast_forest::Forest;

/// The trees in groups. The trees of a group are looked up one after the other; then the next group
/// reuses the space of their codes.
pub(super) struct Groups {
    /// Names of the features, in the order of a row.
    pub(super) features: Vec<String>,
    /// In the order of the forest.
    pub(super) groups: Vec<Group>,
    /// For each place in a group and each feature, the bits of the widest code.
    widths: Vec<Vec<usize>>,
}

/// A range of trees.
pub(super) struct Group {
    /// Which group, from 0.
    pub(super) number: usize,
    /// The number of its first tree.
    pub(super) first: usize,
    /// Its trees, numbered from 0.
    pub(super) tables: Tables,
}

/// A metadata field that holds a code or part of one.
pub(super) struct Part {
    /// Its name, the same in metadata and in action data.
    pub(super) name: String,
    /// A multiple of 8.
    pub(super) bits: usize,
    /// Which word of the code.
    word: usize,
}

/// DPDK stores field offsets in 8 bits and silently wraps. The other metadata takes 16 bytes.
const MOST_BYTES: usize = 240;

/// DPDK reads 256 words of an entry; a field takes two.
const MOST_FIELDS: usize = 120;

/// Bits of the widest field, and of each word of a code.
const WIDEST: usize = 64;

impl Groups {
    /// The largest groups that fit.
    ///
    /// # Errors
    /// If a single tree does not fit.
    pub(super) fn new(model: &Checked<'_>) -> Result<Self, ExportError> {
        let tables = Tables::new(model.forest)?;
        let columns = model.forest.features.len();
        let trees = tables.trees.len();
        let fitting = (1..=trees)
            .rev()
            .map(|size| (size, widths(&tables.trees, size, columns)))
            .find(|(_, widths)| fits(widths));
        let Some((size, widths)) = fitting else {
            return Err(ExportError::Unsupported {
                target: "DPDK SWX",
                problem: format!("a tree's codes take more than {MOST_BYTES} bytes of metadata"),
            });
        };
        let group = |(number, trees): (usize, &[dropcast_forest::Tree])| {
            let forest =
                Forest { trees: trees.to_vec(), vote_threshold: 0, ..model.forest.clone() };
            Ok(Group { number, first: number * size, tables: Tables::new(&forest)? })
        };
        let groups: Result<Vec<Group>, ExportError> =
            model.forest.trees.chunks(size).enumerate().map(group).collect();
        let features = model.origin.columns.iter().map(|column| identifier(&column.name));
        Ok(Groups { features: features.collect(), groups: groups?, widths })
    }

    /// The metadata fields for codes. A tree's fields are adjacent, as keys should be.
    pub(super) fn fields(&self) -> Vec<Part> {
        let places = self.widths.iter().enumerate();
        let fields = places.flat_map(|(place, of_place)| {
            (0..of_place.len()).flat_map(move |column| self.parts(place, column))
        });
        fields.collect()
    }

    /// The fields for the code of the tree at a place of its group.
    pub(super) fn parts(&self, place: usize, column: usize) -> Vec<Part> {
        let width = self.widths[place][column];
        let count = width.div_ceil(WIDEST);
        let part = |word: usize| {
            let bits = (width - WIDEST * word).min(WIDEST).next_multiple_of(8);
            let suffix = if count == 1 { String::new() } else { format!("_{word}") };
            Part { name: format!("t{place}_{}{suffix}", self.features[column]), bits, word }
        };
        (0..count).map(part).collect()
    }

    /// The table of a feature for the trees of a group.
    pub(super) fn feature_table(&self, group: &Group, feature: &FeatureTable) -> String {
        let name = format!("codes_of_{}", self.features[feature.column]);
        match self.groups.len() {
            1 => name,
            _ => format!("{name}_{}", group.number),
        }
    }

    /// The total weight of trees that need no table.
    pub(super) fn constant_score(&self) -> u32 {
        self.groups.iter().map(|group| group.tables.constant_score()).sum()
    }
}

impl Group {
    /// The places of the trees that need a table, with their tables.
    pub(super) fn trees(&self) -> impl Iterator<Item = (usize, &TreeTable)> {
        self.tables.trees.iter().enumerate().filter(|(_, tree)| tree.constant().is_none())
    }

    /// The table of the tree at a place.
    pub(super) fn tree_table(&self, place: usize) -> String {
        format!("tree_{}", self.first + place)
    }
}

impl Part {
    /// The bits of `code` that go into the field.
    pub(super) fn word_of(&self, code: &Code) -> u64 {
        code.words().get(self.word).copied().unwrap_or(0)
    }
}

/// For each place in groups of `size` and each feature the bits of the widest code.
fn widths(trees: &[TreeTable], size: usize, columns: usize) -> Vec<Vec<usize>> {
    let mut widths = vec![vec![0; columns]; size];
    for (at, tree) in trees.iter().enumerate() {
        for key in &tree.keys {
            let width = &mut widths[at % size][key.column];
            *width = CodeKey::width(key).max(*width);
        }
    }
    widths
}

/// Whether fields for codes of these widths fit into metadata, and an entry's action data.
fn fits(widths: &[Vec<usize>]) -> bool {
    let bytes: usize = widths.iter().flatten().map(|width| width.div_ceil(8)).sum();
    let fields: usize = widths.iter().flatten().map(|width| width.div_ceil(WIDEST)).sum();
    bytes <= MOST_BYTES && fields <= MOST_FIELDS
}
