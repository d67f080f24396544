//! The forest as arrays and one loop: small code, the same number of steps for every row.

use crate::checked::Checked;
use crate::complete::CompleteTree;

/// The arrays and the function that walks them.
pub(super) fn score(model: &Checked<'_>) -> String {
    let (name, upper) = (&model.prefix, model.prefix.to_ascii_uppercase());
    let layout = model.complete.layout;
    let (trees, splits, leaves) =
        (layout.trees(), layout.splits_per_tree(), layout.leaves_per_tree());
    let weights = rows(model, |tree| tree.weights.iter().map(u8::to_string).collect());
    let weights =
        format!("static const uint8_t {name}_weights[{trees}][{leaves}] = {{\n{weights}}};\n");
    if splits == 0 {
        return format!("{weights}\n{}", constant_score(model));
    }
    let thresholds = rows(model, |tree| {
        tree.splits.iter().map(|split| format!("{}u", split.threshold)).collect()
    });
    let columns =
        rows(model, |tree| tree.splits.iter().map(|split| split.column.to_string()).collect());
    format!(
        "\
/* Complete trees, level by level: from split i, x[column] <= threshold leads to 2i + 1, else to
 * 2i + 2. A leaf above the last level is padded with splits that always go left. */
static const uint32_t {name}_thresholds[{trees}][{splits}] = {{
{thresholds}}};

static const uint8_t {name}_columns[{trees}][{splits}] = {{
{columns}}};

/* Leaves, left to right. */
{weights}
/* The score of a row, by tables: the same number of steps for every row. */
static inline uint32_t {name}_score_table(const uint32_t x[{upper}_N_FEATURES])
{{
    uint32_t score = 0;
    unsigned int tree, level, at;

    for (tree = 0; tree < {upper}_N_TREES; tree++) {{
        at = 0;
        for (level = 0; level < {upper}_DEPTH; level++) {{
            at = 2u * at + (x[{name}_columns[tree][at]] <= {name}_thresholds[tree][at] ? 1u : 2u);
        }}
        score += {name}_weights[tree][at - {splits}u];
    }}
    return score;
}}
"
    )
}

/// The function for trees that are single leaves.
fn constant_score(model: &Checked<'_>) -> String {
    let (name, upper) = (&model.prefix, model.prefix.to_ascii_uppercase());
    format!(
        "\
/* The score of a row: every tree is a single leaf. */
static inline uint32_t {name}_score_table(const uint32_t x[{upper}_N_FEATURES])
{{
    uint32_t score = 0;
    unsigned int tree;

    (void)x;
    for (tree = 0; tree < {upper}_N_TREES; tree++) {{
        score += {name}_weights[tree][0];
    }}
    return score;
}}
"
    )
}

/// One braced list for each tree.
fn rows(model: &Checked<'_>, numbers: impl Fn(&CompleteTree) -> Vec<String>) -> String {
    let row = |tree| format!("    {{ {} }},\n", wrapped(&numbers(tree)));
    model.complete.trees.iter().map(row).collect()
}

/// Numbers separated by commas, in lines of up to 96 characters.
fn wrapped(numbers: &[String]) -> String {
    let mut text = String::new();
    let mut width = 6;
    for (at, number) in numbers.iter().enumerate() {
        if at > 0 && width + number.len() + 2 > 96 {
            text += ",\n      ";
            width = 6;
        } else if at > 0 {
            text += ", ";
        }
        text += number;
        width += number.len() + 2;
    }
    text
}
