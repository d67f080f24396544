//! The forest as nested ifs: no tables, few instructions per row.

use crate::checked::Checked;
use crate::ident::identifier;
use dropcast_forest::{Node, Tree};

/// One function per tree, so that a compiler can keep them separate, and one for their sum.
pub(super) fn score(model: &Checked<'_>) -> String {
    let (name, upper) = (&model.prefix, model.prefix.to_ascii_uppercase());
    let mut text = String::new();
    for (number, tree) in model.forest.trees.iter().enumerate() {
        text += &format!(
            "static inline uint32_t {name}_tree_{number}(const uint32_t x[{upper}_N_FEATURES])\n{{\n"
        );
        if !looks_at_row(tree) {
            text += "    (void)x;\n";
        }
        text += &body(model, tree, &format!("{upper}_"));
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

/// Whether any split of a tree is emitted.
pub(crate) fn looks_at_row(tree: &Tree) -> bool {
    matches!(tree.nodes[skip(tree, 0)], Node::Split { .. })
}

/// Statements that return the weight of the leaf that the values `x` reach; names of constants
/// begin with `prefix`.
pub(crate) fn body(model: &Checked<'_>, tree: &Tree, prefix: &str) -> String {
    let mut text = String::new();
    Branches { model, tree, prefix }.write(0, 1, &mut text);
    text
}

/// Skip splits that send every value left: compilers warn about comparisons that are always true.
fn skip(tree: &Tree, mut at: usize) -> usize {
    while let Node::Split { threshold: u32::MAX, left, .. } = tree.nodes[at] {
        at = left as usize;
    }
    at
}

struct Branches<'a> {
    model: &'a Checked<'a>,
    tree: &'a Tree,
    prefix: &'a str,
}

impl Branches<'_> {
    fn write(&self, at: usize, level: usize, text: &mut String) {
        let indent = "    ".repeat(level);
        match self.tree.nodes[skip(self.tree, at)] {
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
        format!("{}FEATURE_{}", self.prefix, name.to_ascii_uppercase())
    }
}
