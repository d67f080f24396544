//! The events of virtual LQD's queues, and the features that the tracer computes from the same
//! input: the reference for exported code that keeps the features.

use dropcast_collect::{CollectError, Tracer, trace};
use dropcast_data::{
    CollectSettings, Departures, Event, EventBatch, EventKind, EventOptions, EventReader, Label,
    SwitchSpec, SwitchSpecs, Victim, read_switches,
};
use dropcast_features::FeatureSet;
use dropcast_switch::{
    Buffer, Fit, LineRate, Lqd, Observed, Observer, Packet, Removal, Switch, TimeModel,
};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::path::Path;

/// Events of one switch.
pub(crate) struct Input {
    pub(crate) spec: SwitchSpec,
    pub(crate) settings: CollectSettings,
    pub(crate) events: Vec<Event>,
}

/// An input of code that keeps features.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RecordKind {
    /// A packet arrives; observe its features.
    Observe,
    /// It is accepted.
    Add,
    /// A packet departs or is pushed out.
    Remove,
    /// It was accepted or rejected.
    Arrived,
}

/// An event with its queue, bytes and time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Record {
    pub(crate) kind: RecordKind,
    /// Queues that share the buffer come before those that do not.
    pub(crate) queue: u32,
    pub(crate) size_bytes: u32,
    pub(crate) time_ns: u64,
}

/// A log and the expected features.
pub(crate) struct EventLog {
    pub(crate) records: Vec<Record>,
    /// All features, for each record that observes.
    pub(crate) expected: Vec<Vec<u32>>,
    pub(crate) queues: u32,
    /// Number of queues that share the buffer; they come first.
    pub(crate) shared: u32,
    pub(crate) base_rtt_ns: u64,
    /// Bytes that each queue's port sends in two base RTTs.
    pub(crate) drain_bytes: Vec<u64>,
}

impl EventLog {
    pub(crate) fn new(input: &Input) -> Self {
        let spec = &input.spec;
        let places = places(spec);
        let mut watch = Watch { places: &places.0, records: Vec::new() };
        let fit = if input.settings.strict_fit { Fit::Strict } else { Fit::Exact };
        let lqd = Lqd::new(input.settings.victim);
        match input.settings.departures {
            Departures::LineRate => {
                let switch = Switch::new(spec, fit, lqd, LineRate::new(spec));
                run(switch, input, &mut watch, |_, _| {});
            }
            Departures::Observed => {
                let switch = Switch::new(spec, fit, lqd, Observed::new(spec.queues()));
                run(switch, input, &mut watch, |service, event| {
                    let queue = spec.queue_index(event.port, event.queue);
                    service.departed(queue, event.size_bytes, event.time_ns);
                });
            }
        }
        EventLog {
            records: watch.records,
            expected: expected(input),
            queues: spec.queues() as u32,
            shared: places.1,
            base_rtt_ns: spec.base_rtt_ns,
            drain_bytes: drains(spec, &places.0),
        }
    }

    /// Five `u32` for each record, little-endian: 0 observe, 1 add, 2 remove, 3 arrived; queue; bytes; low
    /// and high half of the time.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        self.records.iter().flat_map(words).flat_map(u32::to_le_bytes).collect()
    }

    /// The records; those that observe are repeated once per feature, with the feature's number.
    pub(crate) fn records_asking_for_each(&self, features: u32) -> Vec<(Record, u32)> {
        let times = |record: &Record| match record.kind {
            RecordKind::Observe => features,
            _ => 1,
        };
        let each = |record: &Record| (0..times(record)).map(|feature| (*record, feature)).collect();
        self.records.iter().flat_map(|record| -> Vec<_> { each(record) }).collect()
    }

    /// These as six `u32` each, the feature's number last.
    pub(crate) fn bytes_asking_for_each(&self, features: u32) -> Vec<u8> {
        let records = self.records_asking_for_each(features);
        let six = records.iter().flat_map(|(record, feature)| {
            words(record).into_iter().chain([*feature]).collect::<Vec<u32>>()
        });
        six.flat_map(u32::to_le_bytes).collect()
    }
}

fn words(record: &Record) -> [u32; 5] {
    let (low, high) = (record.time_ns as u32, (record.time_ns >> 32) as u32);
    [record.kind as u32, record.queue, record.size_bytes, low, high]
}

/// Each queue's index in a log, and how many of them share the buffer.
fn places(spec: &SwitchSpec) -> (Vec<u32>, u32) {
    let shares = |queue: &usize| spec.shared[queue % usize::from(spec.queues_per_port)];
    let mut order: Vec<usize> = (0..spec.queues()).collect();
    order.sort_by_key(|queue| !shares(queue));
    let mut places = vec![0; order.len()];
    for (place, &queue) in order.iter().enumerate() {
        places[queue] = place as u32;
    }
    (places, order.iter().filter(|queue| shares(queue)).count() as u32)
}

fn drains(spec: &SwitchSpec, places: &[u32]) -> Vec<u64> {
    let mut drains = vec![0; places.len()];
    for (queue, &place) in places.iter().enumerate() {
        let rate_bps = spec.line_rate_bps[queue / usize::from(spec.queues_per_port)];
        let bytes = u128::from(rate_bps) * u128::from(2 * spec.base_rtt_ns) / 8_000_000_000;
        drains[place as usize] = u64::try_from(bytes).unwrap_or(u64::MAX);
    }
    drains
}

struct Watch<'a> {
    places: &'a [u32],
    records: Vec<Record>,
}

impl Watch<'_> {
    fn add(&mut self, kind: RecordKind, queue: usize, size_bytes: u32, time_ns: u64) {
        let queue = self.places[queue];
        self.records.push(Record { kind, queue, size_bytes, time_ns });
    }
}

impl Observer for Watch<'_> {
    fn removed(&mut self, removal: &Removal, _: &Buffer) {
        self.add(RecordKind::Remove, removal.queue, removal.packet.size_bytes, removal.time);
    }
}

fn run<S: TimeModel>(
    mut switch: Switch<Lqd, S>,
    input: &Input,
    watch: &mut Watch<'_>,
    departed: impl Fn(&mut S, &Event),
) {
    for event in &input.events {
        let now = event.time_ns;
        let queue = input.spec.queue_index(event.port, event.queue);
        if event.kind == EventKind::Departure {
            departed(switch.service_mut(), event);
        }
        switch.advance(now, watch);
        if event.kind == EventKind::Arrival {
            watch.add(RecordKind::Observe, queue, event.size_bytes, now);
            let packet = Packet::new(0, queue, event.size_bytes);
            if switch.admit(&packet, now, watch) {
                watch.add(RecordKind::Add, queue, event.size_bytes, now);
            }
            watch.add(RecordKind::Arrived, queue, event.size_bytes, now);
        }
    }
}

/// The tracer's features of each arrival.
fn expected(input: &Input) -> Vec<Vec<u32>> {
    let specs = SwitchSpecs::Same(input.spec.clone());
    let tracer = Tracer::new(specs, input.settings, FeatureSet::all());
    let events = [Ok::<_, CollectError>(EventBatch::new(input.events.clone()))];
    let mut rows = Vec::new();
    for batch in trace(tracer, events) {
        let batch = batch.expect("valid events");
        rows.extend((0..batch.len()).map(|row| batch.features.iter().map(|f| f[row]).collect()));
    }
    rows
}

/// The shipped sample.
pub(crate) fn sample() -> Input {
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/samples");
    let specs = read_switches(&samples.join("leaf.toml")).expect("shipped");
    let options = EventOptions { specs: Some(specs.clone()), ..EventOptions::default() };
    let reader = EventReader::open(&samples.join("leaf-events.parquet"), options).expect("shipped");
    let events: Vec<Event> = reader.flat_map(|batch| batch.expect("sound").events).collect();
    let spec = specs.get(events[0].switch_id).expect("described").clone();
    Input { spec, settings: CollectSettings::default(), events }
}

/// Random traffic with bursts that overflow the buffer; one of three kinds of switch.
pub(crate) fn generated(seed: u64) -> Input {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    // Times, sizes and time constants of all magnitudes: tiny ones make averages meet integers.
    let (ports, scale, base_rtt_ns) = match seed % 3 {
        0 => (3, 1, 7),
        1 => (6, 100, 32_000),
        _ => (4, 2_000_000, 3_000_000_001),
    };
    let uniform = SwitchSpec::uniform(ports, 10_000_000_000, 60 * scale, base_rtt_ns);
    let spec = SwitchSpec {
        queues_per_port: 3,
        pushable: vec![false, true, true],
        shared: vec![true, false, true],
        ..uniform
    };
    let settings = CollectSettings {
        departures: if seed.is_multiple_of(2) {
            Departures::LineRate
        } else {
            Departures::Observed
        },
        victim: if seed.is_multiple_of(4) { Victim::Arrival } else { Victim::Tail },
        strict_fit: seed.is_multiple_of(5),
        label: Label::Lqd,
    };
    let mut time_ns = 0;
    let events = (0..20_000).map(|_| {
        time_ns += random.random_range(0..2 * u64::from(scale));
        let size_bytes = random.random_range(1..=8 * scale);
        Event {
            time_ns,
            flow_hash: 0,
            size_bytes,
            switch_id: 0,
            port: random.random_range(0..ports).min(random.random_range(0..ports)),
            queue: random.random_range(0..3),
            kind: if random.random_ratio(1, 3) { EventKind::Departure } else { EventKind::Arrival },
            flags: 0,
        }
    });
    let events = events.collect();
    Input { spec, settings, events }
}
