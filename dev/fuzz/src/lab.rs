//! What the fuzz targets of the lab's parsers do with their bytes.

use crate::files::{FuzzTarget, with_file};
use dropcast_fabric::{Fabric, FabricConfig, FlowList, Transport};
use dropcast_lab::closed_loop::{Experiment, KeptRuns};
use dropcast_lab::map::MapSettings;
use dropcast_pipeline::progress::Silent;
use std::path::Path;

/// Settings of the lab; the first byte chooses which.
fn lab_settings(bytes: &[u8]) {
    let Some((first, text)) = bytes.split_first() else { return };
    with_file(text, |path| {
        let _ = match first % 2 {
            0 => Experiment::read(path).is_ok(),
            _ => MapSettings::read(path).is_ok(),
        };
    });
}

/// Lists of flows of any format.
fn flows(bytes: &[u8]) {
    let fabric = Fabric::try_from(FabricConfig::default()).expect("valid");
    if let Ok(list) = FlowList::read(bytes, Transport::Dctcp, 1, |flow| fabric.check_flow(flow)) {
        assert!(list.flows().is_sorted_by_key(|flow| flow.start_ns));
    }
}

/// Files of kept runs.
fn kept_runs(bytes: &[u8]) {
    with_file(bytes, |path| {
        let _ = KeptRuns::open(path, Path::new("/dev/null"), &Silent).is_ok();
    });
}

/// The targets, by the names of their corpora.
pub(crate) const TARGETS: [FuzzTarget; 3] =
    [("flows", flows), ("kept_runs", kept_runs), ("lab_settings", lab_settings)];
