//! Models that replace each other while rows are scored, by `docs/programs/next_model.h`: each answer is of exactly one
//! of them, and nothing that was closed is used.

use crate::decision::in_c::GCC;
use crate::forests::{Shape, origin_of, random_forest};
use crate::replay::{GXX, found};
use dropcast_export::{Target, Vectors, export};
use dropcast_forest::Forest;
use dropcast_verify::Tool;
use std::fs;
use std::path::Path;
use std::process::Command;

/// How threads share what decides.
const NEXT_MODEL: &str = include_str!("../../../../docs/programs/next_model.h");

const WARNINGS: [&str; 4] = ["-Wall", "-Wextra", "-Werror", "-Wconversion"];

/// A language and how it is compiled.
struct Language {
    compiler: Tool,
    target: &'static str,
    standard: &'static str,
    extension: &'static str,
}

const LANGUAGES: [Language; 2] = [
    Language { compiler: GCC, target: "c", standard: "-std=gnu99", extension: "c" },
    Language { compiler: GXX, target: "cpp", standard: "-std=c++17", extension: "cc" },
];

/// Found by the sanitizer.
const RACE: &str = "data race";

#[test]
fn each_row_is_scored_by_one_model_while_libraries_replace_it() {
    for language in LANGUAGES {
        for (sanitizer, replacements) in [(None, 500), (Some("-fsanitize=thread"), 100)] {
            let Some(answers) = language.scores(NEXT_MODEL, sanitizer, replacements) else {
                return;
            };
            let [of_first, of_second, of_neither] = answers.expect("no fault");
            assert_eq!(of_neither, 0, "{}: mixtures", language.target);
            let least = u64::from(replacements);
            assert!(of_first > least && of_second > least, "{of_first} and {of_second}");
        }
    }
}

/// That the sanitizer would notice a pointer that is not published, and closing what is in use.
#[test]
fn the_sanitizer_sees_models_that_are_not_handed_over() {
    let faults = [
        (
            "__atomic_store_n(&versions->in_use[thread], current, __ATOMIC_RELEASE)",
            "versions->in_use[thread] = current",
        ),
        ("__atomic_load_n(&versions->current, __ATOMIC_ACQUIRE)", "versions->current"),
    ];
    for (right, wrong) in faults {
        let header = NEXT_MODEL.replace(right, wrong);
        assert_ne!(header, NEXT_MODEL, "{right}");
        let Some(answers) = LANGUAGES[0].scores(&header, Some("-fsanitize=thread"), 100) else {
            return;
        };
        let fault = answers.expect_err("a race");
        assert!(fault.contains(RACE), "{wrong}: {fault}");
    }
}

impl Language {
    /// Answers of the first model alone, of the second alone and of neither, or what the sanitizer says; `None` without a
    /// compiler.
    fn scores(
        &self,
        header: &str,
        sanitizer: Option<&str>,
        replacements: u32,
    ) -> Option<Result<[u64; 3], String>> {
        let compiler = found(self.compiler)?;
        let folder = tempfile::tempdir().expect("a temporary folder");
        let shape = Shape { trees: 4, depth: 4, features: 4, largest: 2_000_000, stops: 15 };
        let forests = [1, 2].map(|seed| random_forest(shape, seed));
        let features = format!("-DFEATURES={}", shape.features);
        let compile = |folder: &Path, arguments: &[&str]| {
            let mut command = compiler.in_folder(folder);
            command
                .args(["-O2", "-g", "-pthread", self.standard, &features])
                .args(WARNINGS)
                .args(sanitizer);
            let output = command.args(arguments).output().expect("it starts");
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        };
        let [library, main] = ["library", "main"].map(|name| format!("{name}.{}", self.extension));
        for (forest, name) in forests.iter().zip(["first", "second"]) {
            let own = folder.path().join(name);
            fs::create_dir(&own).expect("a folder");
            let target: Target = self.target.parse().expect("a target");
            for file in export(forest, &origin_of(forest, "m"), target).expect("exportable") {
                fs::write(own.join(file.name), file.bytes).expect("written");
            }
            fs::write(own.join("model.h"), include_str!("under_traffic/model.h")).expect("written");
            fs::write(own.join(&library), include_str!("under_traffic/library.c"))
                .expect("written");
            compile(&own, &["-shared", "-fPIC", &library, "-o", "library.so"]);
        }
        fs::write(folder.path().join("next_model.h"), header).expect("written");
        fs::write(folder.path().join("model.h"), include_str!("under_traffic/model.h"))
            .expect("written");
        fs::write(folder.path().join(&main), include_str!("under_traffic/main.c"))
            .expect("written");
        compile(folder.path(), &[&main, "-o", "main", "-ldl"]);
        let rows = answered(&forests);
        let bytes: Vec<u8> = rows.iter().flatten().flat_map(|word| word.to_ne_bytes()).collect();
        fs::write(folder.path().join("rows"), bytes).expect("written");
        let mut program = Command::new(folder.path().join("main"));
        program.current_dir(folder.path()).args([rows.len().to_string(), replacements.to_string()]);
        program.stdin(fs::File::open(folder.path().join("rows")).expect("written"));
        let output = program.output().expect("it starts");
        if !output.status.success() {
            return Some(Err(String::from_utf8_lossy(&output.stderr).into_owned()));
        }
        let counts = String::from_utf8_lossy(&output.stdout);
        let counts: Vec<u64> =
            counts.split_whitespace().map(|n| n.parse().expect("a count")).collect();
        Some(Ok(counts.try_into().expect("three counts")))
    }
}

/// Rows with the score and the drop of both.
fn answered(forests: &[Forest; 2]) -> Vec<[u32; 8]> {
    let rows = forests
        .iter()
        .flat_map(|forest| Vectors::new(forest, 1, 300).expect("sound").rows().to_vec());
    let answered = |row: Vec<u32>| {
        let answers =
            forests.iter().flat_map(|of| [of.score(&row), u32::from(of.predicts_drop(&row))]);
        let words: Vec<u32> = row.iter().copied().chain(answers).collect();
        words.try_into().expect("four features, two answers of each")
    };
    rows.map(answered).collect()
}
