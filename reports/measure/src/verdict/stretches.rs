//! How sure differences between policies are: what each drops in stretches of a trace.

use dropcast_replay::Arrival;
use serde::{Deserialize, Serialize};
use statrs::distribution::{ContinuousCDF, StudentsT};

/// Stretches of a trace, at most.
const MOST_STRETCHES: usize = 64;
/// Arrivals of the shortest: more than most episodes of congestion have, so that stretches hardly depend on each other.
const LEAST_ARRIVALS: u64 = 4_096;
/// Stretches below which there is no interval.
const LEAST_STRETCHES: u64 = 8;
/// How seldom an interval may miss. A verdict has up to six: all of them hold in at least 94 of 100 verdicts.
const MISSED: f64 = 0.01;

/// What one policy transmits more than another, and how sure that is: a 99% interval of Student's t over stretches of
/// equally many arrivals.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GainRange {
    /// Bytes more than the other; negative if fewer.
    pub bytes: i64,
    /// The interval's lower end; null if there are fewer than 8 stretches.
    pub low_bytes: Option<i64>,
    /// Its upper end.
    pub high_bytes: Option<i64>,
    /// The pairs of policies of which this one was chosen on the very rows that it is measured on. The intervals of all
    /// pairs hold together in 99 of 100 verdicts (Bonferroni), so that of the chosen one does. 1 if it was chosen on
    /// other rows.
    pub choices: u64,
}

impl GainRange {
    /// Whether it is a gain beyond noise.
    pub fn is_sure(&self) -> bool {
        self.low_bytes.is_some_and(|low| low > 0)
    }
}

/// Dropped bytes of policies in stretches, over all traces. Memory: the stretches of one trace, and a product for
/// each pair of policies.
#[derive(Debug)]
pub(super) struct Stretches {
    policies: usize,
    open: OpenTrace,
    count: u64,
    /// Dropped bytes of each policy.
    sums: Vec<u64>,
    /// Sums of products over stretches: of policies `a` and `b <= a` at `a * (a + 1) / 2 + b`.
    products: Vec<u128>,
}

/// The stretches of a trace, twice as long whenever there would be too many.
#[derive(Debug)]
struct OpenTrace {
    /// Arrivals that count.
    arrivals: u64,
    /// Of each stretch.
    width: u64,
    /// Dropped bytes by policy.
    stretches: Vec<Vec<u64>>,
}

impl Default for OpenTrace {
    fn default() -> Self {
        OpenTrace { arrivals: 0, width: LEAST_ARRIVALS, stretches: Vec::new() }
    }
}

impl Stretches {
    /// Of so many policies.
    pub(super) fn new(policies: usize) -> Self {
        Stretches {
            policies,
            open: OpenTrace::default(),
            count: 0,
            sums: vec![0; policies],
            products: vec![0; policies * (policies + 1) / 2],
        }
    }

    /// The next arrivals of a trace, and which of them each policy drops.
    pub(super) fn add<'a>(
        &mut self,
        arrivals: &[Arrival],
        dropped: impl IntoIterator<Item = &'a [bool]>,
    ) {
        let open = &mut self.open;
        let first = open.arrivals;
        open.arrivals += arrivals.iter().filter(|arrival| arrival.counted).count() as u64;
        open.make_place(self.policies);
        let mut number = first;
        let place = |arrival: &Arrival| {
            let place = number / open.width;
            number += u64::from(arrival.counted);
            place as usize
        };
        let places: Vec<usize> = arrivals.iter().map(place).collect();
        for (policy, dropped) in dropped.into_iter().enumerate() {
            for ((arrival, place), _) in
                arrivals.iter().zip(&places).zip(dropped).filter(|(_, dropped)| **dropped)
            {
                if arrival.counted {
                    open.stretches[*place][policy] += u64::from(arrival.size_bytes);
                }
            }
        }
    }

    /// The trace has no more arrivals.
    pub(super) fn end(&mut self) {
        let open = std::mem::take(&mut self.open);
        for dropped in &open.stretches {
            self.count += 1;
            let mut at = 0;
            for (a, &bytes) in dropped.iter().enumerate() {
                self.sums[a] += bytes;
                for &other in &dropped[..=a] {
                    self.products[at] += u128::from(bytes) * u128::from(other);
                    at += 1;
                }
            }
        }
    }

    /// Stretches.
    pub(super) fn count(&self) -> u64 {
        self.count
    }

    /// What policy `a` transmits more than policy `b`, which are one of so many pairs.
    pub(super) fn gain(&self, a: usize, b: usize, choices: u64) -> GainRange {
        let signed = |bytes: u64| i64::try_from(bytes).unwrap_or(i64::MAX);
        let bytes = signed(self.sums[b]).saturating_sub(signed(self.sums[a]));
        let missed = MISSED / choices as f64;
        let known = self.half_width(a, b, bytes, missed).filter(|_| self.count >= LEAST_STRETCHES);
        let end = |half: f64| (bytes as f64 + half).round() as i64;
        let (low_bytes, high_bytes) = (known.map(|half| end(-half)), known.map(end));
        GainRange { bytes, low_bytes, high_bytes, choices }
    }

    /// Half of the interval of the sum of differences that misses it so seldom.
    fn half_width(&self, a: usize, b: usize, bytes: i64, missed: f64) -> Option<f64> {
        let product = |a: usize, b: usize| {
            let (a, b) = (a.max(b), a.min(b));
            self.products[a * (a + 1) / 2 + b] as i128
        };
        let squares = product(a, a) + product(b, b) - 2 * product(a, b);
        let count = self.count as f64;
        let freedom = count - 1.0;
        // Of n differences with variance s^2 the sum has the standard error s * sqrt(n).
        let variance = (squares as f64 - (bytes as f64).powi(2) / count).max(0.0) / freedom;
        let student = StudentsT::new(0.0, 1.0, freedom).ok()?;
        Some(student.inverse_cdf(1.0 - missed / 2.0) * (variance * count).sqrt())
    }
}

impl OpenTrace {
    /// Makes place for all arrivals.
    fn make_place(&mut self, policies: usize) {
        let stretches = |open: &Self| usize::try_from(open.arrivals.div_ceil(open.width));
        while stretches(self).is_ok_and(|all| all > MOST_STRETCHES) {
            self.width *= 2;
            let pairs = self.stretches.chunks(2).map(|pair| {
                let mut sum = pair[0].clone();
                for more in &pair[1..] {
                    sum.iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
                }
                sum
            });
            self.stretches = pairs.collect();
        }
        self.stretches.resize(stretches(self).unwrap_or(MOST_STRETCHES), vec![0; policies]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A packet: its size, whether it counts, which of three policies drop it.
    type One = (u32, bool, [bool; 3]);

    /// Traces of packets. Each stands for a thousand like it, so that there are many stretches.
    fn traces() -> impl Strategy<Value = Vec<Vec<One>>> {
        let one = (1..2_000u32, prop::bool::weighted(0.8), any::<[bool; 3]>());
        prop::collection::vec(prop::collection::vec(one, 1..400), 1..3)
    }

    fn all(packets: &[One]) -> impl Iterator<Item = One> {
        packets.iter().flat_map(|one| std::iter::repeat_n(*one, 1_000))
    }

    fn counted(traces: &[Vec<One>], batch: usize) -> Stretches {
        let mut stretches = Stretches::new(3);
        for packets in traces {
            let packets: Vec<One> = all(packets).collect();
            for part in packets.chunks(batch) {
                let arrival = |&(size_bytes, counted, _): &One| Arrival {
                    size_bytes,
                    counted,
                    ..Arrival::default()
                };
                let arrivals: Vec<Arrival> = part.iter().map(arrival).collect();
                let drops = |at: usize| part.iter().map(|one| one.2[at]).collect::<Vec<bool>>();
                let drops = [0, 1, 2].map(drops);
                stretches.add(&arrivals, drops.iter().map(Vec::as_slice));
            }
            stretches.end();
        }
        stretches
    }

    /// The differences of all stretches, one by one.
    fn slow(traces: &[Vec<One>], a: usize, b: usize) -> Vec<f64> {
        let of_trace = |packets: &Vec<One>| {
            let counted: Vec<One> = all(packets).filter(|one| one.1).collect();
            let mut width = 4_096;
            while counted.len().div_ceil(width) > 64 {
                width *= 2;
            }
            let differs =
                |one: &One| f64::from(one.0) * (f64::from(one.2[b]) - f64::from(one.2[a]));
            let stretches = counted.chunks(width);
            stretches.map(|part| part.iter().map(differs).sum()).collect::<Vec<f64>>()
        };
        traces.iter().flat_map(of_trace).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]
        #[test]
        fn gains_are_those_of_differences_stretch_by_stretch(
            traces in traces(),
            batch in 500..70_000usize,
            choices in 1..100u64,
        ) {
            let stretches = counted(&traces, batch);
            for (a, b) in [(0, 1), (2, 0), (1, 2), (1, 1)] {
                let differences = slow(&traces, a, b);
                let gain = stretches.gain(a, b, choices);
                prop_assert_eq!(stretches.count(), differences.len() as u64);
                let sum: f64 = differences.iter().sum();
                prop_assert_eq!(gain.bytes as f64, sum);
                if differences.len() < 8 {
                    prop_assert_eq!((gain.low_bytes, gain.high_bytes), (None, None));
                    continue;
                }
                let count = differences.len() as f64;
                let mean = sum / count;
                let squares: f64 = differences.iter().map(|one| (one - mean).powi(2)).sum();
                let error = (squares / (count - 1.0) / count).sqrt();
                let student = StudentsT::new(0.0, 1.0, count - 1.0).unwrap();
                let half = student.inverse_cdf(1.0 - 0.005 / choices as f64) * error * count;
                prop_assert!((gain.low_bytes.unwrap() as f64 - (sum - half)).abs() < 1.0);
                prop_assert!((gain.high_bytes.unwrap() as f64 - (sum + half)).abs() < 1.0);
            }
        }
    }

    #[test]
    fn a_gain_of_one_stretch_is_noise_and_one_of_most_is_not() {
        // 128 thousand arrivals: 32 stretches of 4,096.
        let packets = |gains: &[u64]| -> Vec<One> {
            (0..128).map(|at| (1_000, true, [false, gains.contains(&(at / 4)), false])).collect()
        };
        let gain = |gains: &[u64]| counted(&[packets(gains)], 7_000).gain(0, 1, 1);
        assert!(!gain(&[5]).is_sure() && gain(&[5]).bytes == 4_000_000);
        assert!(gain(&(0..20).collect::<Vec<u64>>()).is_sure());
        let loss = counted(&[packets(&(0..20).collect::<Vec<u64>>())], 7_000).gain(1, 0, 1);
        assert!(!loss.is_sure() && loss.high_bytes < Some(0));
    }
}
