//! Emitted headers, compiled by common compilers and run on vectors.

use crate::forests::{Shape, exported, origin_of, random_forest};
use crate::tools::{run, tool};
use dropcast_export::Vectors;
use dropcast_features::FeatureSet;
use dropcast_forest::{Forest, Node, Tree};
use std::fs;
use std::path::Path;

/// Warnings that nobody should have to switch off for our headers.
pub(crate) const WARNINGS: [&str; 6] =
    ["-Wall", "-Wextra", "-Werror", "-pedantic", "-Wconversion", "-Wsign-conversion"];

/// Trees, depth, features of the compiled forests.
const SHAPES: [(usize, usize, usize); 10] = [
    (1, 0, 1),
    (3, 0, 4),
    (1, 1, 1),
    (2, 2, 3),
    (4, 4, 4),
    (4, 4, 6),
    (16, 6, 8),
    (7, 8, 12),
    (32, 8, 6),
    (128, 4, 4),
];

#[test]
fn gcc_c99_is_bit_exact() {
    compiled_is_bit_exact("gcc", "-std=c99", "c");
}

#[test]
fn clang_c99_is_bit_exact() {
    compiled_is_bit_exact("clang", "-std=c99", "c");
}

#[test]
fn gxx_is_bit_exact() {
    compiled_is_bit_exact("g++", "-std=c++11", "cc");
}

#[test]
fn clangxx_is_bit_exact() {
    compiled_is_bit_exact("clang++", "-std=c++11", "cc");
}

/// One program for all forests: a compiler starts once.
fn compiled_is_bit_exact(compiler: &str, standard: &str, extension: &str) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let Some(mut compile) = tool(compiler, folder.path()) else { return };
    let forests = forests();
    let mut expected = String::new();
    for (at, forest) in forests.iter().enumerate() {
        let rows = write_forest(folder.path(), &format!("m{at}"), forest);
        expected += &format!("m{at} {rows} rows, 0 wrong\n");
    }
    let source = format!("check.{extension}");
    fs::write(folder.path().join(&source), checker(&forests)).expect("written");
    run(compile.args([standard, "-O1"]).args(WARNINGS).args([&source, "-o", "check"]));
    let mut check = std::process::Command::new(folder.path().join("check"));
    assert_eq!(run(check.current_dir(folder.path())), expected);
}

/// The random forests, and those that provoke compiler warnings most easily.
fn forests() -> Vec<Forest> {
    let random = SHAPES.iter().enumerate().map(|(seed, &(trees, depth, features))| {
        let largest = if seed % 3 == 0 { 4 } else { 2_000_000 };
        random_forest(Shape { trees, depth, features, largest, stops: 10 }, seed as u64)
    });
    random
        .chain([never(), at_the_ends(), named("paper4"), named("occupancy,rank,longest")])
        .collect()
}

/// Features with emitted code that keeps them.
fn named(features: &str) -> Forest {
    let features: FeatureSet = features.parse().expect("known features");
    let shape = Shape { trees: 2, depth: 3, features: features.len(), largest: 9, stops: 0 };
    Forest { features: features.names(), ..random_forest(shape, 5) }
}

/// A vote threshold that no score exceeds.
fn never() -> Forest {
    let shape = Shape { trees: 2, depth: 2, features: 2, largest: 9, stops: 0 };
    Forest { vote_threshold: 2 * 255, ..random_forest(shape, 3) }
}

/// Splits that send everything left, or all but one value.
fn at_the_ends() -> Forest {
    let split = |threshold, left, right| Node::Split { feature: 0, threshold, left, right };
    let leaf = |weight| Node::Leaf { weight };
    let root = Tree { nodes: vec![split(u32::MAX, 1, 2), leaf(1), leaf(2)] };
    let deep = Tree {
        nodes: vec![
            split(u32::MAX - 1, 1, 2),
            split(0, 3, 4),
            split(u32::MAX, 5, 6),
            leaf(3),
            leaf(4),
            leaf(5),
            leaf(6),
        ],
    };
    Forest { features: vec!["x".to_owned()], vote_threshold: 0, trees: vec![root, deep] }
}

/// Writes `NAME.h` and the vectors `NAME.bin`: for each row its values, score and decision, as
/// native `u32`. Returns how many rows there are.
fn write_forest(folder: &Path, name: &str, forest: &Forest) -> usize {
    let mut origin = origin_of(forest, name);
    // Names come from files: no name may end a comment.
    origin.columns[0].definition = "a */ #error \\ /* ??/ \"\n#error".to_owned();
    origin.average_ns = Some(32_000);
    origin.tool_version = "0 */ \\\n#error".to_owned();
    let header = exported(forest, &origin, "c");
    fs::write(folder.join(format!("{name}.h")), header).expect("written");
    let vectors = Vectors::new(forest, 11, 2000).expect("valid");
    let mut bytes = Vec::new();
    for row in vectors.rows() {
        let answer = [forest.score(row), u32::from(forest.predicts_drop(row))];
        bytes.extend(row.iter().chain(&answer).flat_map(|value| value.to_ne_bytes()));
    }
    fs::write(folder.join(format!("{name}.bin")), bytes).expect("written");
    vectors.rows().len()
}

/// A program that compares both variants of every header with the vectors. Odd headers decide by
/// tables, even ones by branches.
fn checker(forests: &[Forest]) -> String {
    let mut text = "#include <stdio.h>\n".to_owned();
    for at in 0..forests.len() {
        if at % 2 == 1 {
            text += &format!("#define M{at}_TABLES\n");
        }
        text += &format!("#include \"m{at}.h\"\n#include \"m{at}.h\"\n");
    }
    text += "
#define CHECK(NAME, UPPER)                                                     \\
    static int check_##NAME(void)                                              \\
    {                                                                          \\
        uint32_t row[UPPER##_N_FEATURES + 2];                                  \\
        const uint32_t *answer = row + UPPER##_N_FEATURES;                     \\
        long rows = 0, wrong = 0;                                              \\
        FILE *file = fopen(#NAME \".bin\", \"rb\");                                \\
        if (!file) return 1;                                                   \\
        while (fread(row, sizeof row, 1, file) == 1) {                         \\
            rows++;                                                            \\
            if (NAME##_score_table(row) != answer[0]                           \\
                || NAME##_score_branches(row) != answer[0]                     \\
                || NAME##_score(row) != answer[0]                              \\
                || NAME##_drop(row) != (int)answer[1]) wrong++;                \\
        }                                                                      \\
        fclose(file);                                                          \\
        printf(#NAME \" %ld rows, %ld wrong\\n\", rows, wrong);                   \\
        return wrong != 0;                                                     \\
    }

";
    let all: Vec<String> = (0..forests.len()).map(|at| format!("m{at}")).collect();
    for name in &all {
        text += &format!("CHECK({name}, {})\n", name.to_ascii_uppercase());
    }
    let calls: Vec<String> = all.iter().map(|name| format!("check_{name}()")).collect();
    text + &format!("\nint main(void) {{ return {}; }}\n", calls.join(" | "))
}
