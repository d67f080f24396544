//! Pages and the texts in code keep to the field's words (docs/style.md).

use proc_macro2::{TokenStream, TokenTree};
use std::fs;
use std::path::{Path, PathBuf};

/// Words and phrases that pages and messages do without.
const AVOIDED: [&str; 5] = [" told ", " tells ", " the same of ", " what is held ", " Those of "];

/// Tests, what is built, the changelog, and `reports`, whose texts are being rewritten.
const SKIPPED: [&str; 6] = ["target", "tests", "tests.rs", "benches", "CHANGELOG.md", "reports"];

/// The files below a folder with this ending.
fn files(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for path in fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("a file").path()) {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        match name.starts_with('.') || SKIPPED.contains(&name.as_str()) {
            false if path.is_dir() => found.extend(files(&path, ending)),
            false if name.ends_with(ending) => found.push(path),
            _ => {}
        }
    }
    found
}

/// A page without its code.
fn prose(page: &str) -> String {
    let text: String = page.split("```").step_by(2).collect();
    let lines = text.lines().filter(|line| !line.starts_with("    "));
    lines.map(|line| line.split('`').step_by(2).collect::<String>() + "\n").collect()
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
    texts.map(|text| text + " | ").collect()
}

fn avoided(text: &str) -> Vec<&'static str> {
    let text = text.replace(|letter: char| ".,:;()*|\"".contains(letter), " . ");
    let text = format!(" {} ", text.split_whitespace().collect::<Vec<_>>().join(" "));
    AVOIDED.into_iter().filter(|phrase| text.contains(phrase)).collect()
}

#[test]
fn texts_keep_to_the_fields_words() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("the root");
    let read = |file: &PathBuf| fs::read_to_string(file).expect("text");
    let pages = files(root, ".md").into_iter().map(|page| (prose(&read(&page)), page));
    let code = files(root, ".rs").into_iter();
    let code = code.map(|file| (literals(read(&file).parse().expect("code")), file));
    let found = pages.chain(code).map(|(text, file)| (file, avoided(&text)));
    let found: Vec<_> = found.filter(|(_, phrases)| !phrases.is_empty()).collect();
    assert!(found.is_empty(), "{found:#?}");
    assert_eq!(avoided(&literals("f(\"{told} is told\") // tells".parse().unwrap())), [" told "]);
}
