//! docs/json.md: every field of what commands print as JSON, from the structs that are printed.
//!
//! `UPDATE_GOLDEN=1 cargo test --release -p dropcast-tidy --test json_page` writes the page.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use syn::punctuated::Punctuated;
use syn::{
    Attribute, Expr, Field, Fields, GenericArgument, Item, ItemEnum, ItemStruct, Lit, Meta,
    PathArguments, Token, Type, Variant,
};

const INTRODUCTION: &str = "# Fields of JSON

<!-- This page is written by `UPDATE_GOLDEN=1 cargo test --release -p dropcast-tidy --test json_page`. -->

Every field of what commands print with `--format json`, from the structs of the code, whose names the headings are. Counts are integers; a
number that is not defined is null. Equal input gives equal bytes: there is no time of day and no path.
";

/// What is printed: by which command, and its struct.
const PRINTED: [(&str, &str); 6] = [
    ("`dropcast report --model MODEL` ([report.md](report.md))", "Report"),
    ("`dropcast report` without a model, and `verdict` of the former", "Verdict"),
    ("`dropcast counters` ([counters.md](counters.md))", "CounterReport"),
    (
        "`dropcast resources`, and `resources` of a report ([resources.md](resources.md))",
        "TableResources",
    ),
    ("`dropcast verify` ([verify.md](verify.md))", "Verification"),
    ("`sweep.json` ([sweep.md](sweep.md))", "SweepTable"),
];

/// Where the structs are.
const FOLDERS: [&str; 7] = ["reports", "pipeline", "export", "train", "runtime", "data", "switch"];

/// Types that other pages describe, or that are a few words.
const WORDS: [(&str, &str); 21] = [
    ("u8", "integer"),
    ("u16", "integer"),
    ("u32", "integer"),
    ("u64", "integer"),
    ("i64", "integer"),
    ("usize", "integer"),
    ("f64", "number"),
    ("bool", "Boolean"),
    ("String", "text"),
    ("str", "text"),
    ("PathBuf", "text"),
    ("MaxFeatures", "`sqrt`, `all` or a number, as text"),
    ("ClassWeight", "`none`, `balanced` or `ACCEPT:DROP`"),
    ("Alphas", "number, or a list by queue of a port"),
    ("TraceMeta", "[footer of a trace](trace.md#footer)"),
    ("Split", "[split of a model](model.md#splits)"),
    ("SplitSettings", "[split](settings.md#splits)"),
    ("VoteRule", "[vote rule](sweep.md#votes-for-eta)"),
    ("Budget", "[budget](sweep.md#budgets)"),
    ("Victim", "`tail` or `arrival`"),
    ("FeatureSet", "[features](features.md)"),
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("a folder").to_owned()
}

/// The structs and enums of the sources, by name, with their files.
#[derive(Default)]
struct Types {
    structs: BTreeMap<String, Vec<(PathBuf, ItemStruct)>>,
    enums: BTreeMap<String, Vec<(PathBuf, ItemEnum)>>,
}

impl Types {
    fn read(&mut self, folder: &Path) {
        for path in fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("one").path())
        {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if path.is_dir() && !["tests", "benches", "target"].contains(&name.as_str()) {
                self.read(&path);
            } else if name.ends_with(".rs") {
                let file =
                    syn::parse_file(&fs::read_to_string(&path).expect("text")).expect("Rust");
                for item in file.items {
                    match item {
                        Item::Struct(item) => {
                            let of = self.structs.entry(item.ident.to_string()).or_default();
                            of.push((path.clone(), item));
                        }
                        Item::Enum(item) => {
                            let of = self.enums.entry(item.ident.to_string()).or_default();
                            of.push((path.clone(), item));
                        }
                        _ => {}
                    }
                }
            }
        }
    }
}

/// How many folders two files are both in.
fn shared(one: &Path, other: &Path) -> usize {
    one.iter().zip(other).take_while(|(one, other)| one == other).count()
}

/// The one of these that is nearest to a file.
fn nearest<'a, T>(of: Option<&'a Vec<(PathBuf, T)>>, file: &Path) -> Option<(&'a Path, &'a T)> {
    let found = of?.iter().max_by_key(|(path, _)| shared(path, file))?;
    Some((&found.0, &found.1))
}

fn serde(attributes: &[Attribute]) -> Vec<Meta> {
    let of_serde = attributes.iter().filter(|attribute| attribute.path().is_ident("serde"));
    let metas = of_serde.filter_map(|attribute| {
        attribute.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated).ok()
    });
    metas.flatten().collect()
}

fn has(attributes: &[Attribute], key: &str) -> bool {
    serde(attributes).iter().any(|meta| matches!(meta, Meta::Path(path) if path.is_ident(key)))
}

fn text(meta: &Meta) -> Option<String> {
    let Meta::NameValue(of) = meta else { return None };
    let Expr::Lit(of) = &of.value else { return None };
    let Lit::Str(of) = &of.lit else { return None };
    Some(of.value())
}

fn value(attributes: &[Attribute], key: &str) -> Option<String> {
    serde(attributes).iter().filter(|meta| meta.path().is_ident(key)).find_map(text)
}

/// The first paragraph of a documentation, in a cell of a table: without links to items.
fn about(attributes: &[Attribute]) -> String {
    let lines = attributes.iter().filter(|of| of.path().is_ident("doc")).map(|of| &of.meta);
    let lines: Vec<String> = lines.filter_map(text).map(|line| line.trim().to_owned()).collect();
    let paragraph = lines.join("\n");
    let paragraph = paragraph.split("\n\n").next().unwrap_or_default().replace('\n', " ");
    let mut plain = String::new();
    let mut rest = paragraph.as_str();
    while let Some((before, after)) = rest.split_once('[') {
        let (item, after) = after.split_once(']').expect("a link ends");
        let target = after.strip_prefix('(').and_then(|link| link.split_once(')'));
        let name = match item.strip_prefix('`') {
            Some(path) => format!("`{}", path.rsplit("::").next().unwrap_or(path)),
            None => item.to_owned(),
        };
        plain += &format!("{before}{name}");
        rest = target.map_or(after, |(_, after)| after);
    }
    (plain + rest).replace("docs/", "").replace("`None`", "null").replace('|', "\\|")
}

/// `NoDrop` is `no_drop`.
fn snake(name: &str) -> String {
    let mut words = String::new();
    for letter in name.chars() {
        if letter.is_uppercase() && !words.is_empty() {
            words.push('_');
        }
        words.extend(letter.to_lowercase());
    }
    words
}

/// A page in the making: the structs that are to be written, in the order in which they are met.
struct Page<'a> {
    types: &'a Types,
    ahead: VecDeque<(&'a Path, &'a ItemStruct)>,
    met: BTreeSet<String>,
    text: String,
}

impl<'a> Page<'a> {
    fn words(&mut self, of: &Type, file: &Path) -> String {
        if let Type::Reference(of) = of {
            return self.words(&of.elem, file);
        }
        let Type::Path(path) = of else { return "list".to_owned() };
        let last = path.path.segments.last().expect("a name");
        let name = last.ident.to_string();
        let inner = match &last.arguments {
            PathArguments::AngleBracketed(of) => of.args.iter().rev().find_map(|of| match of {
                GenericArgument::Type(of) => Some(of),
                _ => None,
            }),
            _ => None,
        };
        if let Some((_, words)) = WORDS.iter().find(|(known, _)| *known == name) {
            return (*words).to_owned();
        }
        match (name.as_str(), inner) {
            ("Option", Some(inner)) => return format!("{}, or null", self.words(inner, file)),
            ("Vec", Some(inner)) => return format!("list: {}", self.words(inner, file)),
            ("Box" | "Cow", Some(inner)) => return self.words(inner, file),
            ("BTreeMap", Some(inner)) => return format!("by name: {}", self.words(inner, file)),
            _ => {}
        }
        let types = self.types;
        let (is_enum, is_struct) =
            (nearest(types.enums.get(&name), file), nearest(types.structs.get(&name), file));
        let is_nearer = |(at, _): &(&Path, _)| {
            is_struct.is_none_or(|(other, _)| shared(at, file) > shared(other, file))
        };
        if let Some((_, found)) = is_enum.filter(is_nearer) {
            if found.variants.iter().all(|of| of.fields.is_empty()) {
                let is_kebab =
                    value(&found.attrs, "rename_all").is_some_and(|of| of == "kebab-case");
                let word = |of: &Variant| {
                    snake(&of.ident.to_string()).replace('_', if is_kebab { "-" } else { "_" })
                };
                let words: Vec<String> =
                    found.variants.iter().map(|of| format!("`{}`", word(of))).collect();
                return words.join(", ");
            }
            return self.kinds(found, file);
        }
        let Some((at, found)) = is_struct else {
            panic!("{name} in {}: add it to FOLDERS or WORDS", file.display());
        };
        if let Fields::Unnamed(fields) = &found.fields {
            return self.words(&fields.unnamed.first().expect("a field").ty, at);
        }
        if self.met.insert(name.clone()) {
            self.ahead.push_back((at, found));
        }
        format!("[{name}](#{})", name.to_lowercase())
    }

    /// An enum whose `kind` says which fields it has.
    fn kinds(&mut self, found: &'a ItemEnum, file: &Path) -> String {
        let tag = value(&found.attrs, "tag").unwrap_or_else(|| "kind".to_owned());
        let mut kinds = Vec::new();
        for variant in &found.variants {
            let fields: Vec<String> = match &variant.fields {
                Fields::Named(fields) => {
                    fields.named.iter().map(|field| self.named(field, file)).collect()
                }
                _ => Vec::new(),
            };
            let with = if fields.is_empty() {
                String::new()
            } else {
                format!(" with {}", fields.join(", "))
            };
            kinds.push(format!("`{}`{with}", snake(&variant.ident.to_string())));
        }
        format!("`{tag}`: {}", kinds.join("; "))
    }

    fn named(&mut self, field: &Field, file: &Path) -> String {
        let is_a = self.words(&field.ty, file);
        format!("`{}` ({is_a})", field.ident.as_ref().expect("a name"))
    }

    fn rows(&mut self, of: &'a ItemStruct, file: &'a Path) {
        for field in &of.fields {
            if has(&field.attrs, "skip") {
                continue;
            }
            if has(&field.attrs, "flatten") {
                let Type::Path(path) = &field.ty else { panic!("a type") };
                let name = path.path.segments.last().expect("a name").ident.to_string();
                if let Some((at, inner)) = nearest(self.types.structs.get(&name), file) {
                    self.rows(inner, at);
                    continue;
                }
            }
            let name = field.ident.as_ref().expect("a name").to_string();
            let name = value(&field.attrs, "rename").unwrap_or(name);
            let name = name.trim_start_matches("r#").trim_end_matches('_');
            let is_a = self.words(&field.ty, file);
            writeln!(self.text, "| `{name}` | {is_a} | {} |", about(&field.attrs)).expect("text");
        }
    }
}

fn page() -> String {
    let mut types = Types::default();
    for folder in FOLDERS {
        types.read(&root().join(folder));
    }
    let mut page = Page {
        types: &types,
        ahead: VecDeque::new(),
        met: BTreeSet::new(),
        text: INTRODUCTION.to_owned(),
    };
    for (_, name) in PRINTED {
        page.met.insert(name.to_owned());
    }
    for (command, name) in PRINTED {
        let [(file, found)] = &types.structs[name][..] else { panic!("one {name}") };
        page.ahead.push_back((file, found));
        let mut said = format!("{command}. ");
        while let Some((file, found)) = page.ahead.pop_front() {
            let heading = found.ident.to_string();
            write!(page.text, "\n## {heading}\n\n{said}{}\n\n", about(&found.attrs)).expect("text");
            page.text += "| field | type | meaning |\n|---|---|---|\n";
            page.rows(found, file);
            said.clear();
        }
    }
    page.text
}

#[test]
fn the_page_says_what_the_structs_say() {
    let (file, page) = (root().join("docs/json.md"), page());
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        fs::write(&file, &page).expect("written");
    }
    let found = fs::read_to_string(&file).unwrap_or_default();
    assert!(found == page, "docs/json.md is out of date: UPDATE_GOLDEN=1 writes it");
}
