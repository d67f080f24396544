//! How full LQD's buffer is, and when it drops.

use dropcast_data::{Pause, PauseSchedule, SwitchSpecs};
use dropcast_features::FeatureSet;
use dropcast_pipeline::traces::EPISODE_GAP_RTTS;
use dropcast_replay::{Arrival, ReplayOptions};
use dropcast_switch::{LineRate, Packet, VirtualLqd};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Steps of the occupancy, per mille of a buffer.
const STEPS: u32 = 1_000;

/// Occupancy of LQD's buffers when packets arrive, as shares of each buffer.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct OccupancySection {
    /// Median.
    pub p50: f64,
    /// 90th percentile.
    pub p90: f64,
    /// 99th percentile.
    pub p99: f64,
    /// Highest.
    pub peak: f64,
}

/// Episodes of congestion: drops of LQD at one switch, at most 10 base round-trip times apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CongestionSection {
    /// Number of episodes.
    pub episodes: u64,
    /// Most packets dropped in one.
    pub most_drops: u64,
    /// The longest, nanoseconds from first to last dropped arrival.
    pub longest_ns: u64,
}

/// Watches LQD beside the arrivals.
#[derive(Default)]
pub(super) struct Congestion {
    pauses: Vec<Pause>,
    switches: BTreeMap<u16, Watched>,
    occupancy: BTreeMap<u32, u64>,
    section: CongestionSection,
}

/// What an arrival meets, per mille of the buffer, rounded down.
#[derive(Clone, Copy, Default)]
pub(super) struct Met {
    pub(super) occupancy_permille: u32,
    /// Its `level_occupancy`.
    pub(super) level_permille: u32,
    /// Its `level_in_quarter_rtt`.
    pub(super) ahead_permille: u32,
}

struct Watched {
    lqd: VirtualLqd<LineRate>,
    packets: u64,
    buffer_bytes: u64,
    gap_ns: u64,
    episode: Option<Episode>,
}

#[derive(Clone, Copy)]
struct Episode {
    first_ns: u64,
    last_ns: u64,
    drops: u64,
}

impl Congestion {
    /// Another trace begins, with empty buffers and these pauses.
    pub(super) fn begin(&mut self, pauses: &[Pause]) {
        pauses.clone_into(&mut self.pauses);
        for watched in std::mem::take(&mut self.switches).into_values() {
            self.section.end(watched.episode);
        }
    }

    /// A packet arrives at a switch that can take it. Returns what it meets. Only what counts is
    /// summed up.
    pub(super) fn arrive(
        &mut self,
        arrival: &Arrival,
        specs: &SwitchSpecs,
        options: &ReplayOptions,
    ) -> Met {
        let Some(spec) = specs.get(arrival.switch_id) else { return Met::default() };
        let drain = || {
            let schedule = PauseSchedule::new(&self.pauses, arrival.switch_id, spec);
            LineRate::new(spec).pausing(schedule)
        };
        let watched = self.switches.entry(arrival.switch_id).or_insert_with(|| Watched {
            lqd: VirtualLqd::new(spec, options.victim, options.fit, drain(), levels()),
            packets: 0,
            buffer_bytes: u64::from(spec.buffer_bytes).max(1),
            gap_ns: EPISODE_GAP_RTTS * spec.base_rtt_ns,
            episode: None,
        });
        let permille = |bytes: u64| {
            u32::try_from(bytes * u64::from(STEPS) / watched.buffer_bytes).unwrap_or(u32::MAX)
        };
        watched.lqd.advance(arrival.time_ns, |_, _| {});
        let queue = spec.queue_index(arrival.port, arrival.queue);
        let mut level_bytes = [0; 2];
        let packet = Packet::new(watched.packets, queue, arrival.size_bytes);
        watched.lqd.observe(&packet, arrival.time_ns, &mut level_bytes);
        let held = watched.lqd.buffer().shared_lengths().iter().map(|&bytes| u64::from(bytes));
        let occupancy_permille = permille(held.sum()).min(STEPS);
        let [level_permille, ahead_permille] = level_bytes.map(|bytes| permille(u64::from(bytes)));
        watched.lqd.admit(
            &Packet::new(watched.packets, queue, arrival.size_bytes),
            arrival.time_ns,
            |_, _| {},
        );
        watched.packets += 1;
        if arrival.counted {
            *self.occupancy.entry(occupancy_permille).or_default() += 1;
        }
        if arrival.dropped && arrival.counted {
            let ended = watched.drop_at(arrival.time_ns);
            self.section.end(ended);
        }
        Met { occupancy_permille, level_permille, ahead_permille }
    }

    pub(super) fn finish(mut self) -> (Option<OccupancySection>, CongestionSection) {
        self.begin(&[]);
        let all: u64 = self.occupancy.values().sum();
        let at = |share: f64| {
            let mut below = 0;
            let mut steps = self.occupancy.iter();
            let step = steps.find(|&(_, &count)| {
                below += count;
                below as f64 >= share * all as f64
            });
            step.map(|(&step, _)| f64::from(step) / f64::from(STEPS))
        };
        let section = || {
            Some(OccupancySection { p50: at(0.5)?, p90: at(0.9)?, p99: at(0.99)?, peak: at(1.0)? })
        };
        (section(), self.section)
    }
}

impl Watched {
    /// LQD drops a packet that arrived now; the episode that this ends, if it does.
    fn drop_at(&mut self, now_ns: u64) -> Option<Episode> {
        match &mut self.episode {
            Some(episode) if now_ns - episode.last_ns <= self.gap_ns => {
                episode.last_ns = now_ns;
                episode.drops += 1;
                None
            }
            episode => episode.replace(Episode { first_ns: now_ns, last_ns: now_ns, drops: 1 }),
        }
    }
}

impl CongestionSection {
    fn end(&mut self, episode: Option<Episode>) {
        let Some(Episode { first_ns, last_ns, drops }) = episode else { return };
        self.episodes += 1;
        self.most_drops = self.most_drops.max(drops);
        self.longest_ns = self.longest_ns.max(last_ns - first_ns);
    }
}

fn levels() -> FeatureSet {
    "level_occupancy,level_in_quarter_rtt".parse().expect("known features")
}
