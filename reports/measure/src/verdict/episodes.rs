//! The worst episodes of congestion, at fine resolution.

use super::drop_counts::{Counted, DropCounts, Tally};
use super::timeline::{Bin, Timeline, TimelineSection};
use dropcast_data::SwitchSpec;
use dropcast_pipeline::traces::EPISODE_GAP_RTTS;
use dropcast_pipeline::wall_clock::known_utc;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, VecDeque};

/// Episodes of a verdict, at most.
const MOST_EPISODES: usize = 8;
/// The finest bins are this share of a base round-trip time.
const BINS_PER_RTT: u64 = 8;

/// One of the worst episodes: drops of LQD, the real switch or its own policy at one switch, each at most 10 base
/// round-trip times after the one before.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EpisodeSection {
    /// Number of the trace, from 0.
    pub trace: usize,
    /// Number of the switch.
    pub switch_id: u16,
    /// Arrival of the first dropped packet, nanoseconds.
    #[serde(with = "dropcast_pipeline::exact_times")]
    pub first_ns: u64,
    /// Arrival of the last, nanoseconds.
    #[serde(with = "dropcast_pipeline::exact_times")]
    pub last_ns: u64,
    /// The first time in UTC (RFC 3339); null where times are not since 1970.
    #[serde(default)]
    pub first_utc: Option<String>,
    /// The last.
    #[serde(default)]
    pub last_utc: Option<String>,
    /// Packets that LQD, the real switch or its own policy drops.
    pub drops: u64,
    /// Arrivals at this switch from the first drop to 10 base round-trip times after the last.
    pub counts: DropCounts,
    /// Occupancy and drops at this switch, from up to 10 base round-trip times before the first drop to
    /// as long after the last.
    pub timeline: TimelineSection,
}

/// Watches every switch of a trace.
#[derive(Default)]
pub(super) struct Episodes {
    switches: BTreeMap<(usize, u16), Watched>,
    worst: Vec<((usize, u16), Open)>,
}

struct Watched {
    fine_ns: u64,
    gap_ns: u64,
    /// The last fine bins with arrivals, by number.
    recent: VecDeque<(u64, Bin)>,
    open: Option<Open>,
}

struct Open {
    first_ns: u64,
    last_ns: u64,
    drops: u64,
    tally: Tally,
    timeline: Timeline,
}

impl Episodes {
    pub(super) fn add(
        &mut self,
        (trace, switch_id): (usize, u16),
        spec: &SwitchSpec,
        time_ns: u64,
        packet: &Counted,
        permille: u32,
    ) {
        let watched = self.switches.entry((trace, switch_id)).or_insert_with(|| Watched {
            fine_ns: (spec.base_rtt_ns / BINS_PER_RTT).max(1),
            gap_ns: EPISODE_GAP_RTTS * spec.base_rtt_ns,
            recent: VecDeque::new(),
            open: None,
        });
        let ended = watched.end_before(time_ns);
        watched.add(time_ns, packet, permille);
        self.keep((trace, switch_id), ended);
    }

    /// A trace has no more rows.
    pub(super) fn end_trace(&mut self) {
        for (place, watched) in std::mem::take(&mut self.switches) {
            self.keep(place, watched.open);
        }
    }

    /// The worst episodes, those with the most drops first, with the counts of the best alpha, by its number.
    pub(super) fn finish(mut self, best_alpha: Option<usize>) -> Vec<EpisodeSection> {
        self.end_trace();
        let section = |((trace, switch_id), open): ((usize, u16), Open)| EpisodeSection {
            trace,
            switch_id,
            first_ns: open.first_ns,
            last_ns: open.last_ns,
            first_utc: known_utc(open.first_ns),
            last_utc: known_utc(open.last_ns),
            drops: open.drops,
            counts: open.tally.counts(best_alpha),
            timeline: open.timeline.section(best_alpha),
        };
        self.worst.into_iter().map(section).collect()
    }

    fn keep(&mut self, place: (usize, u16), ended: Option<Open>) {
        let Some(ended) = ended else { return };
        let at = self.worst.partition_point(|(_, worse)| worse.drops >= ended.drops);
        if at < MOST_EPISODES {
            self.worst.insert(at, (place, ended));
            self.worst.truncate(MOST_EPISODES);
        }
    }
}

impl Watched {
    /// The open episode, if it has ended before now.
    fn end_before(&mut self, now_ns: u64) -> Option<Open> {
        self.open.take_if(|open| now_ns.saturating_sub(open.last_ns) > self.gap_ns)
    }

    fn add(&mut self, time_ns: u64, packet: &Counted, permille: u32) {
        let number = time_ns / self.fine_ns;
        match self.recent.back_mut() {
            Some((last, bin)) if *last == number => bin.add(packet, permille),
            _ => {
                let mut bin = Bin::default();
                bin.add(packet, permille);
                self.recent.push_back((number, bin));
            }
        }
        let oldest = number.saturating_sub(EPISODE_GAP_RTTS * BINS_PER_RTT);
        while self.recent.front().is_some_and(|(first, _)| *first < oldest) {
            self.recent.pop_front();
        }
        let is_drop = packet.is_dropped();
        match &mut self.open {
            Some(open) => {
                open.tally.add(packet);
                open.timeline.at(time_ns).add(packet, permille);
                if is_drop {
                    open.last_ns = time_ns;
                    open.drops += 1;
                }
            }
            None if is_drop => {
                let first = self.recent.front().map_or(number, |(first, _)| *first);
                let mut timeline = Timeline::new(first * self.fine_ns, self.fine_ns);
                for (number, bin) in &self.recent {
                    timeline.merge_at(number * self.fine_ns, bin);
                }
                let mut tally = Tally::default();
                tally.add(packet);
                let (first_ns, last_ns) = (time_ns, time_ns);
                self.open = Some(Open { first_ns, last_ns, drops: 1, tally, timeline });
            }
            None => {}
        }
    }
}
