//! Pages of settings: every field of every file of settings, from the structs that read them.
//!
//! Read from the source rather than derived (schemars): many of these types are read from text, and are defined in
//! crates that need no schema otherwise.

use dropcast_features::FeatureSet;
use dropcast_tidy::{SettingsField, TypeName, settings_enum, settings_struct};
use serde::Serialize;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use toml::{Table, Value};

/// A page of settings.
pub(crate) struct Page {
    /// Its file, from the root of the repository.
    pub(crate) file: &'static str,
    /// What it begins with.
    pub(crate) introduction: &'static str,
    pub(crate) sections: Vec<Section>,
    /// Further types that are one of a few words: source and name.
    pub(crate) enums: &'static [(&'static str, &'static str)],
}

/// A struct: its source, its name, its heading, and what reads it.
pub(crate) struct Section {
    file: &'static str,
    name: &'static str,
    heading: &'static str,
    read_by: &'static str,
    defaults: Table,
}

pub(crate) fn section(
    (file, name): (&'static str, &'static str),
    heading: &'static str,
    read_by: &'static str,
    defaults: &impl Serialize,
) -> Section {
    let defaults = Table::try_from(defaults).expect("settings are a table");
    Section { file, name, heading, read_by, defaults }
}

/// Types that are one of a few words.
const ENUMS: [(&str, &str); 11] = [
    ("data/src/capture/map.rs", "CaptureTimes"),
    ("data/src/types/settings.rs", "Departures"),
    ("data/src/types/settings.rs", "Label"),
    ("data/src/types/settings.rs", "Victim"),
    ("data/src/types/spec.rs", "Scheduler"),
    ("data/src/events/time_unit.rs", "TimeUnit"),
    ("data/src/types/settings.rs", "OnBadRow"),
    ("pipeline/src/settings.rs", "Trainer"),
    ("train/src/params.rs", "Criterion"),
    ("train/src/params.rs", "Monotone"),
    ("train/src/splits/split_by.rs", "SplitBy"),
];

/// Types that are read from text or numbers.
const WORDS: [(&str, &str); 26] = [
    ("u8", "integer"),
    ("u16", "integer"),
    ("u32", "integer"),
    ("u64", "integer"),
    ("f64", "number"),
    ("bool", "Boolean"),
    ("String", "text"),
    ("PathBuf", "path"),
    ("FileName", "text"),
    ("Mac", "Ethernet address"),
    ("Prefix", "IP address or prefix"),
    ("OneOrSeveral", "integer, or list of integers"),
    ("EventPaths", "path, or list of paths"),
    ("NamedPolicy", "[policy](docs/policies.md)"),
    ("AqmSpec", "[AQM](docs/policies.md)"),
    ("FeatureSet", "[features](docs/features.md)"),
    ("Budget", "[budget](docs/sweep.md#budgets)"),
    ("VoteRule", "[vote rule](docs/sweep.md#votes-for-eta)"),
    ("MaxFeatures", "`sqrt`, `all` or a number, as text"),
    ("ClassWeight", "`none`, `balanced` or `ACCEPT:DROP`"),
    (
        "AnswerSizes",
        "`equal`, `{ log-normal = DEVIATION }`, `{ by-pair = DEVIATION }` or `{ table = SIZES }`",
    ),
    ("FlowSizeChoice", "[name or points](docs/workloads.md#flow-sizes)"),
    ("TransportMix", "transports, such as `0.9 dctcp + 0.1 cubic`"),
    ("MeasureName", "[metric](lab/notes/fabric.md#measures)"),
    ("TrainSettings", "[training](docs/settings.md#training)"),
    ("Objective", "[metric](lab/notes/fabric.md#measures)"),
];

/// Units by the ends of names.
const UNITS: [(&str, &str); 9] = [
    ("_ns", "ns"),
    ("_ms", "ms"),
    ("_bps", "bit/s"),
    ("_hz", "1/s"),
    ("_kb", "kB per port and Gbps"),
    ("bytes", "bytes"),
    ("_packets", "packets"),
    ("_segments", "segments"),
    ("_share", "share"),
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("a folder").to_owned()
}

/// A type in words.
fn words(of: &TypeName, page: &Page) -> String {
    let TypeName { name, arguments } = of;
    let inner = || words(arguments.last().expect("of something"), page);
    if let Some(section) = page.sections.iter().find(|section| section.name == name) {
        return format!("[table](#{})", section.heading.to_lowercase().replace(' ', "-"));
    }
    if let Some((_, words)) = WORDS.iter().find(|(known, _)| known == name) {
        let Some((word, rest)) = words.split_once("](") else { return (*words).to_owned() };
        let (link, rest) = rest.split_once(')').expect("a link ends");
        return format!("{word}]({}){rest}", page.link(link));
    }
    if let Some((file, name)) = ENUMS.iter().chain(page.enums).find(|(_, known)| known == name) {
        let found = settings_enum(&root().join(file), name).expect("Rust").expect("an enum");
        return found
            .values
            .iter()
            .map(|value| format!("`{value}`"))
            .collect::<Vec<_>>()
            .join(", ");
    }
    match name.as_str() {
        "Option" => inner(),
        "Vec" => format!("list: {}", inner()),
        "BTreeMap" => format!("by name: {}", inner()),
        _ => panic!("{name}: add it to sections(), ENUMS or WORDS"),
    }
}

fn default(field: &SettingsField, section: &Section, page: &Page) -> String {
    let is_table = |of: &TypeName| page.sections.iter().any(|section| section.name == of.name);
    let of_each = field.is_a.arguments.last().is_some_and(is_table);
    match section.defaults.get(&field.name) {
        Some(value) if field.is_a.name == "FeatureSet" => {
            let set: FeatureSet = value.clone().try_into().expect("features");
            if set == FeatureSet::all() { "all".to_owned() } else { format!("`{set}`") }
        }
        Some(Value::Table(of)) if of.is_empty() => "empty".to_owned(),
        Some(Value::Table(_)) => "its own".to_owned(),
        Some(Value::Array(values)) if of_each && !values.is_empty() => "its own".to_owned(),
        Some(Value::Array(values)) if values.is_empty() => "empty".to_owned(),
        Some(Value::Array(values)) => {
            let values: Vec<String> = values.iter().map(|value| format!("`{value}`")).collect();
            values.join(", ")
        }
        Some(value) => format!("`{value}`"),
        None if field.is_required => "required".to_owned(),
        None => match field.is_a.name.as_str() {
            "Vec" => "empty".to_owned(),
            "bool" => "`false`".to_owned(),
            _ if is_table(&field.is_a) => "its own".to_owned(),
            name => default_of_enum(name, page).unwrap_or_else(|| "none".to_owned()),
        },
    }
}

fn default_of_enum(name: &str, page: &Page) -> Option<String> {
    let (file, name) = ENUMS.iter().chain(page.enums).find(|(_, known)| *known == name)?;
    let found = settings_enum(&root().join(file), name).expect("Rust")?;
    Some(format!("`\"{}\"`", found.default?))
}

/// Documentation without links to items, with links to pages.
fn plain(about: &str, page: &Page) -> String {
    let mut text = String::new();
    let mut rest = about.split("\n\n").next().unwrap_or_default();
    while let Some(at) = rest.find("[`") {
        let (before, after) = rest.split_at(at);
        let (item, after) = after[2..].split_once("`]").expect("a link ends");
        let item = item.rsplit("::").next().unwrap_or(item);
        write!(text, "{before}`{item}`").expect("text");
        rest = after;
    }
    let text = (text + rest).replace(".md`", ".md");
    FOLDERS
        .iter()
        .fold(text, |text, folder| {
            let text = text.replace(&format!("`{folder}/"), &format!("{folder}/"));
            let path = format!("{folder}/");
            let mut parts = text.split(&path);
            let mut linked = parts.next().unwrap_or_default().to_owned();
            for part in parts {
                let (name, rest) = part.split_once(".md").expect("a page");
                let link = page.link(&format!("{folder}/{name}.md"));
                write!(linked, "[{name}.md]({link}){rest}").expect("text");
            }
            linked
        })
        .replace('\n', " ")
        .replace('|', "\\|")
}

/// Folders of pages.
const FOLDERS: [&str; 2] = ["docs", "lab/notes"];

fn text(page: &Page) -> String {
    let mut text = page.introduction.to_owned();
    for section in &page.sections {
        let found = settings_struct(&root().join(section.file), section.name).expect("Rust");
        let found = found.unwrap_or_else(|| panic!("{} has no {}", section.file, section.name));
        write!(
            text,
            "\n## {}\n\n{} {}\n\n",
            section.heading,
            section.read_by,
            plain(&found.about, page)
        )
        .expect("text");
        text += "| field | type | default | meaning |\n|---|---|---|---|\n";
        for field in &found.fields {
            assert!(
                !field.about.is_empty(),
                "{}.{} has no documentation",
                section.name,
                field.name
            );
            let unit = UNITS.iter().find(|(end, _)| field.name.ends_with(end));
            writeln!(
                text,
                "| `{}` | {}{} | {} | {} |",
                field.name,
                words(&field.is_a, page),
                unit.map_or(String::new(), |(_, unit)| format!(", {unit}")),
                default(field, section, page),
                plain(&field.about, page)
            )
            .expect("text");
        }
    }
    text
}

impl Page {
    /// A page as this one links to it.
    fn link(&self, to: &str) -> String {
        let (folder, _) = self.file.rsplit_once('/').expect("in a folder");
        match to.strip_prefix(folder) {
            Some(name) => name.trim_start_matches('/').to_owned(),
            None => "../".repeat(folder.split('/').count()) + to,
        }
    }

    /// Checks that the page says what the structs say, and that every default is of a field.
    pub(crate) fn check(&self) {
        let (file, made) = (root().join(self.file), text(self));
        if std::env::var_os("UPDATE_GOLDEN").is_some() {
            std::fs::write(&file, &made).expect("the page is written");
        }
        let found = std::fs::read_to_string(&file).unwrap_or_default();
        let differs = found.lines().zip(made.lines()).find(|(found, made)| found != made);
        assert!(
            found == made,
            "{} differs from the structs ({differs:?}): write it anew with UPDATE_GOLDEN=1",
            self.file
        );
        for section in &self.sections {
            let found = settings_struct(&root().join(section.file), section.name).expect("Rust");
            let fields = found.expect("a struct").fields;
            let mut keys = section.defaults.keys();
            let unknown = keys.find(|key| fields.iter().all(|of| of.name != **key));
            assert_eq!(unknown, None, "{}", section.name);
        }
    }
}
