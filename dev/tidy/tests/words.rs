//! Pages and the texts in code keep to the field's words (docs/style.md).

use proc_macro2::{TokenStream, TokenTree};
use std::fs;
use std::path::Path;

const AVOIDED: [&str; 5] = [" told ", " tells ", " the same of ", " what is held ", " Those of "];
/// Tests, what is built, the changelog; `reports` until its texts are rewritten.
const SKIPPED: [&str; 6] = ["target", "tests", "tests.rs", "benches", "CHANGELOG.md", "reports"];

fn files(folder: &Path, ending: &str) -> Vec<String> {
    let mut found = Vec::new();
    for path in fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("a file").path()) {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        match name.starts_with('.') || SKIPPED.contains(&name.as_str()) {
            false if path.is_dir() => found.extend(files(&path, ending)),
            false if name.ends_with(ending) => found.push(path.display().to_string()),
            _ => {}
        }
    }
    found
}

fn prose(page: &str) -> String {
    let lines = page.split("```").step_by(2).flat_map(str::lines);
    let lines = lines.filter(|line| !line.starts_with("    "));
    lines.flat_map(|line| line.split('`').step_by(2).chain(["\n"])).collect()
}

/// The texts in code, without comments and the names of values.
fn literals(tokens: TokenStream) -> String {
    let texts = tokens.into_iter().map(|token| match token {
        TokenTree::Group(group) if group.to_string().starts_with("[doc ") => String::new(),
        TokenTree::Group(group) => literals(group.stream()),
        TokenTree::Literal(text) => {
            let text = text.to_string().replace("\\n", " ");
            text.split('{').map(|part| part.split_once('}').map_or(part, |(_, end)| end)).collect()
        }
        _ => String::new(),
    });
    texts.collect::<Vec<String>>().join(" | ")
}

fn avoided(text: &str) -> Vec<&'static str> {
    let text = text.replace(|letter: char| ".,:;()*|\"".contains(letter), " . ");
    let text = format!(" {} ", text.split_whitespace().collect::<Vec<_>>().join(" "));
    AVOIDED.into_iter().filter(|phrase| text.contains(phrase)).collect()
}

#[test]
fn texts_keep_to_the_fields_words() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("the root");
    for file in [files(root, ".md"), files(root, ".rs")].concat() {
        let (text, is_page) = (fs::read_to_string(&file).expect("text"), file.ends_with(".md"));
        let text = if is_page { prose(&text) } else { literals(text.parse().expect("code")) };
        assert!(avoided(&text).is_empty(), "{file}: {:?}", avoided(&text));
    }
    assert_eq!(avoided(&literals("f(\"{told} is told\") // tells".parse().unwrap())), [" told "]);
}
