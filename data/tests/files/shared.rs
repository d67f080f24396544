//! Real traces of the Credence authors' ns-3 code. They are too large to ship: these checks run where
//! `DROPCAST_SHARED` names the folder with them, or `../../shared/traces` is there, and pass elsewhere.

use dropcast_data::{
    EventKind, EventOptions, EventReader, InputNote, Outcome, RowOrder, SwitchSpec, SwitchSpecs,
    TraceReader,
};
use std::path::{Path, PathBuf};

fn shared(file: &str) -> Option<PathBuf> {
    let folder = match std::env::var_os("DROPCAST_SHARED") {
        Some(folder) => PathBuf::from(folder),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/traces"),
    };
    Some(folder.join(file)).filter(|path| path.exists())
}

#[test]
fn the_ns3_events_are_all_good() {
    let Some(path) = shared("ns3-leaf-load80-burst75/events.parquet") else { return };
    let mut spec = SwitchSpec::uniform(20, 10_000_000_000, 1_052_672, 32_000);
    spec.queues_per_port = 2;
    spec.pushable = vec![false, true];
    spec.shared = vec![true; 2];
    let specs = Some(SwitchSpecs::Same(spec));
    let mut reader =
        EventReader::open(&path, EventOptions { specs, ..Default::default() }).unwrap();
    let mut arrivals = 0;
    for batch in reader.by_ref() {
        let events = batch.unwrap().events;
        arrivals += events.iter().filter(|event| event.kind == EventKind::Arrival).count();
    }
    assert_eq!((arrivals, reader.provenance().events), (2_735_521, 5_468_246));
}

#[test]
fn the_ns3_reference_is_read() {
    let Some(path) = shared("ns3-leaf-load80-burst75/reference.parquet") else { return };
    let features = ["queue_length", "avg_occupancy"].map(str::to_owned);
    let mut reader = TraceReader::open(&path, &features).unwrap();
    reader.require_arrival_order().unwrap();
    let mut counts = [0; 4];
    for batch in reader.by_ref() {
        let batch = batch.unwrap();
        for outcome in batch.outcome.unwrap() {
            counts[outcome as usize] += 1;
        }
    }
    assert_eq!(counts[Outcome::PushedOut as usize], 2_669);
    assert_eq!(counts[Outcome::Rejected as usize], 127);
    assert_eq!((reader.provenance().events, &reader.meta().switches), (2_735_521, &None));
    assert_eq!(
        reader.meta().features,
        ["queue_length", "avg_queue_length", "occupancy", "avg_occupancy"]
    );
}

#[test]
fn the_artifacts_own_text_is_read() {
    let Some(path) = shared("artifact-csv/lqd-1.csv.gz") else { return };
    let mut reader = TraceReader::open(&path, &["occupancy".to_owned()]).unwrap();
    let drops: usize = reader
        .by_ref()
        .map(|batch| batch.unwrap().drop.into_iter().filter(|&drop| drop).count())
        .sum();
    assert_eq!((drops, reader.meta().order), (2_092, RowOrder::Departure));
    let provenance = reader.provenance();
    assert_eq!((provenance.events, provenance.notes[&InputNote::AllZero]), (2_734_736, 53_477));
}
