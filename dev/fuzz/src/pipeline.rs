//! What the fuzz targets of the pipeline's parsers do with their bytes.

use crate::files::{FuzzTarget, with_file};
use dropcast_arrivals::{FabricWorkload, LeafWorkload};
use dropcast_data::{
    DropReports, EventColumns, EventFiles, EventFormat, EventOptions, EventReader, OnBadRow,
    SwitchSpec, SwitchSpecs, TraceReader, describe, read_switch_file,
};
use dropcast_export::{Origin, Target, export};
use dropcast_interop::{ImportTask, import as import_forest};
use dropcast_measure::condition::Condition;
use dropcast_pipeline::counters::{CounterReading, arrivals, judge_counters};
use dropcast_pipeline::files::read_settings;
use dropcast_pipeline::inspection::inspect;
use dropcast_pipeline::named_policy::NamedPolicy;
use dropcast_pipeline::progress::Silent;
use dropcast_pipeline::switch_draft::{CaptureDraftOptions, from_files};
use dropcast_pipeline::train::sweep::SweepSettings;
use dropcast_run::settings::RunSettings;
use dropcast_runtime::Table;
use dropcast_train::TrainedModel;
use std::path::Path;

/// Events as text.
fn csv(bytes: &[u8]) {
    events(bytes, "csv");
}

/// Events as Parquet.
fn parquet(bytes: &[u8]) {
    events(bytes, "");
}

/// Events as Arrow IPC.
fn arrow(bytes: &[u8]) {
    events(bytes, "");
}

/// Events as ns-3 prints them.
fn ns3(bytes: &[u8]) {
    events(bytes, "ns3");
}

/// Packets of a capture.
fn capture(bytes: &[u8]) {
    events(bytes, "capture");
}

/// Reports of drops: sFlow datagrams in a capture, or tables.
fn drops(bytes: &[u8]) {
    let capture = Path::new(crate::CORPUS).join("capture/ethernet.pcap");
    let specs = SwitchSpecs::Same(SwitchSpec::uniform(4, 1_000_000_000, 100_000, 8_000));
    with_file(bytes, |path| {
        for on_bad_row in [OnBadRow::Fail, OnBadRow::Skip] {
            let Ok(drops) = DropReports::read(&[path.to_owned()], 1_000_000_000, on_bad_row) else {
                continue;
            };
            let options = EventOptions {
                specs: Some(specs.clone()),
                on_bad_row,
                port: Some(1),
                drops: Some(drops),
                ..EventOptions::default()
            };
            if let Ok(files) = EventFiles::open(std::slice::from_ref(&capture), &options) {
                let _ = files.filter(Result::is_ok).count();
            }
        }
    });
}

/// Labelled traces of any format.
fn trace(bytes: &[u8]) {
    with_file(bytes, |path| {
        let _ = describe(path, &EventColumns::default()).is_ok();
        let Ok(reader) = TraceReader::open(path, &[]) else { return };
        let features = reader.meta().features.clone();
        if let Ok(rows) = TraceReader::open(path, &features) {
            let _ = rows.filter(Result::is_ok).count();
        }
    });
}

/// Switch descriptions, with port maps.
fn switch(bytes: &[u8]) {
    with_file(bytes, |path| {
        if let Ok(file) = read_switch_file(path) {
            let written = file.specs.to_toml();
            let again = SwitchSpecs::from_toml(&written).expect("our own words are understood");
            assert_eq!(again, file.specs);
        }
    });
}

/// Settings of the pipeline; the first byte chooses which.
fn settings(bytes: &[u8]) {
    let Some((first, text)) = bytes.split_first() else { return };
    with_file(text, |path| {
        let _ = match first % 4 {
            0 => read_settings::<RunSettings>(path).is_ok(),
            1 => SweepSettings::read(path).is_ok(),
            2 => read_settings::<FabricWorkload>(path).is_ok_and(|w| w.switch_specs().is_ok()),
            _ => read_settings::<LeafWorkload>(path).is_ok_and(|w| w.switch_spec().is_ok()),
        };
    });
}

/// `model.json`, exported if it is sound.
fn model(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let Ok(model) = TrainedModel::from_json(text) else { return };
    let origin = Origin::of_model(&model, "fuzzed", "");
    for name in ["c", "dct", "json"] {
        let target: Target = name.parse().expect("a known target");
        let _ = export(&model.forest, &origin, target).is_ok();
    }
    assert_eq!(TrainedModel::from_json(&model.to_json()).expect("our own words"), model);
}

/// `.dct` tables.
fn table(bytes: &[u8]) {
    let Ok(table) = Table::parse(bytes) else { return };
    let features = table.feature_codes().len();
    for value in [0, 1, 1_000, u32::MAX] {
        let _ = table.predicts_drop(&vec![value; features]);
    }
}

/// Counters: tables, and screens of SONiC.
fn counters(bytes: &[u8]) {
    let spec = SwitchSpec::uniform(4, 1_000_000_000, 100_000, 8_000);
    let mtu_bytes = CounterReading::MTU_BYTES;
    with_file(bytes, |path| {
        for pool in [None, Some("egress_lossy_pool".to_owned())] {
            let reading = CounterReading { switch: path.to_owned(), pool, mtu_bytes };
            if let Ok(polls) = reading.read(path, &spec) {
                judge_counters(&polls, &spec, mtu_bytes);
                let _ = arrivals(&polls, &spec, mtu_bytes).is_ok();
            }
        }
    });
}

/// Configurations of SONiC.
fn config_db(bytes: &[u8]) {
    let options =
        CaptureDraftOptions { rate_bps: None, buffer_bytes: None, dt_alpha: None, port_per: None };
    with_file(bytes, |path| {
        let _ = from_files(&[path.to_owned()], 32_000, &options, &Silent).is_ok();
    });
}

/// Policies, and what `--fail-if` says, as users write them.
fn policies(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let _ = (text.parse::<NamedPolicy>().is_ok(), text.parse::<Condition>().is_ok());
}

/// Whatever `inspect` knows: reports and sweeps are read by it alone.
fn inspected(bytes: &[u8]) {
    with_file(bytes, |path| {
        let _ = inspect(path, &EventColumns::default(), true).is_ok();
    });
}

/// Forests of other tools.
fn import(bytes: &[u8]) {
    for allow_rounding in [false, true] {
        let task = ImportTask {
            format: None,
            // Dumps name no columns, and some objectives predict no drop.
            features: allow_rounding.then(|| "paper4".parse().expect("known")),
            switch: Default::default(),
            threshold: allow_rounding.then_some(0.0),
            allow_rounding,
            name: String::new(),
            sha256: String::new(),
        };
        let _ = import_forest(bytes, &task).is_ok();
    }
}

/// Reads events of a format; tables have none.
fn events(bytes: &[u8], format: &str) {
    let specs = SwitchSpecs::Same(SwitchSpec::uniform(4, 1_000_000_000, 100_000, 8_000));
    with_file(bytes, |path| {
        for on_bad_row in [OnBadRow::Fail, OnBadRow::Skip] {
            let options = EventOptions {
                specs: Some(specs.clone()),
                on_bad_row,
                port: Some(1),
                format: EventFormat::named(format),
                ..EventOptions::default()
            };
            if let Ok(reader) = EventReader::open(path, options) {
                let _ = reader.filter(Result::is_ok).count();
            }
        }
        let _ = describe(path, &EventColumns::default()).is_ok();
    });
}

/// The targets, by the names of their corpora.
pub(crate) const TARGETS: [FuzzTarget; 16] = [
    ("arrow", arrow),
    ("capture", capture),
    ("config_db", config_db),
    ("counters", counters),
    ("csv", csv),
    ("drops", drops),
    ("import", import),
    ("inspected", inspected),
    ("model", model),
    ("ns3", ns3),
    ("parquet", parquet),
    ("policies", policies),
    ("settings", settings),
    ("switch", switch),
    ("table", table),
    ("trace", trace),
];
