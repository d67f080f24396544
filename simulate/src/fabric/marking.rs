//! Marking: how a queue tells senders that it grows.

use rand::Rng;
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

/// When an arriving packet is marked, or dropped early.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Marking {
    /// Never.
    None,
    /// ECN-capable packets are marked while their queue holds at least so many bytes (DCTCP, section
    /// 3.1). Others are left alone.
    Threshold {
        /// Bytes.
        queue_bytes: u32,
    },
    /// Random early detection (Floyd and Jacobson, 1993; not gentle): above `min_bytes` of average
    /// queue with a probability that rises to `max_probability` at `max_bytes`, always above that.
    Red {
        /// Average queue, bytes, where it begins.
        min_bytes: u32,
        /// Average queue, bytes, where every packet is marked.
        max_bytes: u32,
        /// Probability just below `max_bytes`.
        max_probability: f64,
        /// Weight of the present queue length in the average; 1: no average.
        weight: f64,
        /// ECN-capable packets are marked, others dropped; false: all are dropped.
        marks: bool,
    },
}

impl Default for Marking {
    /// That of the Credence artifact: 10 segments of 1,400 bytes.
    fn default() -> Self {
        Marking::Threshold { queue_bytes: 14_000 }
    }
}

/// What is done with a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Pass,
    Mark,
    Drop,
}

impl Marking {
    pub(crate) fn check(&self) -> Result<(), String> {
        let Marking::Red { min_bytes, max_bytes, max_probability, weight, .. } = *self else {
            return Ok(());
        };
        if max_bytes < min_bytes {
            return Err(format!("max_bytes is {max_bytes}, expected at least min_bytes"));
        }
        for (field, value) in [("max_probability", max_probability), ("weight", weight)] {
            if !(value > 0.0 && value <= 1.0) {
                return Err(format!("{field} is {value}, expected above 0 and at most 1"));
            }
        }
        Ok(())
    }
}

/// What RED remembers of a queue.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Average {
    bytes: f64,
    /// Packets since the latest mark, or since the average crossed `min_bytes`.
    since: u32,
}

impl Average {
    /// What to do with a packet that arrives at a queue of `queue_bytes`.
    pub(crate) fn judge(
        &mut self,
        marking: &Marking,
        queue_bytes: u32,
        is_ecn_capable: bool,
        rng: &mut ChaCha8Rng,
    ) -> Verdict {
        match *marking {
            Marking::None => Verdict::Pass,
            Marking::Threshold { queue_bytes: threshold } => {
                if is_ecn_capable && queue_bytes >= threshold {
                    Verdict::Mark
                } else {
                    Verdict::Pass
                }
            }
            Marking::Red { min_bytes, max_bytes, max_probability, weight, marks } => {
                self.bytes += weight * (f64::from(queue_bytes) - self.bytes);
                let (min, max) = (f64::from(min_bytes), f64::from(max_bytes));
                let share = (self.bytes - min) / (max - min).max(1.0);
                if !self.strikes(share, max_probability, self.bytes >= max, rng) {
                    Verdict::Pass
                } else if marks && is_ecn_capable {
                    Verdict::Mark
                } else {
                    Verdict::Drop
                }
            }
        }
    }

    /// Uniform gaps between strikes: `p / (1 - n p)` after `n` packets without (section 7).
    fn strikes(&mut self, share: f64, most: f64, always: bool, rng: &mut ChaCha8Rng) -> bool {
        if share < 0.0 {
            self.since = 0;
            return false;
        }
        self.since += 1;
        let probability = most * share;
        let left = 1.0 - f64::from(self.since) * probability;
        let strikes = always || left <= 0.0 || rng.random::<f64>() < probability / left;
        if strikes {
            self.since = 0;
        }
        strikes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Stream, stream};

    fn judge(marking: &Marking, queue_bytes: u32, is_ecn_capable: bool) -> [u32; 3] {
        let mut rng = stream(1, Stream::Marking);
        let mut average = Average::default();
        let mut counts = [0; 3];
        for _ in 0..10_000 {
            let verdict = average.judge(marking, queue_bytes, is_ecn_capable, &mut rng);
            counts[verdict as usize] += 1;
        }
        counts
    }

    #[test]
    fn a_threshold_marks_from_there_on() {
        let marking = Marking::default();
        assert_eq!(judge(&marking, 13_999, true), [10_000, 0, 0]);
        assert_eq!(judge(&marking, 14_000, true), [0, 10_000, 0]);
        assert_eq!(judge(&marking, 14_000, false), [10_000, 0, 0]);
    }

    #[test]
    fn red_marks_more_the_longer_the_queue_and_everything_beyond_its_maximum() {
        let marking = |marks| Marking::Red {
            min_bytes: 10_000,
            max_bytes: 30_000,
            max_probability: 0.1,
            weight: 0.5,
            marks,
        };
        assert_eq!(judge(&marking(true), 9_000, true), [10_000, 0, 0]);
        // Gaps are uniform in 1..=1/p, so that the share is about 2p: 10% and 20% here.
        let [_, some, none] = judge(&marking(true), 20_000, true);
        assert!((900..1100).contains(&some) && none == 0, "{some}");
        let [_, none, most] = judge(&marking(true), 29_999, false);
        assert!((1700..2000).contains(&most) && none == 0, "{most}");
        assert!(judge(&marking(false), 40_000, true)[2] > 9_990);
    }
}
