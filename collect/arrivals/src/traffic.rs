//! Flow sizes and incasts, independent of the network.

use crate::flow_sizes::FlowSizes;
use crate::ingress::Flow;

/// Sizes of flows and of incasts.
#[derive(Clone, Debug)]
pub(crate) struct Traffic {
    /// Payload of one incast, bytes; at least `fan_in`.
    pub(crate) burst_bytes: u64,
    /// Answers of one incast.
    pub(crate) fan_in: u16,
    /// Payload that a sender sends in the first round-trip time, bytes.
    pub(crate) unscheduled_bytes: u32,
    pub(crate) sizes: FlowSizes,
}

impl Traffic {
    /// A flow about to start.
    pub(crate) fn flow(&self, bytes: u64, hash: u64, to: u16) -> Flow {
        Flow {
            remaining_bytes: bytes,
            hash,
            unscheduled_bytes: self.unscheduled_bytes,
            to,
            unacknowledged: 0,
        }
    }

    /// Payload of each answer of an incast: equal up to one byte, together the burst.
    pub(crate) fn answers(&self) -> impl Iterator<Item = u64> + use<> {
        let fan_in = u64::from(self.fan_in);
        let (each, extra) = (self.burst_bytes / fan_in, self.burst_bytes % fan_in);
        (0..fan_in).map(move |answer| each + u64::from(answer < extra))
    }
}

/// The path that hashing picks for a flow among `paths` equal ones (ECMP).
pub fn path_of(hash: u64, paths: u16) -> u16 {
    // The top half of the hash, scaled: below `paths`.
    (((hash >> 32) * u64::from(paths)) >> 32) as u16
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flow_sizes::FlowSizeName;

    #[test]
    fn answers_add_up_to_the_burst() {
        for (fan_in, burst_bytes) in [(16, 789_504), (7, 100), (3, 3), (1, 5)] {
            let sizes = FlowSizes::from_text(FlowSizeName::Hadoop.text()).expect("valid");
            let traffic = Traffic { burst_bytes, fan_in, unscheduled_bytes: 40_000, sizes };
            let answers: Vec<u64> = traffic.answers().collect();
            assert_eq!(answers.len(), usize::from(fan_in));
            assert_eq!(answers.iter().sum::<u64>(), burst_bytes);
            assert!(answers[0] - answers[answers.len() - 1] <= 1);
        }
    }

    #[test]
    fn hashing_uses_every_path_and_no_other() {
        let paths: Vec<u16> = (0..8).map(|nth| path_of(nth << 61 | 1, 4)).collect();
        assert_eq!(paths, [0, 0, 1, 1, 2, 2, 3, 3]);
        assert_eq!(path_of(u64::MAX, 3), 2);
    }
}
