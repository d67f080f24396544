//! The pairwise sum of the trees' weights, one addition per clock.

use super::pipeline::Pipeline;
use super::tree;

/// The registers of every stage of the sum.
pub(super) fn sum(pipeline: &Pipeline) -> String {
    (1..pipeline.terms.len()).map(|level| stage(level, pipeline)).collect()
}

/// The name of term number `term` at stage number `level`, counted from the weights.
fn term(level: usize, term: usize) -> String {
    match level {
        0 => tree::weight(term),
        _ => format!("sum{level}_{term}"),
    }
}

/// The last sum: the score.
pub(super) fn score(pipeline: &Pipeline) -> String {
    term(pipeline.terms.len() - 1, 0)
}

fn stage(level: usize, pipeline: &Pipeline) -> String {
    let (from, to) = (pipeline.terms[level - 1], pipeline.terms[level]);
    let names: Vec<String> = (0..to).map(|at| term(level, at)).collect();
    let add = |at: usize| {
        let (left, right) = (2 * at, 2 * at + 1);
        let right = match right < from {
            true => format!(" + {{1'b0, {}}}", term(level - 1, right)),
            false => String::new(),
        };
        format!("        {} <= {{1'b0, {}}}{right};\n", names[at], term(level - 1, left))
    };
    format!(
        "
    reg [{top}:0] {names};

    always @(posedge clk) begin
{additions}    end
",
        top = Pipeline::term_bits(level) - 1,
        names = names.join(", "),
        additions = (0..to).map(add).collect::<String>(),
    )
}
