//! What captures that are merged show of each other: packets that are there twice, and clocks that differ.

use super::clocks::{Ahead, CaptureInterface, wrong_clocks};
use crate::CaptureFacts;
use crate::capture::{Sight, TcpSight};
use std::collections::{BTreeMap, BTreeSet};

/// Copies of a packet come within this time.
const COPY_WITHIN_NS: u64 = 1_000_000;
/// Clocks that differ by more than this are not looked for.
const MOST_SKEW_NS: u64 = 1_000_000_000;
/// Packets and flows that are remembered, a power of two. Others take their places, so that some copies are not found.
const REMEMBERED: usize = 1 << 16;
/// Pairs of clocks of which it is remembered that they differ.
const MOST_PAIRS: usize = 1 << 16;
/// An acknowledgement further ahead of the data that was seen is of something else.
const MOST_AHEAD: u32 = 1 << 24;

/// Watches the packets of captures in order of time.
#[derive(Default)]
pub(super) struct Sightings {
    seen: Vec<Seen>,
    flows: Vec<Flow>,
    early: u64,
    most_early_ns: u64,
    ahead: Ahead,
    files: BTreeMap<usize, OfFile>,
    last_ns: u64,
    /// Where the last packet was captured, and where others were before, until captures are known to take turns.
    last: Option<CaptureInterface>,
    left: BTreeSet<CaptureInterface>,
    take_turns: bool,
}

/// What packets of a file show.
#[derive(Clone, Copy, Default)]
struct OfFile {
    /// Acknowledgements of data that was captured elsewhere, and of its data elsewhere.
    compared: u64,
    own_copies: u64,
    other_copies: u64,
    last_ns: u64,
}

/// A packet that was seen.
#[derive(Clone, Copy, Default)]
struct Seen {
    identity: u64,
    time_ns: u64,
    file: usize,
}

/// Data of a flow of TCP, and an acknowledgement of data that was not seen yet.
#[derive(Clone, Copy, Default)]
struct Flow {
    /// 0 if none is remembered here.
    flow: u64,
    /// The byte after the last that was seen.
    next: u32,
    /// Where it was captured.
    place: CaptureInterface,
    early: Option<EarlyAck>,
}

#[derive(Clone, Copy)]
struct EarlyAck {
    acknowledged: u32,
    time_ns: u64,
    place: CaptureInterface,
}

impl Sightings {
    /// The next packet.
    pub(super) fn add(&mut self, time_ns: u64, place: CaptureInterface, sight: &Sight) {
        let of_file = self.files.entry(place.0).or_default();
        of_file.last_ns = of_file.last_ns.max(time_ns);
        self.last_ns = self.last_ns.max(time_ns);
        if sight.identity != 0 {
            self.seen.resize(REMEMBERED, Seen::default());
            let seen = &mut self.seen[slot(sight.identity)];
            if seen.identity == sight.identity
                && time_ns.saturating_sub(seen.time_ns) <= COPY_WITHIN_NS
            {
                let is_own = seen.file == place.0;
                of_file.own_copies += u64::from(is_own);
                of_file.other_copies += u64::from(!is_own);
            }
            *seen = Seen { identity: sight.identity, time_ns, file: place.0 };
        }
        if !self.take_turns && self.last != Some(place) {
            self.left.extend(self.last);
            self.take_turns = self.left.contains(&place);
            self.last = Some(place);
        }
        if let Some(tcp) = &sight.tcp {
            self.flows.resize(REMEMBERED, Flow::default());
            self.add_data(time_ns, place, tcp);
            self.add_acknowledgement(time_ns, place, tcp);
        }
    }

    /// How many packets are copies of one shortly before.
    pub(super) fn copies(&self) -> u64 {
        self.files.values().map(|file| file.own_copies + file.other_copies).sum()
    }

    /// How many acknowledgements come before their data, and how long at most, nanoseconds; none if none does.
    pub(super) fn early_acknowledgements(&self) -> Option<(u64, u64)> {
        (self.early > 0).then_some((self.early, self.most_early_ns))
    }

    /// Whether packets of several places mix in time, and no acknowledgement shows whether their clocks agree.
    pub(super) fn clocks_are_unknown(&self) -> bool {
        self.take_turns && self.files.values().all(|file| file.compared == 0)
    }

    /// What each file with packets shows.
    pub(super) fn facts(&self) -> BTreeMap<usize, CaptureFacts> {
        let mut facts: BTreeMap<usize, CaptureFacts> = BTreeMap::new();
        for (&file, of) in &self.files {
            let shown = CaptureFacts {
                clock_compared: of.compared,
                own_copies: of.own_copies,
                other_copies: of.other_copies,
                ends_early_ns: self.last_ns - of.last_ns,
                ..CaptureFacts::default()
            };
            facts.insert(file, shown);
        }
        for ((file, _), ns) in wrong_clocks(&self.ahead) {
            let shown = facts.entry(file).or_default();
            if ns.unsigned_abs() > shown.clock_ahead_ns.unsigned_abs() {
                shown.clock_ahead_ns = ns;
            }
        }
        facts
    }

    /// Whether packets of several places mix in time.
    pub(super) fn mixes(&self) -> bool {
        self.take_turns
    }

    /// An acknowledgement at one place of data at another.
    fn compare(&mut self, one: CaptureInterface, other: CaptureInterface) {
        for file in BTreeSet::from([one.0, other.0]) {
            self.files.entry(file).or_default().compared += 1;
        }
    }

    fn add_data(&mut self, time_ns: u64, place: CaptureInterface, tcp: &TcpSight) {
        let (first, next) = tcp.sequence;
        if first == next {
            return;
        }
        let known = &mut self.flows[slot(tcp.flows.0)];
        if known.flow != tcp.flows.0 {
            *known = Flow { flow: tcp.flows.0, next, place, early: None };
            return;
        }
        if is_after(next, known.next) {
            (known.next, known.place) = (next, place);
        }
        let Some(early) = known.early else { return };
        // The byte that was acknowledged last is among these.
        let acknowledges =
            is_after(early.acknowledged, first) && !is_after(early.acknowledged, next);
        let ahead_ns = time_ns.saturating_sub(early.time_ns);
        if acknowledges && early.place != place && ahead_ns <= MOST_SKEW_NS {
            self.early += 1;
            self.most_early_ns = self.most_early_ns.max(ahead_ns);
            let pair = (place, early.place);
            if self.ahead.len() < MOST_PAIRS || self.ahead.contains_key(&pair) {
                let most = self.ahead.entry(pair).or_default();
                *most = ahead_ns.max(*most);
            }
        }
        if acknowledges || ahead_ns > MOST_SKEW_NS {
            known.early = None;
        }
        if acknowledges && early.place != place && ahead_ns <= MOST_SKEW_NS {
            self.compare(early.place, place);
        }
    }

    fn add_acknowledgement(&mut self, time_ns: u64, place: CaptureInterface, tcp: &TcpSight) {
        let Some(acknowledged) = tcp.acknowledged else { return };
        let known = &mut self.flows[slot(tcp.flows.1)];
        let data_place = (known.flow == tcp.flows.1).then_some(known.place);
        let is_ahead = known.flow == tcp.flows.1
            && is_after(acknowledged, known.next)
            && acknowledged.wrapping_sub(known.next) < MOST_AHEAD;
        if is_ahead && known.early.is_none() {
            known.early = Some(EarlyAck { acknowledged, time_ns, place });
        }
        if let Some(data_place) = data_place.filter(|&data_place| data_place != place) {
            self.compare(data_place, place);
        }
    }
}

fn slot(hash: u64) -> usize {
    (hash % REMEMBERED as u64) as usize
}

/// Whether a sequence number comes after another; they begin anew after 2^32.
pub(super) fn is_after(one: u32, other: u32) -> bool {
    one != other && one.wrapping_sub(other) < 1 << 31
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn data(first: u32, next: u32) -> Sight {
        let tcp = TcpSight { flows: (7, 8), sequence: (first, next), acknowledged: None };
        Sight { tcp: Some(tcp), ..Sight::default() }
    }

    fn ack(acknowledged: u32) -> Sight {
        let tcp = TcpSight { flows: (8, 7), sequence: (5, 5), acknowledged: Some(acknowledged) };
        Sight { tcp: Some(tcp), ..Sight::default() }
    }

    fn early(packets: &[(u64, usize, Sight)]) -> Option<(u64, u64)> {
        let mut sightings = Sightings::default();
        packets
            .iter()
            .for_each(|(time_ns, file, sight)| sightings.add(*time_ns, (*file, 0), sight));
        sightings.early_acknowledgements()
    }

    #[test]
    fn clocks_are_unknown_where_captures_mix_and_none_acknowledges_the_others_data() {
        let unknown = |packets: &[(u64, usize, Sight)]| {
            let mut sightings = Sightings::default();
            packets
                .iter()
                .for_each(|(time_ns, file, sight)| sightings.add(*time_ns, (*file, 0), sight));
            sightings.clocks_are_unknown()
        };
        let [one, two, three] = [data(0, 100), data(100, 200), data(200, 300)];
        // Files of one port, one after the other.
        assert!(!unknown(&[(0, 0, one), (5, 1, two), (9, 2, three)]));
        // One way only.
        assert!(unknown(&[(0, 0, one), (5, 1, Sight::default()), (9, 0, two)]));
        assert!(!unknown(&[(0, 0, one), (5, 1, ack(100)), (9, 0, two)]));
        assert!(!unknown(&[(0, 0, one), (5, 1, ack(200)), (9, 0, two)]));
    }

    #[test]
    fn data_after_its_acknowledgement_shows_that_clocks_differ() {
        let begin = u32::MAX - 50;
        let second = begin.wrapping_add(100);
        let third = begin.wrapping_add(200);
        let first = (0, 0, data(begin, second));
        assert_eq!(early(&[first, (10, 0, data(second, third)), (20, 1, ack(third))]), None);
        assert_eq!(
            early(&[first, (10, 1, ack(third)), (30, 0, data(second, third))]),
            Some((1, 20))
        );
        // A packet that was lost by the capture: what follows it was not acknowledged.
        let later = third.wrapping_add(100);
        assert_eq!(early(&[first, (10, 1, ack(third)), (30, 0, data(third, later))]), None);
        // One clock: its packets are in order.
        assert_eq!(early(&[first, (10, 0, ack(third)), (30, 0, data(second, third))]), None);
    }

    proptest! {
        /// Every copy is found, as long as few packets are about, and nothing else.
        #[test]
        fn copies_are_those_of_a_search(packets in prop::collection::vec((0u64..20, 0u64..600_000), 0..200)) {
            let (mut sightings, mut all, mut time_ns, mut expected) = (Sightings::default(), Vec::new(), 0, 0);
            for (identity, gap_ns) in packets {
                time_ns += gap_ns;
                let last = all.iter().rev().find(|(other, _): &&(u64, u64)| *other == identity);
                expected += u64::from(identity > 0 && last.is_some_and(|(_, at)| time_ns - at <= COPY_WITHIN_NS));
                all.push((identity, time_ns));
                sightings.add(time_ns, (0, 0), &Sight { identity, ..Sight::default() });
            }
            prop_assert_eq!(sightings.copies(), expected);
        }
    }
}
