//! One tree: a level per clock, then the weight of the leaf.

use super::features;
use super::pipeline::{Pipeline, WEIGHT_BITS, decides};
use crate::complete::{CompleteTree, Split};

/// The registers and the logic of tree number `tree`.
pub(super) fn walk(tree: usize, of: &CompleteTree, pipeline: &Pipeline) -> String {
    let depth = pipeline.depth;
    let levels: String = (0..depth)
        .map(|level| {
            let first = (1 << level) - 1;
            compare(tree, level, &of.splits[first..2 * first + 1], pipeline)
        })
        .collect();
    let paths: String = (1..=depth)
        .map(|level| format!("    reg [{}:0] {};\n", level - 1, path(tree, level)))
        .collect();
    format!(
        "
    // Tree {tree}. {name}_sN: the path of the row in stage N, 1 for right.
{paths}    reg [{top}:0] {weight};
{levels}
{weights}",
        name = name(tree),
        top = WEIGHT_BITS - 1,
        weight = weight(tree),
        weights = weights(tree, of, depth),
    )
}

/// The register that holds the weight of a tree's leaf.
pub(super) fn weight(tree: usize) -> String {
    format!("{}_weight", name(tree))
}

fn name(tree: usize) -> String {
    format!("tree{tree}")
}

/// The register that holds the path after `levels` levels.
fn path(tree: usize, levels: usize) -> String {
    format!("{}_s{levels}", name(tree))
}

/// One level: select the feature and the threshold by the path so far, compare, append.
fn compare(tree: usize, level: usize, splits: &[Split], pipeline: &Pipeline) -> String {
    let name = name(tree);
    let next = path(tree, level + 1);
    let bits = |split: &Split| pipeline.features[usize::from(split.column)].bits;
    let Some(width) = splits.iter().filter(|split| decides(split)).map(bits).max() else {
        let so_far = if level == 0 { String::new() } else { format!("{}, ", path(tree, level)) };
        return format!("\n    always @(posedge clk) {next} <= {{{so_far}1'b0}};\n");
    };
    let operands = |split: &Split| operands(split, level, width, pipeline);
    if level == 0 {
        let (value, threshold) = operands(&splits[0]);
        return format!("\n    always @(posedge clk) {next} <= {value} > {threshold};\n");
    }
    let (value, threshold) = (format!("{name}_x{level}"), format!("{name}_t{level}"));
    let arm = |(at, split): (usize, &Split)| {
        let (x, t) = operands(split);
        format!(
            "            {}: begin {value} = {x}; {threshold} = {t}; end\n",
            label(at, level, splits.len())
        )
    };
    let arms: String = splits.iter().enumerate().map(arm).collect();
    format!(
        "
    reg [{top}:0] {value}, {threshold};

    always @* begin
        case ({path})
{arms}        endcase
    end

    always @(posedge clk) {next} <= {{{path}, {value} > {threshold}}};
",
        top = width - 1,
        path = path(tree, level),
    )
}

/// The operands of a split's comparison, both as wide as the level's widest.
fn operands(split: &Split, level: usize, width: usize, pipeline: &Pipeline) -> (String, String) {
    if !decides(split) {
        // Every value is at most all ones.
        return (format!("{width}'d0"), format!("{{{width}{{1'b1}}}}"));
    }
    let feature = &pipeline.features[usize::from(split.column)];
    let register = features::register(feature, level);
    let value = match width - feature.bits {
        0 => register,
        padding => format!("{{{padding}'d0, {register}}}"),
    };
    (value, format!("{width}'d{}", split.threshold))
}

fn weights(tree: usize, of: &CompleteTree, depth: usize) -> String {
    let weight = weight(tree);
    let all_equal = of.weights.iter().all(|other| *other == of.weights[0]);
    if all_equal {
        return format!(
            "    always @(posedge clk) {weight} <= {WEIGHT_BITS}'d{};\n",
            of.weights[0]
        );
    }
    let arm = |(at, value): (usize, &u8)| {
        format!(
            "            {}: {weight} <= {WEIGHT_BITS}'d{value};\n",
            label(at, depth, of.weights.len())
        )
    };
    let arms: String = of.weights.iter().enumerate().map(arm).collect();
    format!(
        "    always @(posedge clk) begin\n        case ({})\n{arms}        endcase\n    end\n",
        path(tree, depth)
    )
}

/// The label of arm number `at` of `count`; the last is `default`.
fn label(at: usize, bits: usize, count: usize) -> String {
    if at + 1 == count { "default".to_owned() } else { format!("{bits}'d{at}") }
}
