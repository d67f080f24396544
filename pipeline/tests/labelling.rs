//! Events are labelled alike into files, into folders and in memory, with every value of every setting.

use dropcast_data::{
    Departures, Label, LabelledBatch, OnBadRow, Pause, SwitchFile, SwitchSpec, SwitchSpecs,
    TraceMeta, TraceReader, Victim,
};
use dropcast_features::FeatureSet;
use dropcast_pipeline::PipelineError;
use dropcast_pipeline::collect::event_reading::CollectReading;
use dropcast_pipeline::collect::{CollectTask, Counts, EventData, Labelled as Found};
use dropcast_pipeline::progress::Silent;
use dropcast_pipeline::resources::Resources;
use dropcast_pipeline::settings::TracerSettings;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

/// How events are labelled, all settings.
struct Settings {
    tracer: TracerSettings,
    on_bad_row: OnBadRow,
    max_waiting_rows: usize,
}

/// Every value of every setting with every other.
fn all_settings() -> Vec<Settings> {
    // A new setting must get its values here.
    let TracerSettings { departures: _, victim: _, strict_fit: _, label: _, flows: _, features: _ } =
        TracerSettings::default();
    let mut all = Vec::new();
    // Labels of followers with what may depend on them.
    for number in (0..1 << 8).chain((1 << 8)..(1 << 8) + (1 << 5)) {
        let is = |bit: u32| number >> bit & 1 == 1;
        let features = if is(5) { "own:tag,occupancy,queue_length" } else { "rank,avg_occupancy" };
        all.push(Settings {
            tracer: TracerSettings {
                departures: if is(0) { Departures::Observed } else { Departures::LineRate },
                victim: if is(1) { Victim::Arrival } else { Victim::Tail },
                strict_fit: is(2),
                label: match number >> 8 {
                    0 if is(3) => Label::Opt,
                    0 => Label::Lqd,
                    _ => Label::Follows,
                },
                flows: is(4),
                features: features.parse().expect("known features"),
            },
            on_bad_row: if is(6) { OnBadRow::Fail } else { OnBadRow::Skip },
            max_waiting_rows: if is(7) { 2 } else { 1 << 20 },
        });
    }
    all
}

/// What came of labelling, switch by switch.
#[derive(Debug)]
struct Labelled {
    by_switch: BTreeMap<u16, (LabelledBatch, Vec<Pause>)>,
    /// Without the pauses.
    meta: TraceMeta,
    counts: Counts,
    skipped: BTreeMap<String, u64>,
}

impl Labelled {
    /// Adds a trace.
    fn add(&mut self, reader: impl Fn(&[String]) -> TraceReader) {
        let meta = reader(&[]).meta().clone();
        let mut all = LabelledBatch::with_arrivals(meta.features.len());
        reader(&meta.features).for_each(|batch| all.append(batch.expect("own output")));
        let switch_id = all.arrivals.as_ref().expect("they have").switch_id.clone();
        for id in [0, 1] {
            let is_its: Vec<bool> = switch_id.iter().map(|&of| of == id).collect();
            if !is_its.contains(&true) {
                continue;
            }
            let mut rows = all.clone();
            rows.retain(&is_its);
            let pauses = meta.pauses.iter().filter(|pause| pause.switch_id == id).copied();
            assert!(self.by_switch.insert(id, (rows, pauses.collect())).is_none());
        }
        self.meta = TraceMeta { pauses: Vec::new(), ..meta };
        // It says whether there are pauses.
        self.meta.pauses = Vec::new();
    }

    fn new(counts: Counts, skipped: BTreeMap<String, u64>) -> Self {
        let meta = TraceMeta::new("", SwitchSpecs::Same(spec()), Vec::new());
        Labelled { by_switch: BTreeMap::new(), meta, counts, skipped }
    }
}

fn spec() -> SwitchSpec {
    SwitchSpec::uniform(3, 8_000_000_000, 4_000, 1_000)
}

/// Arrivals at two switches, more than they can send. `has_all_kinds` adds departures, drops, ECN marks and pauses. One
/// row is bad.
fn log(has_all_kinds: bool) -> String {
    let mut text = "time_ns,switch_id,port,size_bytes,flow_hash,flags,tag".to_owned();
    text.push_str(if has_all_kinds { ",kind,drop_reason,ecn_mark\n" } else { "\n" });
    let mut state = 7_u64;
    let mut draw = |below: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 33) % below
    };
    for row in 0..400_u64 {
        let (switch, port, flow) = (draw(2), draw(3).min(draw(3)), draw(4));
        let size = if row == 77 { 0 } else { 500 + 250 * (flow % 2) };
        write!(text, "{},{switch},{port},{size},{flow},{},{row}", row * 120, draw(2))
            .expect("fits");
        if has_all_kinds {
            let (kind, reason) = match draw(20) {
                0..6 => ("departure", ""),
                6 => ("drop", "admission"),
                7 => ("drop", "push-out"),
                8 => ("pause", ""),
                9..11 => ("resume", ""),
                _ => ("arrival", ""),
            };
            write!(text, ",{kind},{reason},{}", draw(2)).expect("fits");
        }
        text.push('\n');
    }
    text
}

struct Room {
    folder: tempfile::TempDir,
    log: PathBuf,
}

impl Room {
    fn new(log: &str) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("events/run=1/log.csv");
        fs::create_dir_all(path.parent().expect("it has one")).expect("made");
        fs::write(&path, log).expect("written");
        Room { folder, log: path }
    }

    /// Labels the file of events, or the folder that it is in.
    fn collect(
        &self,
        settings: &Settings,
        is_folder: bool,
        output: Option<&Path>,
        threads: usize,
    ) -> Result<Found, PipelineError> {
        let specs = SwitchSpecs::Same(spec());
        let reading =
            CollectReading { on_bad_row: Some(settings.on_bad_row), ..CollectReading::default() };
        let task = CollectTask {
            reading,
            switch: Some(SwitchFile { specs, maps: Default::default() }),
            settings: settings.tracer.clone(),
            own_features: Vec::new(),
            max_waiting_rows: settings.max_waiting_rows,
        };
        let path = if is_folder { self.folder.path().join("events") } else { self.log.clone() };
        let resources = Resources { threads: NonZeroUsize::new(threads), ..Resources::default() };
        task.collect(EventData::Paths(vec![path]), output, &resources, &Silent)
    }

    fn file(&self, settings: &Settings) -> Result<Labelled, PipelineError> {
        let path = self.folder.path().join("trace.parquet");
        let found = self.collect(settings, false, Some(&path), 1)?;
        let Found::Trace { collected, rows: None } = found else { panic!("a file is asked for") };
        let mut labelled = Labelled::new(collected.counts, collected.skipped);
        labelled.add(|features| TraceReader::open(&collected.trace, features).expect("own output"));
        Ok(labelled)
    }

    fn memory(&self, settings: &Settings) -> Result<Labelled, PipelineError> {
        let found = self.collect(settings, false, None, 1)?;
        let Found::Trace { collected, rows: Some(frame) } = found else {
            panic!("no file is asked for")
        };
        let mut labelled = Labelled::new(collected.counts, collected.skipped);
        labelled.add(|features| TraceReader::of_frame(&frame, None, features).expect("own output"));
        Ok(labelled)
    }

    fn folder(&self, settings: &Settings, threads: usize) -> Result<Labelled, PipelineError> {
        let output = self.folder.path().join("traces");
        let _ = fs::remove_dir_all(&output);
        let found = self.collect(settings, true, Some(&output), threads)?;
        let Found::Folder(found) = found else { panic!("the events are a folder") };
        let mut labelled = Labelled::new(found.counts, found.skipped);
        for switch in [0, 1] {
            let path = output.join(format!("run=1/switch={switch}/part-0.parquet"));
            labelled.add(|features| TraceReader::open(&path, features).expect("own output"));
        }
        Ok(labelled)
    }
}

/// An error without the place that it names.
fn cause(error: PipelineError) -> String {
    match error {
        PipelineError::InFile { source, .. } => cause(*source),
        PipelineError::Unfit { problem, .. } => problem,
        other => other.to_string(),
    }
}

fn check_same(one: &Result<Labelled, String>, other: &Result<Labelled, String>, what: &str) {
    match (one, other) {
        (Ok(one), Ok(other)) => {
            assert_eq!(one.meta, other.meta, "{what}");
            assert_eq!((&one.counts, &one.skipped), (&other.counts, &other.skipped), "{what}");
            for (switch, (rows, pauses)) in &one.by_switch {
                let (others, other_pauses) = &other.by_switch[switch];
                assert_eq!(pauses, other_pauses, "{what}");
                assert_eq!(rows.arrivals, others.arrivals, "{what}");
                assert!(rows == others, "{what}");
            }
            assert_eq!(one.by_switch.len(), other.by_switch.len());
        }
        (Err(one), Err(other)) => assert_eq!(one, other, "{what}"),
        _ => panic!("{what}: only one was labelled"),
    }
}

#[test]
fn files_folders_and_memory_have_the_same_rows_with_every_setting() {
    let (mut labelled, mut refused) = (0, BTreeMap::<String, usize>::new());
    for has_all_kinds in [false, true] {
        let room = Room::new(&log(has_all_kinds));
        for (number, settings) in all_settings().iter().enumerate() {
            let Settings { tracer, on_bad_row, max_waiting_rows } = settings;
            let what = format!("{has_all_kinds} {tracer:?} {on_bad_row:?} {max_waiting_rows}");
            let file = room.file(settings).map_err(cause);
            let memory = room.memory(settings).map_err(cause);
            let folder = room.folder(settings, 1 + number % 3).map_err(cause);
            check_same(&file, &memory, &what);
            match (&file, &folder) {
                // A folder counts rows that wait switch by switch.
                (Err(file), Err(folder)) if file.contains("rows wait") => {
                    assert!(folder.contains("wait for the"), "{what}: {folder}");
                }
                _ => check_same(&file, &folder, &what),
            }
            match file {
                Ok(_) => labelled += 1,
                Err(why) => *refused.entry(why).or_default() += 1,
            }
        }
    }
    // 16 ways each to drain at line rate for each label, from both logs, and by departures for LQD and followers, from one.
    assert_eq!(labelled, 8 * 16, "{refused:#?}");
    for why in
        ["size_bytes is 0", "needs departures line-rate", "no departures of switch 0", "rows wait"]
    {
        assert!(refused.keys().any(|refused| refused.contains(why)), "{why}: {refused:#?}");
    }
}

/// A trace has each column once.
#[test]
fn a_feature_that_is_called_like_another_column_is_refused_everywhere() {
    let room = Room::new(&log(false));
    let features = "own:port".parse().expect("a name");
    let tracer = TracerSettings { features, ..TracerSettings::default() };
    let settings = Settings { tracer, on_bad_row: OnBadRow::Skip, max_waiting_rows: 1 << 20 };
    let found = [room.file(&settings), room.memory(&settings), room.folder(&settings, 2)];
    for error in found.map(|found| found.expect_err("refused").to_string()) {
        assert!(error.contains("would have two columns \"port\""), "{error}");
    }
}

/// Labels of the optimum are not LQD's.
#[test]
fn a_folder_has_the_labels_that_are_asked_for() {
    let room = Room::new(&log(false));
    let labelled = |label| {
        let features = FeatureSet::none();
        let tracer = TracerSettings { label, features, ..TracerSettings::default() };
        let (on_bad_row, max_waiting_rows) = (OnBadRow::Skip, 1 << 20);
        let settings = Settings { tracer, on_bad_row, max_waiting_rows };
        room.folder(&settings, 2).expect("labelled")
    };
    let (lqd, opt) = (labelled(Label::Lqd), labelled(Label::Opt));
    assert_eq!(opt.meta.collect.expect("known").label, Label::Opt);
    assert_eq!((opt.counts.pushed_out, opt.counts.rows), (0, lqd.counts.rows));
    assert!(0 < opt.counts.drops && opt.counts.drops < lqd.counts.drops, "{opt:?}");
}
