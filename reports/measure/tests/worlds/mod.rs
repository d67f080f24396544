//! Traces of which it is known what is best.

#![allow(dead_code, missing_docs, unreachable_pub, reason = "each test file uses its part of it")]

use dropcast_data::{Event, EventBatch, EventKind, SwitchSpec, SwitchSpecs};
use dropcast_features::FeatureSet;
use dropcast_measure::verdict::{AskedPolicies, Verdict, judge};
use dropcast_pipeline::collect::collect_in_memory;
use dropcast_pipeline::progress::Silent;
use dropcast_pipeline::resources::Resources;
use dropcast_pipeline::settings::TracerSettings;
use dropcast_pipeline::traces::LabelledTraces;

const BUFFER_BYTES: u32 = 40_000;
const RTT_NS: u64 = 1_000;

/// Draws by a seed (SplitMix64).
pub struct Draws(u64);

impl Draws {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % end
    }

    fn between(&mut self, first: u64, last: u64) -> u64 {
        first + self.below(last - first + 1)
    }
}

/// Packets of 1,000 bytes by time and port. A port sends one in a microsecond.
pub type Packets = Vec<(u64, u16)>;

/// A burst that fits the buffer, at once.
pub fn small_burst(draws: &mut Draws, at: u64, packets: &mut Packets) {
    let port = draws.below(8) as u16;
    let size = draws.between(24, 36);
    packets.extend((0..size).map(|nth| (at + nth * 20, port)));
}

/// A burst that nearly fills the buffer.
pub fn fitting_burst(draws: &mut Draws, at: u64, packets: &mut Packets) {
    let port = draws.below(8) as u16;
    packets.extend((0..39).map(|nth| (at + nth * 20, port)));
}

/// A burst that no buffer of this size takes.
pub fn large_burst(draws: &mut Draws, at: u64, packets: &mut Packets) {
    let port = draws.below(8) as u16;
    let size = draws.between(60, 90);
    packets.extend((0..size).map(|nth| (at + nth * 20, port)));
}

/// A port is overloaded for long, and others have small bursts meanwhile.
pub fn hog(draws: &mut Draws, at: u64, packets: &mut Packets) {
    let port = draws.below(8) as u16;
    packets.extend((0..200).map(|nth| (at + nth * 400, port)));
    for _ in 0..6 {
        let (other, begin) =
            ((port + draws.between(1, 7) as u16) % 8, at + draws.between(20_000, 70_000));
        let size = draws.between(8, 16);
        packets.extend((0..size).map(|nth| (begin + nth * 20, other)));
    }
}

/// Two ports have bursts that together do not fit.
pub fn pair(draws: &mut Draws, at: u64, packets: &mut Packets) {
    let port = draws.below(8) as u16;
    for nth in 0..2 {
        let (other, begin) = ((port + 3 * nth) % 8, at + draws.below(3_000));
        let size = draws.between(20, 36);
        packets.extend((0..size).map(|nth| (begin + nth * 20, other)));
    }
}

/// An episode of congestion that begins at a time.
pub type Episode = fn(&mut Draws, u64, &mut Packets);

pub fn trace(alpha: Option<f64>, seed: u64, episodes: &[Episode]) -> LabelledTraces {
    let mut draws = Draws(seed);
    let mut packets = Packets::new();
    let mut at = 0;
    for episode in episodes {
        at += draws.between(200, 400) * 1_000;
        // Some traffic that congests nothing.
        packets.extend((0..40).map(|nth| (at - 190_000 + nth * 2_000, draws.below(8) as u16)));
        episode(&mut draws, at, &mut packets);
    }
    packets.sort_unstable();
    let event = |(time_ns, port)| Event {
        time_ns,
        flow_hash: 0,
        size_bytes: 1_000,
        switch_id: 0,
        port,
        queue: 0,
        kind: EventKind::Arrival,
        flags: 0,
    };
    let spec = SwitchSpec {
        dt_alpha: alpha.into_iter().collect(),
        ..SwitchSpec::uniform(8, 8_000_000_000, BUFFER_BYTES, RTT_NS)
    };
    let events = vec![EventBatch::new(packets.into_iter().map(event).collect())];
    let settings = TracerSettings { features: FeatureSet::none(), ..TracerSettings::default() };
    let trace = collect_in_memory("generated", events, SwitchSpecs::Same(spec), &settings);
    LabelledTraces::new(vec![trace.expect("valid events")], &FeatureSet::none()).expect("a trace")
}

pub fn judged(traces: &LabelledTraces) -> Verdict {
    judge(traces, &AskedPolicies::default(), &Resources::default(), &Silent).expect("replayed")
}
