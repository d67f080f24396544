//! The books, of the pipeline and of the lab: each SUMMARY.md lists every page once, and links between pages hold.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("a folder").to_owned()
}

/// The folders of the books.
const BOOKS: [&str; 2] = ["docs", "lab/notes"];

/// The pages of a folder by path.
fn pages(folder: &Path) -> BTreeMap<PathBuf, String> {
    let files = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("a file").path());
    let pages = files.filter(|file| file.extension().is_some_and(|end| end == "md"));
    pages.map(|file| (file.clone(), fs::read_to_string(file).expect("text"))).collect()
}

/// The lines outside of blocks of code.
fn prose(page: &str) -> impl Iterator<Item = &str> {
    let mut is_code = false;
    page.lines().filter(move |line| {
        let is_fence = line.trim_start().starts_with("```");
        is_code ^= is_fence;
        !is_code && !is_fence && !line.starts_with("    ")
    })
}

/// The text outside of spans of code.
fn without_code(line: &str) -> String {
    line.split('`').step_by(2).collect()
}

/// Where links lead.
fn links(page: &str) -> Vec<String> {
    let text: Vec<String> = prose(page).map(without_code).collect();
    let text = text.join("\n");
    let links = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    links.map(str::to_owned).collect()
}

/// What headings are called in links, on GitHub and in mdBook.
fn anchors(page: &str) -> BTreeSet<String> {
    let headings = prose(page).filter(|line| line.starts_with('#'));
    let mut found = BTreeSet::new();
    for heading in headings {
        let text = heading.trim_start_matches('#').trim();
        let kept = text.chars().filter_map(|letter| match letter {
            ' ' => Some('-'),
            '-' | '_' => Some(letter),
            letter => letter.is_alphanumeric().then(|| letter.to_ascii_lowercase()),
        });
        let anchor: String = kept.collect();
        let again = (1..).map(|nth| format!("{anchor}-{nth}"));
        let free = std::iter::once(anchor.clone()).chain(again).find(|name| !found.contains(name));
        found.extend(free);
    }
    found
}

#[test]
fn the_summary_lists_every_page_once() {
    for folder in BOOKS {
        check_summary(&root().join(folder));
    }
}

fn check_summary(docs: &Path) {
    let summary = fs::read_to_string(docs.join("SUMMARY.md")).expect("a summary");
    let mut listed: Vec<PathBuf> = links(&summary)
        .iter()
        .filter(|link| !link.is_empty())
        .map(|link| docs.join(link))
        .collect();
    listed.sort();
    let pages = pages(docs).into_keys().filter(|page| !page.ends_with("SUMMARY.md"));
    assert_eq!(listed, pages.collect::<Vec<_>>());
}

#[test]
fn links_hold() {
    let root = root();
    let books = BOOKS.map(|book| root.join(book).canonicalize().expect("a folder"));
    let is_in_a_book = |page: &Path| {
        page.canonicalize().is_ok_and(|page| books.iter().any(|book| page.starts_with(book)))
    };
    let mut wrong = Vec::new();
    let folders = ["", "lab"].into_iter().chain(BOOKS);
    for (page, text) in folders.flat_map(|folder| pages(&root.join(folder))) {
        for link in links(&text) {
            if link.is_empty() || link.contains("://") {
                continue;
            }
            let (path, anchor) = link.split_once('#').unwrap_or((&link, ""));
            let file = match path {
                "" => page.clone(),
                path => page.parent().expect("a folder").join(path),
            };
            // Both are built into one folder, so that links between them hold.
            let leaves_the_books = is_in_a_book(&page) && !is_in_a_book(&file);
            let holds = file.exists()
                && !leaves_the_books
                && (anchor.is_empty()
                    || anchors(&fs::read_to_string(&file).unwrap_or_default()).contains(anchor));
            if !holds {
                wrong.push(format!("{}: {link}", page.display()));
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "links that lead nowhere, or out of the books:\n{}",
        wrong.join("\n")
    );
}

#[test]
fn what_links_and_headings_are() {
    let page = "# A `b`, c\n[x](y.md#z) `[no](no)`\n```\n# no\n[no](no)\n```\n## A b c\n## OPT > 2";
    assert_eq!(links(page), ["y.md#z"]);
    assert_eq!(anchors(page), BTreeSet::from(["a-b-c", "a-b-c-1", "opt--2"].map(str::to_owned)));
}
