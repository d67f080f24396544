//! The worst episodes of congestion, at fine resolution.

use super::congestion::GAP_RTTS;
use super::drop_counts::Counted;
use super::timeline::{Bin, Timeline, TimelineSection};
use crate::wall_clock::known_utc;
use dropcast_data::SwitchSpec;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, VecDeque};

/// Episodes of a verdict, at most.
const MOST_EPISODES: usize = 8;
/// The finest bins are this share of a base round-trip time.
const BINS_PER_RTT: u64 = 8;

/// One of the worst episodes: drops of LQD or the real switch at one switch, each at most 10 base
/// round-trip times after the one before.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EpisodeSection {
    /// Number of the trace, from 0.
    pub trace: usize,
    /// Number of the switch.
    pub switch_id: u16,
    /// Arrival of the first dropped packet, nanoseconds.
    #[serde(with = "crate::exact_times")]
    pub first_ns: u64,
    /// Arrival of the last, nanoseconds.
    #[serde(with = "crate::exact_times")]
    pub last_ns: u64,
    /// The first time in UTC (RFC 3339); null where times are not since 1970.
    #[serde(default)]
    pub first_utc: Option<String>,
    /// The last.
    #[serde(default)]
    pub last_utc: Option<String>,
    /// Packets that LQD or the real switch drops.
    pub drops: u64,
    /// Occupancy and drops at this switch, from up to 10 base round-trip times before the first drop to
    /// as long after the last.
    pub timeline: TimelineSection,
}

/// Watches every switch of a trace.
#[derive(Default)]
pub(super) struct Episodes {
    switches: BTreeMap<(usize, u16), Watched>,
    worst: Vec<EpisodeSection>,
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
            gap_ns: GAP_RTTS * spec.base_rtt_ns,
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

    /// The worst episodes, those with the most drops first.
    pub(super) fn finish(mut self) -> Vec<EpisodeSection> {
        self.end_trace();
        self.worst
    }

    fn keep(&mut self, (trace, switch_id): (usize, u16), ended: Option<Open>) {
        let Some(Open { first_ns, last_ns, drops, timeline }) = ended else { return };
        let at = self.worst.partition_point(|worse| worse.drops >= drops);
        if at < MOST_EPISODES {
            let timeline = timeline.section();
            let (first_utc, last_utc) = (known_utc(first_ns), known_utc(last_ns));
            let episode = EpisodeSection {
                trace,
                switch_id,
                first_ns,
                last_ns,
                first_utc,
                last_utc,
                drops,
                timeline,
            };
            self.worst.insert(at, episode);
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
        let oldest = number.saturating_sub(GAP_RTTS * BINS_PER_RTT);
        while self.recent.front().is_some_and(|(first, _)| *first < oldest) {
            self.recent.pop_front();
        }
        let is_drop = packet.by_lqd || packet.by_real.is_some_and(|reason| reason.is_some());
        match &mut self.open {
            Some(open) => {
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
                self.open = Some(Open { first_ns: time_ns, last_ns: time_ns, drops: 1, timeline });
            }
            None => {}
        }
    }
}
