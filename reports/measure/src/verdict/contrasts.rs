//! How sure differences between policies are: what each loses in the episodes in which one of two loses something.
//! Elsewhere policies do not differ.

use dropcast_data::SwitchSpecs;
use dropcast_pipeline::traces::EPISODE_GAP_RTTS;
use dropcast_replay::Arrival;
use serde::{Deserialize, Serialize};
use statrs::distribution::{Binomial, ContinuousCDF, DiscreteCDF, StudentsT};
use std::collections::BTreeMap;

/// How seldom a difference that is none may be taken for one, on either side of it.
const MISSED: f64 = 0.005;
/// An episode that goes on longer is cut: so many times the gap that ends one.
const MOST_CELLS: u64 = 10;

/// What one policy transmits more than another, episode by episode.
///
/// An episode of two policies is a time at one switch in which one of them drops packets, at most 10 to 20 base
/// round-trip times apart; after 100 it is cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EpisodeGain {
    /// Bytes more than the other; negative if fewer.
    pub bytes: i64,
    /// The lower end of a 99% interval (Student's t over episodes); null if there are too few of them.
    pub low_bytes: Option<i64>,
    /// Its upper end.
    pub high_bytes: Option<i64>,
    /// Episodes in which one of the two drops packets.
    pub episodes: u64,
    /// Those in which this policy loses fewer bytes than the other.
    pub better: u64,
    /// Those in which it loses more.
    pub worse: u64,
    /// The policies of which this one is the best of the same episodes. Intervals and tests are so much stricter
    /// (Bonferroni).
    pub choices: u64,
}

impl EpisodeGain {
    /// Whether it is a gain beyond noise: in enough episodes, and its interval is above zero or a sign test says so.
    pub fn is_sure(&self) -> bool {
        let signs = || self.sign_test() <= MISSED / self.choices as f64;
        self.bytes > 0
            && self.better + self.worse >= episodes_needed(self.choices)
            && (self.low_bytes.is_some_and(|low| low > 0) || signs())
    }

    /// The chance of at least so many better episodes among those that differ, if both policies were alike.
    fn sign_test(&self) -> f64 {
        let Some(fewer) = self.better.checked_sub(1) else { return 1.0 };
        Binomial::new(0.5, self.better + self.worse).map_or(1.0, |signs| signs.sf(fewer))
    }

    /// The other policy's gain over this one.
    fn reversed(self) -> Self {
        EpisodeGain {
            bytes: -self.bytes,
            low_bytes: self.high_bytes.map(|high| -high),
            high_bytes: self.low_bytes.map(|low| -low),
            better: self.worse,
            worse: self.better,
            ..self
        }
    }
}

/// How many episodes have to differ before any result of the best of so many policies can be beyond noise: all of them
/// better.
pub(super) fn episodes_needed(choices: u64) -> u64 {
    (choices as f64 / MISSED).log2().ceil() as u64
}

/// Compares each two of some policies over all traces. Memory: a few numbers for each pair and switch.
#[derive(Debug)]
pub(super) struct Contrasts {
    /// By policy: whether it was trained, so that only rows that count say what it is worth.
    trained: Vec<bool>,
    /// Of the open trace.
    switches: BTreeMap<u16, Watched>,
    /// Of policies `a` and `b <= a` at `a * (a + 1) / 2 + b`.
    pairs: Vec<Pair>,
    /// Lost bytes by policy: of all rows, and of those that count.
    lost: Vec<[u64; 2]>,
}

/// A switch of the open trace.
#[derive(Debug)]
struct Watched {
    cell_ns: u64,
    /// The number of the last cell of time with drops.
    cell: u64,
    /// Bytes lost in it, as in [`Contrasts::lost`].
    lost: Vec<[u64; 2]>,
    /// The open episode of each pair.
    open: Vec<Option<Episode>>,
}

#[derive(Clone, Copy, Debug)]
struct Episode {
    first: u64,
    last: u64,
    /// Bytes that `a` transmits more than `b`.
    difference: i64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Pair {
    episodes: u64,
    better: u64,
    worse: u64,
    sum: i64,
    squares: u128,
}

impl Pair {
    fn end(&mut self, episode: Episode) {
        let difference = episode.difference;
        self.episodes += 1;
        self.better += u64::from(difference > 0);
        self.worse += u64::from(difference < 0);
        self.sum += difference;
        self.squares += u128::from(difference.unsigned_abs()).pow(2);
    }

    fn gain(&self, choices: u64) -> EpisodeGain {
        let &Pair { episodes, better, worse, sum: bytes, .. } = self;
        let known = self.half_width(choices).filter(|_| better + worse >= episodes_needed(choices));
        let end = |half: f64| (bytes as f64 + half).round() as i64;
        let (low_bytes, high_bytes) = (known.map(|half| end(-half)), known.map(end));
        EpisodeGain { bytes, low_bytes, high_bytes, episodes, better, worse, choices }
    }

    /// Half of the interval of the sum of differences.
    fn half_width(&self, choices: u64) -> Option<f64> {
        let (count, sum) = (self.episodes as f64, self.sum as f64);
        let freedom = count - 1.0;
        let student = StudentsT::new(0.0, 1.0, freedom).ok()?;
        // Of n differences with variance s^2 the sum has the standard error s * sqrt(n).
        let variance = (self.squares as f64 - sum * sum / count).max(0.0) / freedom;
        Some(student.inverse_cdf(1.0 - MISSED / choices as f64) * (variance * count).sqrt())
    }
}

impl Contrasts {
    /// Of policies, each trained or not: at most 64.
    pub(super) fn new(trained: Vec<bool>) -> Self {
        let count = trained.len();
        Contrasts {
            trained,
            switches: BTreeMap::new(),
            pairs: vec![Pair::default(); count * (count + 1) / 2],
            lost: vec![[0; 2]; count],
        }
    }

    /// The next arrivals of a trace, and which of them each policy drops.
    pub(super) fn add<'a>(
        &mut self,
        arrivals: &[Arrival],
        specs: &SwitchSpecs,
        dropped: impl IntoIterator<Item = &'a [bool]>,
    ) {
        let mut by = vec![0_u64; arrivals.len()];
        for (policy, dropped) in dropped.into_iter().enumerate() {
            by.iter_mut().zip(dropped).for_each(|(by, &is)| *by |= u64::from(is) << policy);
        }
        for (arrival, by) in arrivals.iter().zip(by).filter(|(_, by)| *by != 0) {
            self.drop_at(arrival, specs, by);
        }
    }

    /// Policies drop an arrival: their bits are set.
    fn drop_at(&mut self, arrival: &Arrival, specs: &SwitchSpecs, mut by: u64) {
        let Contrasts { trained, switches, pairs, lost } = self;
        let watched = switches.entry(arrival.switch_id).or_insert_with(|| {
            let rtt_ns = specs.get(arrival.switch_id).map_or(1, |spec| spec.base_rtt_ns);
            Watched {
                cell_ns: rtt_ns.saturating_mul(EPISODE_GAP_RTTS).max(1),
                cell: 0,
                lost: vec![[0; 2]; trained.len()],
                open: vec![None; pairs.len()],
            }
        });
        let cell = arrival.time_ns / watched.cell_ns;
        if cell != watched.cell {
            watched.end_cell(trained, pairs, lost);
            watched.cell = cell;
        }
        let size = u64::from(arrival.size_bytes);
        let size = [size, if arrival.counted { size } else { 0 }];
        while by != 0 {
            let policy = by.trailing_zeros() as usize;
            by &= by - 1;
            let sum = &mut watched.lost[policy];
            sum[0] += size[0];
            sum[1] += size[1];
        }
    }

    /// The trace has no more arrivals.
    pub(super) fn end(&mut self) {
        for mut watched in std::mem::take(&mut self.switches).into_values() {
            watched.end_cell(&self.trained, &mut self.pairs, &mut self.lost);
            for (open, pair) in watched.open.into_iter().zip(&mut self.pairs) {
                open.into_iter().for_each(|episode| pair.end(episode));
            }
        }
    }

    /// Bytes that a policy loses: of all rows, or of those that count.
    pub(super) fn lost_bytes(&self, policy: usize, only_counted: bool) -> u64 {
        self.lost[policy][usize::from(only_counted)]
    }

    /// Episodes in which a policy drops packets.
    pub(super) fn episodes(&self, policy: usize) -> u64 {
        self.pairs[place(policy, policy)].episodes
    }

    /// What policy `a`, the best of so many, transmits more than policy `b`: of all rows, or of those that count if one of
    /// them was trained.
    pub(super) fn gain(&self, a: usize, b: usize, choices: u64) -> EpisodeGain {
        let gain = self.pairs[place(a, b)].gain(choices);
        if a >= b { gain } else { gain.reversed() }
    }
}

/// Where the pair of two policies is.
fn place(a: usize, b: usize) -> usize {
    let (a, b) = (a.max(b), a.min(b));
    a * (a + 1) / 2 + b
}

impl Watched {
    /// Adds what is lost in the last cell to the sums and to the episodes of all pairs.
    fn end_cell(&mut self, trained: &[bool], pairs: &mut [Pair], lost: &mut [[u64; 2]]) {
        for (sum, lost) in lost.iter_mut().zip(&self.lost) {
            sum[0] += lost[0];
            sum[1] += lost[1];
        }
        let mut at = 0;
        for a in 0..trained.len() {
            for b in 0..=a {
                let of = usize::from(trained[a] || trained[b]);
                let (by_a, by_b) = (self.lost[a][of], self.lost[b][of]);
                let (pair, open) = (&mut pairs[at], &mut self.open[at]);
                at += 1;
                if by_a == 0 && by_b == 0 {
                    continue;
                }
                let goes_on = |episode: &mut Episode| {
                    self.cell > episode.last + 1 || self.cell >= episode.first + MOST_CELLS
                };
                open.take_if(goes_on).into_iter().for_each(|ended| pair.end(ended));
                let begin = Episode { first: self.cell, last: self.cell, difference: 0 };
                let episode = open.get_or_insert(begin);
                episode.last = self.cell;
                // Of one cell of time: far fewer bytes than 2^63.
                episode.difference += by_b as i64 - by_a as i64;
            }
        }
        self.lost.fill([0; 2]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use dropcast_data::SwitchSpec;
    use proptest::prelude::*;

    /// A packet: the time since the one before in units of 3 base round-trip times, its size, whether it counts, which of
    /// three policies drop it.
    type One = (u64, u32, bool, [bool; 3]);

    const RTT_NS: u64 = 1_000;

    fn traces() -> impl Strategy<Value = Vec<Vec<One>>> {
        let one = (0..12_u64, 1..2_000u32, prop::bool::weighted(0.8), any::<[bool; 3]>());
        prop::collection::vec(prop::collection::vec(one, 1..300), 1..3)
    }

    fn arrivals(packets: &[One]) -> Vec<Arrival> {
        let mut time_ns = 0;
        let arrival = |&(after, size_bytes, counted, _): &One| {
            time_ns += after * 3 * RTT_NS;
            Arrival { time_ns, size_bytes, counted, ..Arrival::default() }
        };
        packets.iter().map(arrival).collect()
    }

    /// The last of three policies was trained.
    fn counted(traces: &[Vec<One>], batch: usize) -> Contrasts {
        let specs = SwitchSpecs::Same(SwitchSpec::uniform(1, 8_000_000_000, 10_000, RTT_NS));
        let mut contrasts = Contrasts::new(vec![false, false, true]);
        for packets in traces {
            for (part, arrivals) in packets.chunks(batch).zip(arrivals(packets).chunks(batch)) {
                let drops = |at: usize| part.iter().map(|one| one.3[at]).collect::<Vec<bool>>();
                let drops = [0, 1, 2].map(drops);
                contrasts.add(arrivals, &specs, drops.iter().map(Vec::as_slice));
            }
            contrasts.end();
        }
        contrasts
    }

    /// The differences of all episodes: lists of cells of time, one by one.
    fn slow(traces: &[Vec<One>], a: usize, b: usize) -> Vec<i64> {
        let mut differences = Vec::new();
        for packets in traces {
            let mut cells: BTreeMap<u64, i64> = BTreeMap::new();
            for (arrival, one) in arrivals(packets).iter().zip(packets) {
                let counts = one.2 || (a != 2 && b != 2);
                if counts && (one.3[a] || one.3[b]) {
                    let difference = i64::from(one.1) * (i64::from(one.3[b]) - i64::from(one.3[a]));
                    *cells.entry(arrival.time_ns / (10 * RTT_NS)).or_default() += difference;
                }
            }
            let mut run: Vec<(u64, i64)> = Vec::new();
            let mut end = |run: &mut Vec<(u64, i64)>| {
                if !run.is_empty() {
                    differences.push(run.drain(..).map(|(_, bytes)| bytes).sum());
                }
            };
            for (cell, bytes) in cells {
                let is_apart = run.last().is_some_and(|(last, _)| cell > last + 1);
                if is_apart || run.first().is_some_and(|(first, _)| cell >= first + 10) {
                    end(&mut run);
                }
                run.push((cell, bytes));
            }
            end(&mut run);
        }
        differences
    }

    proptest! {
        #[test]
        fn gains_are_those_of_differences_episode_by_episode(
            traces in traces(),
            batch in 1..400_usize,
            choices in 1..20_u64,
        ) {
            let contrasts = counted(&traces, batch);
            for (a, b) in [(0, 1), (2, 0), (1, 2), (1, 1)] {
                let differences = slow(&traces, a, b);
                let gain = contrasts.gain(a, b, choices);
                let signs = |sign| differences.iter().filter(|one| one.signum() == sign).count() as u64;
                let sum: i64 = differences.iter().sum();
                let count = differences.len() as f64;
                prop_assert_eq!((gain.bytes, gain.episodes), (sum, differences.len() as u64));
                prop_assert_eq!((gain.better, gain.worse), (signs(1), signs(-1)));
                if 0.5_f64.powi((gain.better + gain.worse) as i32) > 0.005 / choices as f64 {
                    prop_assert_eq!((gain.low_bytes, gain.is_sure()), (None, false), "no result can be sure");
                    continue;
                }
                let mean = sum as f64 / count;
                let squares: f64 = differences.iter().map(|one| (*one as f64 - mean).powi(2)).sum();
                let error = (squares / (count - 1.0) / count).sqrt();
                let student = StudentsT::new(0.0, 1.0, count - 1.0).unwrap();
                let half = student.inverse_cdf(1.0 - 0.005 / choices as f64) * error * count;
                prop_assert!((gain.low_bytes.unwrap() as f64 - (sum as f64 - half)).abs() < 1.0);
                prop_assert!((gain.high_bytes.unwrap() as f64 - (sum as f64 + half)).abs() < 1.0);
            }
        }
    }

    /// Episodes 30 round trips apart; the second policy drops all packets of these sizes, the first none.
    fn gain(sizes: &[u32], choices: u64) -> EpisodeGain {
        let packets: Vec<One> =
            sizes.iter().map(|&size| (10, size, true, [false, true, false])).collect();
        counted(&[packets], 1_000).gain(0, 1, choices)
    }

    #[test]
    fn signs_of_few_episodes_prove_nothing_and_those_of_thirteen_do() {
        // However different they are.
        let sizes: Vec<u32> = (0..13).map(|at| 1 << at).collect();
        let all = gain(&sizes, 14);
        assert_eq!((all.better, all.worse), (13, 0));
        assert!(all.low_bytes < Some(0) && all.is_sure(), "{all:?}");
        assert!(!gain(&sizes[..11], 14).is_sure() && gain(&sizes[..12], 14).is_sure());
        assert_eq!([1, 14].map(episodes_needed), [8, 12]);
        assert!(!all.reversed().is_sure());
    }
}
