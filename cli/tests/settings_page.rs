//! docs/settings.md: every field of every file of settings, from the structs that read them.
//!
//! `UPDATE_GOLDEN=1 cargo test --release --test settings_page` writes the page.

mod settings;

use dropcast_arrivals::{FabricWorkload, LeafWorkload};
use dropcast_data::{CaptureMap, InputMaps};
use dropcast_run::settings::RunSettings;
use dropcast_train::{SplitSettings, SweepAxes};
use settings::{Page, Section, section};
use toml::Table;

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
            "`[train]` of a run.",
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
            ("data/src/capture/map.rs", "CaptureMap"),
            "Captures",
            "Described in [pcap.md](pcap.md).",
            &CaptureMap::default(),
        ),
        section(
            ("data/src/capture/map.rs", "PortRule"),
            "Ports of captures",
            "Each `[[capture.port]]`.",
            &none,
        ),
        section(
            ("data/src/capture/map.rs", "QueueRule"),
            "Queues of captures",
            "Each `[[capture.queue]]`.",
            &none,
        ),
        section(
            ("data/src/ns3/map.rs", "Ns3Map"),
            "Traces of ns-3",
            "Described in [ns3-ascii.md](ns3-ascii.md).",
            &InputMaps::default().ns3,
        ),
        section(
            ("data/src/ns3/map.rs", "Ns3Port"),
            "Ports of ns-3",
            "Each `[[ns3.port]]`.",
            &first,
        ),
        section(
            ("data/src/switch/pool_map.rs", "Pool"),
            "Pools",
            "Described in [switch.md](switch.md).",
            &none,
        ),
    ]
}

const INTRODUCTION: &str = "\
# Settings

Every field of every file of settings (TOML). All have a default but `data` of a sweep and those that are \
required; unknown names are refused. Switches \
are described in [switch.md](switch.md), policies and AQMs with their parameters in \
[policies.md](policies.md).

This page is written by `UPDATE_GOLDEN=1 cargo test --release --test settings_page`.
";

#[test]
fn the_page_says_what_the_structs_say() {
    let sections = of_training().into_iter().chain(of_switches()).collect();
    let page = Page { file: "docs/settings.md", introduction: INTRODUCTION, sections, enums: &[] };
    page.check();
}
