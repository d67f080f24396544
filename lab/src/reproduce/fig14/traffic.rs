//! Arrivals that figure 14 is measured on.

use dropcast_arrivals::{BurstTraffic, WorkloadError};

/// Arrivals and the switch they come to.
#[derive(Clone, Debug, PartialEq)]
pub struct Fig14Case {
    /// Output ports `N`.
    pub ports: u16,
    /// Buffer `B`, packets.
    pub buffer_packets: u32,
    /// Bursts per slot that the arrivals were made with; only carried along.
    pub bursts_per_slot: f64,
    /// Output ports of the packets of each slot, in order of arrival.
    pub slots: Vec<Vec<u16>>,
}

/// Where the arrivals of a case come from: full-buffer bursts.
#[derive(Clone, Debug, PartialEq)]
pub struct Fig14Traffic {
    /// A whole burst arrives in one slot, instead of at most `N` packets in each.
    pub bursts_at_once: bool,
    /// Slots.
    pub slots: u64,
    /// Seed.
    pub seed: u64,
}

/// Ports, buffer per port and load (packets that arrive per slot, as a share of what all ports
/// send) of the cases in which Credence is held against Dynamic Thresholds: the paper gives none of
/// them, so each is varied.
const PORTS: [u16; 3] = [4, 16, 32];
const BUFFER_PER_PORT: [u32; 3] = [5, 10, 40];
const LOADS: [f64; 4] = [0.02, 0.05, 0.2, 0.6];

/// Packets of a case that are kept at most; a slot takes as much as ten.
const MOST_KEPT: f64 = 5e7;

impl Fig14Traffic {
    /// The arrivals at a switch.
    ///
    /// # Errors
    /// If a number is out of range.
    pub fn case(
        &self,
        ports: u16,
        buffer_packets: u32,
        bursts_per_slot: f64,
    ) -> Result<Fig14Case, WorkloadError> {
        let traffic = BurstTraffic {
            ports,
            burst_packets: buffer_packets,
            bursts_per_slot,
            arrivals_per_slot: (!self.bursts_at_once).then_some(usize::from(ports)),
            slots: self.slots,
            seed: self.seed,
        };
        let slots = traffic.arrivals()?;
        let kept = self.slots as f64 * (10.0 + bursts_per_slot * f64::from(buffer_packets));
        if kept > MOST_KEPT {
            let problem =
                format!("is {}, too many to keep; give fewer, or fewer packets", self.slots);
            return Err(WorkloadError::Field { field: "slots", problem });
        }
        let slots = slots.collect();
        Ok(Fig14Case { ports, buffer_packets, bursts_per_slot, slots })
    }

    /// The same question for other switches and burst rates.
    ///
    /// # Errors
    /// Those of [`Fig14Traffic::case`].
    pub fn other_cases(&self) -> Result<Vec<Fig14Case>, WorkloadError> {
        let mut cases = Vec::new();
        for ports in PORTS {
            for per_port in BUFFER_PER_PORT {
                for load in LOADS {
                    let buffer = u32::from(ports) * per_port;
                    let bursts_per_slot = load * f64::from(ports) / f64::from(buffer);
                    cases.push(self.case(ports, buffer, bursts_per_slot)?);
                }
            }
        }
        Ok(cases)
    }
}
