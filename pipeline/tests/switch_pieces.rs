//! Pieces of a switch, labelled alone, give the rows of the whole.

use dropcast_data::{
    DataError, Departures, Event, EventBatch, EventKind, InputProvenance, LabelledBatch,
    SwitchSpec, SwitchSpecs, TraceReader,
};
use dropcast_pipeline::collect::{
    EvenTrace, Events, PieceEvents, SwitchPiece, TraceFile, collect, cut_switches, join_pieces,
};
use dropcast_pipeline::progress::Silent;
use dropcast_pipeline::settings::TracerSettings;
use proptest::prelude::*;
use std::path::Path;

/// Events in memory.
#[derive(Clone)]
struct Given(std::vec::IntoIter<EventBatch>);

impl Iterator for Given {
    type Item = Result<EventBatch, DataError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.0.next().map(Ok)
    }
}

impl Events for Given {
    fn may_push_out(&self) -> bool {
        false
    }

    fn records_marks(&self) -> bool {
        true
    }

    fn inputs(&self) -> Vec<InputProvenance> {
        vec![InputProvenance { name: "given".to_owned(), ..InputProvenance::default() }]
    }
}

/// Wait before the event in nanoseconds, switch, port, bytes.
type Step = (u64, u16, u16, u32);

/// Bursts at two switches, far enough from each other now and then for the buffer to run empty. Some
/// packets are marked; each has a column of the user's own.
fn given(steps: &[Step], batch: usize, pauses: bool) -> Given {
    let mut time_ns = 0;
    let event = |(nth, &(wait, switch_id, port, size_bytes)): (usize, &Step)| {
        time_ns += wait;
        let kind = kind(nth, pauses);
        let flags = if nth % 3 == 0 { Event::ECN_MARK } else { 0 };
        Event { time_ns, switch_id, port, queue: 0, size_bytes, kind, flow_hash: 0, flags }
    };
    let events: Vec<Event> = steps.iter().enumerate().map(event).collect();
    let own: Vec<u32> = (0..).take(events.len()).collect();
    let batches = events.chunks(batch).zip(own.chunks(batch));
    let batches =
        batches.map(|(events, own)| EventBatch { events: events.to_vec(), own: own.to_vec() });
    Given(batches.collect::<Vec<_>>().into_iter())
}

fn kind(nth: usize, pauses: bool) -> EventKind {
    match nth % 7 {
        2 if pauses => EventKind::Pause,
        4 if pauses => EventKind::Resume,
        _ => EventKind::Arrival,
    }
}

fn specs() -> SwitchSpecs {
    SwitchSpecs::Same(SwitchSpec::uniform(3, 8_000_000_000, 3_000, 1_000))
}

fn settings(features: &str) -> TracerSettings {
    let features = features.parse().expect("valid");
    TracerSettings { departures: Departures::LineRate, features, ..TracerSettings::default() }
}

fn rows(path: &Path, features: &[String], switch: u16) -> LabelledBatch {
    let mut all = LabelledBatch::with_arrivals(features.len());
    for batch in TraceReader::open(path, features).expect("valid") {
        let mut batch = batch.expect("valid");
        let arrivals = batch.arrivals.as_ref().expect("valid");
        let keep: Vec<bool> = arrivals.switch_id.iter().map(|&id| id == switch).collect();
        batch.retain(&keep);
        all.append(batch);
    }
    all
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let wait = prop_oneof![8 => 0_u64..300, 1 => 0_u64..20_000];
    prop::collection::vec((wait, 0_u16..2, 0_u16..3, 1_u32..1_500), 1..400)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn pieces_give_the_rows_of_the_whole(
        steps in steps(),
        batch in 1_usize..99,
        size in 1_u64..60,
        remembers in any::<bool>(),
        pauses in prop::bool::weighted(0.3),
    ) {
        let folder = tempfile::tempdir().expect("valid");
        let path = |name: &str| folder.path().join(name);
        let memoryless = "queue_length,occupancy,longest_queue,rank,longest_gap,own:tag";
        let settings =
            settings(if remembers { "queue_length,occupancy,avg_occupancy,own:tag" } else { memoryless });
        let features = settings.features.names();
        let whole = path("whole.parquet");
        let all = given(&steps, batch, pauses);
        collect::<TraceFile>(all, specs(), &settings, 1 << 20, whole.clone(), &Silent).expect("valid");
        let pieces = cut_switches(given(&steps, batch, pauses), &specs(), &settings, size).expect("valid");
        let all: u64 = pieces.iter().map(|piece| piece.rows).sum();
        let arrivals = (0..steps.len()).filter(|&nth| kind(nth, pauses).is_arrival()).count();
        prop_assert_eq!(all, arrivals as u64);
        let label = |piece: &SwitchPiece, name: &str| {
            let events = PieceEvents::among(given(&steps, batch, pauses), piece, &settings);
            let labelled =
                collect::<EvenTrace>(events, specs(), &settings, 1 << 20, path(name), &Silent);
            labelled.expect("valid").trace
        };
        for switch in 0..2 {
            let own: Vec<&SwitchPiece> =
                pieces.iter().filter(|piece| piece.switch == switch).collect();
            let is_paused = |nth: usize, step: &Step| step.1 == switch && !kind(nth, pauses).is_arrival();
            let is_paused = steps.iter().enumerate().any(|(nth, step)| is_paused(nth, step));
            prop_assert!(own.len() <= 1 || !(remembers || is_paused));
            let Some(first) = own.first() else { continue };
            let labelled: Vec<_> = own
                .iter()
                .enumerate()
                .map(|(nth, piece)| label(piece, &format!("piece-{nth}.parquet")))
                .collect();
            let joined = path("joined.parquet");
            join_pieces(&labelled, joined.clone()).expect("valid");
            prop_assert_eq!(
                rows(&joined, &features, switch),
                rows(&whole, &features, switch)
            );
            let uncut = SwitchPiece { before_ns: None, ..**first };
            let alone = label(&uncut, "alone.parquet");
            prop_assert!(std::fs::read(&joined).expect("valid") == std::fs::read(alone).expect("valid"));
        }
    }
}

#[test]
fn busy_switches_are_cut_where_they_are_idle() {
    // Ten packets at once take 10 microseconds; then there is nothing for 10 more.
    let steps: Vec<Step> =
        (0..1_000).map(|nth| (if nth % 10 == 0 { 20_000 } else { 0 }, 0, 0, 1_000)).collect();
    let cut = |features: &str, rows| {
        cut_switches(given(&steps, 64, false), &specs(), &settings(features), rows)
            .expect("valid")
            .len()
    };
    assert_eq!(cut("queue_length", 1), 100);
    assert_eq!(cut("queue_length", 95), 10);
    assert_eq!(cut("queue_length,avg_queue_length", 1), 1, "averages remember");
}
