//! Random Early Detection (Floyd and Jacobson, "Random Early Detection gateways for congestion
//! avoidance", IEEE/ACM ToN 1993), as in datacenter switches.

use super::{Action, Aqm, Signal};
use crate::{Buffer, BuildError, Packet};
use dropcast_data::SwitchSpec;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};
use serde::{Deserialize, Serialize};

/// Signals congestion with a probability that grows with the queue:
///
/// ```text
/// p = 0                                          if q <= minK
/// p = maxP * (q - minK) / (maxK - minK)          if minK < q <= maxK     (PRED, section 2.1)
/// p = 1                                          if q > maxK
/// ```
///
/// `q` is the length of the packet's queue on arrival, or its moving average. Integers only:
/// probabilities are multiples of 1/2^32, averages of 1/2^16 bytes.
#[derive(Clone, Debug)]
pub struct Red {
    min_bytes: u32,
    max_bytes: u32,
    /// `maxP`, of 2^32.
    max_probability: u64,
    signal: Signal,
    average: Option<Averaging>,
    random: ChaCha8Rng,
}

/// Parameters of [`Red`]. The thresholds and the probability are the example of the PRED paper
/// (section 2.1).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RedParameters {
    /// `minK`, bytes.
    pub min_bytes: u32,
    /// `maxK`, bytes.
    pub max_bytes: u32,
    /// `maxP`, from 0 to 1.
    pub max_probability: f64,
    /// How senders learn of congestion.
    pub signal: Signal,
    /// `q` is a moving average in which each arrival has the weight `2^-average_shift`; RED's 0.002 is
    /// about 9. The length itself if not given, as in DCTCP.
    pub average_shift: Option<u8>,
}

impl Default for RedParameters {
    fn default() -> Self {
        RedParameters {
            min_bytes: 5_000,
            max_bytes: 200_000,
            max_probability: 0.1,
            signal: Signal::default(),
            average_shift: None,
        }
    }
}

impl RedParameters {
    /// RED for a switch.
    ///
    /// # Errors
    /// If a parameter is out of range.
    pub fn aqm(&self, spec: &SwitchSpec, seed: u64) -> Result<Red, BuildError> {
        let RedParameters { min_bytes, max_bytes, max_probability, signal, average_shift } = *self;
        if min_bytes > max_bytes {
            let problem = format!("is {min_bytes}, more than max_bytes, {max_bytes}");
            return Err(BuildError::parameter("min_bytes", problem));
        }
        if !(0.0..=1.0).contains(&max_probability) {
            return Err(BuildError::parameter("max_probability", "expected 0 to 1"));
        }
        if average_shift.is_some_and(|shift| shift > 16) {
            return Err(BuildError::parameter("average_shift", "expected at most 16"));
        }
        Ok(Red {
            min_bytes,
            max_bytes,
            max_probability: (max_probability * CERTAIN as f64).round() as u64,
            signal,
            average: average_shift.map(|shift| Averaging::new(spec, shift)),
            random: ChaCha8Rng::seed_from_u64(seed),
        })
    }
}

/// The probability 1, of 2^32.
pub(crate) const CERTAIN: u64 = 1 << 32;

impl Red {
    /// The signalling probability at this queue length (or average), in units of 2^-32.
    pub fn probability(&self, length_bytes: u32) -> u64 {
        if length_bytes <= self.min_bytes {
            0
        } else if length_bytes > self.max_bytes {
            CERTAIN
        } else {
            let above = u64::from(length_bytes - self.min_bytes);
            let range = u64::from(self.max_bytes - self.min_bytes);
            (u128::from(self.max_probability) * u128::from(above) / u128::from(range)) as u64
        }
    }
}

/// Draws an event with this probability, in units of 2^-32. Certain outcomes draw no random number.
pub(crate) fn happens(random: &mut ChaCha8Rng, probability: u64) -> bool {
    match probability {
        0 => false,
        CERTAIN.. => true,
        _ => u64::from(random.next_u32()) < probability,
    }
}

impl Aqm for Red {
    fn arrives(&mut self, buffer: &Buffer, packet: &Packet, now_ns: u64) -> Action {
        let length_bytes = buffer.lengths()[packet.queue];
        let length_bytes = match &mut self.average {
            Some(average) => average.arrives(packet, length_bytes, now_ns),
            None => length_bytes,
        };
        let probability = self.probability(length_bytes);
        if happens(&mut self.random, probability) {
            self.signal.action(packet)
        } else {
            Action::Pass
        }
    }

    fn departed(&mut self, buffer: &Buffer, queue: usize, _: u32, time_ns: u64) {
        if buffer.lengths()[queue] == 0
            && let Some(average) = &mut self.average
        {
            average.queues[queue].idle_from_ns = Some(time_ns);
        }
    }
}

/// The moving averages of all queues (Floyd and Jacobson, section 4 and figure 2).
///
/// On each arrival `avg += (q - avg) / 2^shift`. At an arrival to an empty queue the average first
/// decays as if `m` packets had arrived meanwhile, `m` being the queue's idle time divided by the
/// packet's time on the wire.
#[derive(Clone, Debug)]
struct Averaging {
    shift: u8,
    spec: SwitchSpec,
    queues: Vec<Average>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Average {
    /// In 1/2^16 bytes.
    scaled: u64,
    idle_from_ns: Option<u64>,
}

impl Averaging {
    fn new(spec: &SwitchSpec, shift: u8) -> Self {
        let queues = vec![Average::default(); spec.queues()];
        Averaging { shift, spec: spec.clone(), queues }
    }

    /// Updates the average on an arrival and returns it, bytes.
    fn arrives(&mut self, packet: &Packet, length_bytes: u32, now_ns: u64) -> u32 {
        let average = &mut self.queues[packet.queue];
        if let Some(idle_from_ns) = average.idle_from_ns
            && length_bytes == 0
        {
            let port = packet.queue / usize::from(self.spec.queues_per_port);
            let packet_ns = self.spec.wire_time_ns(port, packet.size_bytes).max(1);
            average.idle(now_ns.saturating_sub(idle_from_ns) / packet_ns, self.shift);
        }
        // If this packet is dropped, the queue stays idle.
        average.idle_from_ns = (length_bytes == 0).then_some(now_ns);
        let length = u64::from(length_bytes) << 16;
        if length >= average.scaled {
            average.scaled += (length - average.scaled) >> self.shift;
        } else {
            average.scaled -= (average.scaled - length) >> self.shift;
        }
        // An average of 32-bit numbers.
        (average.scaled >> 16) as u32
    }
}

impl Average {
    /// Multiplies the average with `(1 - 2^-shift)^arrivals`, in steps of 1/2^32.
    fn idle(&mut self, mut arrivals: u64, shift: u8) {
        let mut power = u128::from(CERTAIN - (CERTAIN >> shift));
        let mut factor = u128::from(CERTAIN);
        while arrivals > 0 && factor > 0 {
            if arrivals & 1 == 1 {
                factor = (factor * power) >> 32;
            }
            power = (power * power) >> 32;
            arrivals >>= 1;
        }
        self.scaled = ((u128::from(self.scaled) * factor) >> 32) as u64;
    }
}
