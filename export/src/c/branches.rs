//! The forest as nested ifs: no tables, few instructions for each row.

use crate::checked::Checked;
use crate::ident::identifier;
use dropcast_train::{Node, Tree};

/// One function for each tree, so that a compiler can keep them apart, and their sum.
pub(super) fn score(model: &Checked<'_>) -> String {
    let (name, upper) = (&model.prefix, model.prefix.to_ascii_uppercase());
    let mut text = String::new();
    for (number, tree) in model.forest.trees.iter().enumerate() {
        text += &format!(
            "static inline uint32_t {name}_tree_{number}(const uint32_t x[{upper}_N_FEATURES])\n{{\n"
        );
        let branches = Branches { model, tree };
        if !branches.looks_at_row() {
            text += "    (void)x;\n";
        }
        branches.write(0, 1, &mut text);
        text += "}\n\n";
    }
    text += &format!(
        "/* The score of a row, by nested ifs. */\n\
         static inline uint32_t {name}_score_branches(const uint32_t x[{upper}_N_FEATURES])\n{{\n    \
         uint32_t score = 0;\n\n"
    );
    for number in 0..model.forest.trees.len() {
        text += &format!("    score += {name}_tree_{number}(x);\n");
    }
    text + "    return score;\n}\n"
}

struct Branches<'a> {
    model: &'a Checked<'a>,
    tree: &'a Tree,
}

impl Branches<'_> {
    /// Whether any split is written.
    fn looks_at_row(&self) -> bool {
        matches!(self.tree.nodes[self.skip(0)], Node::Split { .. })
    }

    /// Down past splits that send every value left: nothing is written for them, as compilers
    /// warn of comparisons that are always true.
    fn skip(&self, mut at: usize) -> usize {
        while let Node::Split { threshold: u32::MAX, left, .. } = self.tree.nodes[at] {
            at = left as usize;
        }
        at
    }

    fn write(&self, at: usize, level: usize, text: &mut String) {
        let indent = "    ".repeat(level);
        match self.tree.nodes[self.skip(at)] {
            Node::Leaf { weight } => *text += &format!("{indent}return {weight}u;\n"),
            Node::Split { feature, threshold, left, right } => {
                let feature = self.feature(usize::from(feature));
                *text += &format!("{indent}if (x[{feature}] <= {threshold}u) {{\n");
                self.write(left as usize, level + 1, text);
                *text += &format!("{indent}}} else {{\n");
                self.write(right as usize, level + 1, text);
                *text += &format!("{indent}}}\n");
            }
        }
    }

    fn feature(&self, column: usize) -> String {
        let name = identifier(&self.model.origin.columns[column].name);
        format!("{}_FEATURE_{name}", self.model.prefix).to_ascii_uppercase()
    }
}
