//! The documentation's examples are true.

use crate::c_header::WARNINGS;
use crate::forests::{Shape, example, exported, origin_of, random_forest};
use crate::golden;
use crate::tools::{run, tool};
use dropcast_export::Vectors;
use dropcast_forest::Forest;
use std::fs;
use std::path::Path;
use std::process::Stdio;

fn page(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs").join(name);
    fs::read_to_string(path).expect("the page exists")
}

/// The first fenced block of a language.
fn block(page: &str, language: &str) -> String {
    let (_, rest) = page.split_once(&format!("```{language}\n")).expect("such a block");
    rest.split_once("```").expect("the block ends").0.to_owned()
}

#[test]
fn the_example_table_is_what_the_encoder_writes() {
    let page = page("dct.md");
    let (forest, origin) = example();
    let documented: Forest = serde_json::from_str(&block(&page, "json")).expect("a forest");
    assert_eq!(documented, forest);

    let is_byte = |word: &&str| word.len() == 2 && u8::from_str_radix(word, 16).is_ok();
    let bytes_of = |line: &str| -> Vec<u8> {
        let words = line.split(' ').take_while(is_byte);
        words.map(|word| u8::from_str_radix(word, 16).expect("hexadecimal")).collect()
    };
    let bytes: Vec<u8> = block(&page, "text").lines().flat_map(bytes_of).collect();
    assert_eq!(golden::hex_dump(&bytes), golden::hex_dump(&exported(&forest, &origin, "dct")));
    assert!(page.contains(&format!("is these {} bytes", bytes.len())));

    assert_eq!(forest.score(&[50_000, 950_000]), 350);
    assert_eq!(forest.score(&[50_000, 800_000]), forest.vote_threshold);
}

#[test]
fn the_python_readers_agree_with_the_forest() {
    for (program, target) in [("read_dct.py", "dct"), ("read_table.py", "json")] {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let reader = page(&format!("programs/{program}"));
        fs::write(folder.path().join("read.py"), reader).expect("written");
        for (trees, depth, features) in [(1, 0, 1), (4, 4, 4), (9, 6, 12)] {
            let shape = Shape { trees, depth, features, largest: 2_000_000, stops: 20 };
            let forest = random_forest(shape, 3);
            let Some((printed, expected)) = run_reader(folder.path(), &forest, target) else {
                return;
            };
            assert_eq!(printed, expected, "{program}");
        }
    }
}

/// The output of the reader in `folder` for an exported forest's vectors, and the expected output;
/// `None` without Python.
fn run_reader(folder: &Path, forest: &Forest, target: &str) -> Option<(String, String)> {
    let vectors = Vectors::new(forest, 1, 500).expect("valid");
    let line = |row: &Vec<u32>| row.iter().map(|value| format!("{value} ")).collect::<String>();
    let rows: Vec<String> = vectors.rows().iter().map(line).collect();
    fs::write(folder.join("table"), exported(forest, &origin_of(forest, "m"), target))
        .expect("written");
    fs::write(folder.join("rows"), rows.join("\n")).expect("written");
    let mut python = tool("python3", folder)?;
    let rows = fs::File::open(folder.join("rows")).expect("just written");
    let printed = run(python.args(["read.py", "table"]).stdin(Stdio::from(rows)));
    let says =
        |row: &Vec<u32>| format!("{} {}\n", forest.score(row), u8::from(forest.predicts_drop(row)));
    Some((printed, vectors.rows().iter().map(says).collect()))
}

#[test]
fn the_example_document_is_what_is_written() {
    let (forest, origin) = example();
    let document = String::from_utf8(exported(&forest, &origin, "json")).expect("text");
    let page = page("dct.md");
    let (_, section) = page.split_once("## The JSON table").expect("a section");
    assert_eq!(block(section, "json"), document);
}

#[test]
fn the_c_program_compiles_and_prints_what_the_page_says() {
    let page = page("c-header.md");
    let (forest, origin) = example();
    let header = exported(&forest, &origin, "c");
    for name in
        ["EXAMPLE_AVERAGE_NS", "EXAMPLE_MODEL_SHA256", "EXAMPLE_DEPTH", "enum example_feature"]
    {
        assert!(page.contains(&format!("`{name}`")));
        assert!(String::from_utf8_lossy(&header).contains(&format!("{name} ")), "{name}");
    }
    for compiler in ["gcc", "clang"] {
        let folder = tempfile::tempdir().expect("a temporary folder");
        fs::write(folder.path().join("example.h"), &header).expect("written");
        fs::write(folder.path().join("program.c"), block(&page, "c")).expect("written");
        let Some(mut compile) = tool(compiler, folder.path()) else { continue };
        compile.args(["-std=c99", "-O2"]).args(WARNINGS);
        run(compile.args(["program.c", "-o", "program"]));
        let printed = run(&mut std::process::Command::new(folder.path().join("program")));
        assert_eq!(printed, block(&page, "text"));
    }
}
