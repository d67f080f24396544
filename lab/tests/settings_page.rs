//! lab/notes/settings.md: every field of every file of settings, from the structs that read them.
//!
//! `UPDATE_GOLDEN=1 cargo test --release -p dropcast-lab --test settings_page` writes the page.

#[path = "../../cli/tests/settings/mod.rs"]
mod settings;

use dropcast_fabric::{Collective, FabricConfig, Incast, PoissonFlows, TrafficConfig};
use dropcast_lab::closed_loop::Experiment;
use dropcast_lab::map::{Grid, MapSettings};
use settings::{Page, Section, section};

fn sections() -> Vec<Section> {
    vec![
        section(
            ("lab/src/closed_loop/experiment.rs", "Experiment"),
            "Experiments",
            "`dropcast-lab simulate FILE.toml`.",
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
            "`dropcast-lab map FILE.toml`.",
            &MapSettings::default(),
        ),
        section(
            ("lab/src/map/conditions.rs", "Grid"),
            "Grids of a map",
            "Each `[[grids]]` of a map.",
            &Grid::default(),
        ),
    ]
}

/// Types that are one of a few words.
const ENUMS: [(&str, &str); 7] = [
    ("lab/fabric/src/workloads/incast.rs", "Connections"),
    ("lab/fabric/src/fabric/config.rs", "OnFull"),
    ("lab/fabric/src/fabric/config.rs", "Paths"),
    ("lab/fabric/src/transport/registry.rs", "Transport"),
    ("lab/fabric/src/transport/tuning.rs", "Recovery"),
    ("lab/fabric/src/workloads/collective.rs", "CollectiveOperation"),
    ("lab/fabric/src/workloads/pattern.rs", "Pattern"),
];

const INTRODUCTION: &str = "\
# Settings of the lab

Every field of the files of experiments and maps (TOML). All have a default; unknown names are refused. `[oracles.NAME]` \
of a map has the fields of [training](../../docs/settings.md#training); policies and AQMs with their parameters are in \
[policies.md](../../docs/policies.md).

This page is written by `UPDATE_GOLDEN=1 cargo test --release -p dropcast-lab --test settings_page`.
";

#[test]
fn the_page_says_what_the_structs_say() {
    let page = Page {
        file: "lab/notes/settings.md",
        introduction: INTRODUCTION,
        sections: sections(),
        enums: &ENUMS,
    };
    page.check();
}
