//! docs/settings.md: every field of every file of settings, from the structs that read them.
//!
//! Read from the source rather than derived (schemars): many of these types are read from text, and are defined in
//! crates that need no schema otherwise.
//!
//! `UPDATE_GOLDEN=1 cargo test --release --workspace --test settings_page` writes the page.

use dropcast_arrivals::{FabricWorkload, LeafWorkload};
use dropcast_data::{CaptureMap, InputMaps};
use dropcast_fabric::{Collective, FabricConfig, Incast, PoissonFlows, TrafficConfig};
use dropcast_features::FeatureSet;
use dropcast_lab::closed_loop::Experiment;
use dropcast_lab::map::{Grid, MapSettings};
use dropcast_run::settings::RunSettings;
use dropcast_tidy::{SettingsField, TypeName, settings_enum, settings_struct};
use dropcast_train::{SplitSettings, SweepAxes};
use serde::Serialize;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use toml::{Table, Value};

/// A struct: its source, its name, its heading, and what reads it.
struct Section {
    file: &'static str,
    name: &'static str,
    heading: &'static str,
    read_by: &'static str,
    defaults: Table,
}

fn section(
    (file, name): (&'static str, &'static str),
    heading: &'static str,
    read_by: &'static str,
    defaults: &impl Serialize,
) -> Section {
    let defaults = Table::try_from(defaults).expect("settings are a table");
    Section { file, name, heading, read_by, defaults }
}

fn sections() -> Vec<Section> {
    [of_training(), of_fabrics(), of_switches()].into_iter().flatten().collect()
}

/// Runs and sweeps.
fn of_training() -> Vec<Section> {
    let run = RunSettings::default();
    let none = Table::new();
    vec![
        section(
            ("cli/run/src/settings.rs", "RunSettings"),
            "Runs",
            "`config.toml` of a run; `dropcast run --config FILE.toml`.",
            &run,
        ),
        section(
            ("pipeline/src/settings.rs", "TracerSettings"),
            "Labels",
            "`[collect]` of a run.",
            &run.collect,
        ),
        section(
            ("pipeline/src/settings.rs", "TrainSettings"),
            "Training",
            "`[train]` of a run, `[oracles.NAME]` of a map.",
            &run.train,
        ),
        section(
            ("train/src/splits/settings.rs", "SplitSettings"),
            "Splits",
            "`[train.split]` of a run, `[split]` of a sweep.",
            &SplitSettings::default(),
        ),
        section(
            ("cli/run/src/settings.rs", "ExportSettings"),
            "Exports",
            "`[export]` of a run.",
            &run.export,
        ),
        section(
            ("pipeline/src/train/sweep/settings.rs", "SweepSettings"),
            "Sweeps",
            "`dropcast sweep FILE.toml`.",
            &none,
        ),
        section(
            ("train/src/sweep/axes.rs", "SweepAxes"),
            "Axes of a sweep",
            "`[axes]` of a sweep. A list has at least one value, and a single value needs no brackets.",
            &SweepAxes::default(),
        ),
        section(
            ("lab/src/refine.rs", "LoopSettings"),
            "Closed loop of a sweep",
            "`[closed_loop]` of a sweep.",
            &none,
        ),
    ]
}

/// Experiments, maps and workloads.
fn of_fabrics() -> Vec<Section> {
    vec![
        section(
            ("lab/src/closed_loop/experiment.rs", "Experiment"),
            "Experiments",
            "`dropcast simulate --experiment FILE.toml`.",
            &Experiment::default(),
        ),
        section(
            ("lab/fabric/src/fabric/config.rs", "FabricConfig"),
            "Fabrics",
            "`[fabric]` of an experiment or a map.",
            &FabricConfig::default(),
        ),
        section(
            ("lab/fabric/src/workloads/mix.rs", "TrafficConfig"),
            "Traffic",
            "`[traffic]` of an experiment or a map.",
            &TrafficConfig::default(),
        ),
        section(
            ("lab/fabric/src/workloads/poisson_flows.rs", "PoissonFlows"),
            "Flows",
            "Each `[[traffic.flows]]`.",
            &PoissonFlows::default(),
        ),
        section(
            ("lab/fabric/src/workloads/incast.rs", "Incast"),
            "Incasts",
            "Each `[[traffic.incasts]]`.",
            &Incast::default(),
        ),
        section(
            ("lab/fabric/src/workloads/collective.rs", "Collective"),
            "Collectives",
            "Each `[[traffic.collectives]]`.",
            &Collective::default(),
        ),
        section(
            ("lab/src/map/settings.rs", "MapSettings"),
            "Maps",
            "`dropcast map FILE.toml`.",
            &MapSettings::default(),
        ),
        section(
            ("lab/src/map/conditions.rs", "Grid"),
            "Grids of a map",
            "Each `[[grids]]` of a map.",
            &Grid::default(),
        ),
        section(
            ("collect/arrivals/src/leaf.rs", "LeafWorkload"),
            "Workload of a leaf",
            "`[workload]` of a run; `dropcast simulate --workload FILE.toml`.",
            &LeafWorkload::default(),
        ),
        section(
            ("collect/arrivals/src/fabric.rs", "FabricWorkload"),
            "Workload of leaves and spines",
            "`dropcast simulate --topology leaf-spine --workload FILE.toml`.",
            &FabricWorkload::default(),
        ),
    ]
}

/// What a switch description file says of inputs, beside the switches.
fn of_switches() -> Vec<Section> {
    let none = Table::new();
    let first = Table::from_iter(["switch", "queue"].map(|name| (name.to_owned(), 0.into())));
    vec![
        section(
            ("data/src/capture_map.rs", "CaptureMap"),
            "Captures",
            "Described in [pcap.md](pcap.md).",
            &CaptureMap::default(),
        ),
        section(
            ("data/src/capture_map.rs", "PortRule"),
            "Ports of captures",
            "Each `[[capture.port]]`.",
            &none,
        ),
        section(
            ("data/src/capture_map.rs", "QueueRule"),
            "Queues of captures",
            "Each `[[capture.queue]]`.",
            &none,
        ),
        section(
            ("data/src/ns3_map.rs", "Ns3Map"),
            "Traces of ns-3",
            "Described in [ns3-ascii.md](ns3-ascii.md).",
            &InputMaps::default().ns3,
        ),
        section(
            ("data/src/ns3_map.rs", "Ns3Port"),
            "Ports of ns-3",
            "Each `[[ns3.port]]`.",
            &first,
        ),
        section(
            ("data/src/pool_map.rs", "Pool"),
            "Pools",
            "Described in [switch.md](switch.md).",
            &none,
        ),
    ]
}

/// Types that are one of a few words.
const ENUMS: [(&str, &str); 18] = [
    ("data/src/capture_map.rs", "CaptureTimes"),
    ("data/src/settings.rs", "Departures"),
    ("data/src/settings.rs", "Expert"),
    ("data/src/settings.rs", "Victim"),
    ("data/src/spec.rs", "Scheduler"),
    ("data/src/time_unit.rs", "TimeUnit"),
    ("lab/src/map/conditions.rs", "Priorities"),
    ("data/src/events/gate.rs", "OnBadRow"),
    ("pipeline/src/settings.rs", "Trainer"),
    ("lab/fabric/src/fabric/config.rs", "OnFull"),
    ("lab/fabric/src/fabric/config.rs", "Paths"),
    ("lab/fabric/src/transport/registry.rs", "Transport"),
    ("lab/fabric/src/transport/tuning.rs", "Recovery"),
    ("lab/fabric/src/workloads/collective.rs", "CollectiveOperation"),
    ("lab/fabric/src/workloads/pattern.rs", "Pattern"),
    ("train/src/params.rs", "Criterion"),
    ("train/src/params.rs", "Monotone"),
    ("train/src/splits/split_by.rs", "SplitBy"),
];

/// Types that are read from text or numbers.
const WORDS: [(&str, &str); 25] = [
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
    ("Values", "integer, or list of integers"),
    ("EventPaths", "path, or list of paths"),
    ("NamedPolicy", "[policy](policies.md)"),
    ("ChosenPolicy", "[policy](policies.md), without a model"),
    ("AqmSpec", "[AQM](policies.md)"),
    ("FeatureSet", "[features](features.md)"),
    ("Budget", "[budget](sweep.md#budgets)"),
    ("VoteRule", "[vote rule](sweep.md#votes-for-eta)"),
    ("MaxFeatures", "`sqrt`, `all` or a number, as text"),
    ("ClassWeight", "`none`, `balanced` or `ACCEPT:DROP`"),
    ("FlowSizeChoice", "[name or points](workloads.md#flow-sizes)"),
    ("TransportMix", "transports, such as `0.9 dctcp + 0.1 cubic`"),
    ("MeasureName", "[metric](fabric.md#measures)"),
    ("Objective", "[metric](fabric.md#measures)"),
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

/// A type in words; `L` is what a sweep's crate calls its closed loop.
fn words(of: &TypeName, sections: &[Section]) -> String {
    let TypeName { name, arguments } = of;
    let inner = || words(arguments.last().expect("of something"), sections);
    if let Some((_, words)) = WORDS.iter().find(|(known, _)| known == name) {
        return (*words).to_owned();
    }
    if let Some((file, name)) = ENUMS.iter().find(|(_, known)| known == name) {
        let found = settings_enum(&root().join(file), name).expect("Rust").expect("an enum");
        return found
            .values
            .iter()
            .map(|value| format!("`{value}`"))
            .collect::<Vec<_>>()
            .join(", ");
    }
    let name = if name == "L" { "LoopSettings" } else { name };
    if let Some(section) = sections.iter().find(|section| section.name == name) {
        return format!("[table](#{})", section.heading.to_lowercase().replace(' ', "-"));
    }
    match name {
        "Option" => inner(),
        "Vec" => format!("list: {}", inner()),
        "BTreeMap" => format!("by name: {}", inner()),
        _ => panic!("{name}: add it to sections(), ENUMS or WORDS"),
    }
}

fn default(field: &SettingsField, section: &Section, sections: &[Section]) -> String {
    let is_table = |of: &TypeName| sections.iter().any(|section| section.name == of.name);
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
            name => default_of_enum(name).unwrap_or_else(|| "none".to_owned()),
        },
    }
}

fn default_of_enum(name: &str) -> Option<String> {
    let (file, name) = ENUMS.iter().find(|(_, known)| *known == name)?;
    let found = settings_enum(&root().join(file), name).expect("Rust")?;
    Some(format!("`\"{}\"`", found.default?))
}

/// Documentation without links to items.
fn plain(about: &str) -> String {
    let mut text = String::new();
    let mut rest = about.split("\n\n").next().unwrap_or_default();
    while let Some(at) = rest.find("[`") {
        let (before, after) = rest.split_at(at);
        let (item, after) = after[2..].split_once("`]").expect("a link ends");
        let item = item.rsplit("::").next().unwrap_or(item);
        write!(text, "{before}`{item}`").expect("text");
        rest = after;
    }
    linked(&(text + rest)).replace('\n', " ").replace('|', "\\|")
}

/// Names of pages as links.
fn linked(text: &str) -> String {
    let text = text.replace("`docs/", "docs/").replace(".md`", ".md");
    let mut parts = text.split("docs/");
    let mut linked = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (page, rest) = part.split_once(".md").expect("a page");
        write!(linked, "[{page}.md]({page}.md){rest}").expect("text");
    }
    linked
}

fn page() -> String {
    let sections = sections();
    let mut page = "# Settings\n\n\
        Every field of every file of settings (TOML). All have a default but `data` of a sweep and those that are \
        required; unknown names are refused. Switches \
        are described in [switch.md](switch.md), policies and AQMs with their parameters in \
        [policies.md](policies.md).\n\n\
        This page is written by `UPDATE_GOLDEN=1 cargo test --release --workspace --test settings_page`.\n"
        .to_owned();
    for section in &sections {
        let found = settings_struct(&root().join(section.file), section.name).expect("Rust");
        let found = found.unwrap_or_else(|| panic!("{} has no {}", section.file, section.name));
        write!(page, "\n## {}\n\n{} {}\n\n", section.heading, section.read_by, plain(&found.about))
            .expect("text");
        page += "| field | type | default | meaning |\n|---|---|---|---|\n";
        for field in &found.fields {
            assert!(
                !field.about.is_empty(),
                "{}.{} has no documentation",
                section.name,
                field.name
            );
            let unit = UNITS.iter().find(|(end, _)| field.name.ends_with(end));
            writeln!(
                page,
                "| `{}` | {}{} | {} | {} |",
                field.name,
                words(&field.is_a, &sections),
                unit.map_or(String::new(), |(_, unit)| format!(", {unit}")),
                default(field, section, &sections),
                plain(&field.about)
            )
            .expect("text");
        }
    }
    page
}

#[test]
fn the_page_says_what_the_structs_say() {
    let (file, page) = (root().join("docs/settings.md"), page());
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&file, &page).expect("the page is written");
    }
    let found = std::fs::read_to_string(&file).unwrap_or_default();
    let differs = found.lines().zip(page.lines()).find(|(found, made)| found != made);
    assert!(
        found == page,
        "docs/settings.md differs from the structs ({differs:?}): write it anew with UPDATE_GOLDEN=1"
    );
}

#[test]
fn every_default_is_of_a_field() {
    for section in sections() {
        let found = settings_struct(&root().join(section.file), section.name).expect("Rust");
        let fields = found.expect("a struct").fields;
        let unknown = section.defaults.keys().find(|key| fields.iter().all(|of| of.name != **key));
        assert_eq!(unknown, None, "{}", section.name);
    }
}
