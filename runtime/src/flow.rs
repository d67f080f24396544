//! What a switch remembers of a flow, and the features of its next packet. `docs/features.md`, "Flows", defines them.

/// The features of a packet's flow, in the order of their codes.
pub const FLOW_FEATURES: usize = 11;

/// Messages that are remembered.
const MESSAGES: usize = 4;

/// A flow as its packets have shown it: 40 bytes. A *burst* is of packets that follow each other within half a base RTT, a
/// *message* of packets without a pause of more than eight.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlowMemory {
    last_ns: u64,
    /// The pause before this message; 0 if it is the first.
    pause_ns: u32,
    /// Packets of this message; 0 only if no packet was seen.
    packets: u16,
    /// Packets of this burst.
    burst: u16,
    /// Bursts of this message, but this one.
    bursts: u16,
    /// Packets of its first burst.
    first: u16,
    /// Of the last messages, the latest first: packets of the first burst, and all. None has 0.
    firsts: [u16; MESSAGES],
    messages: [u16; MESSAGES],
}

impl FlowMemory {
    /// A packet arrives at `now_ns`, which never goes back. Returns the features of its flow, which do not count it: packets of its burst,
    /// bursts of its message before this one, packets of its message; nanoseconds since the flow's last packet (`u32::MAX` if
    /// there was none) and of the pause before its message; packets of the first burst of the last message, of the least and of the most of the
    /// last four; packets of these messages, likewise. Counts end at 65,535.
    pub fn arrives(&mut self, now_ns: u64, base_rtt_ns: u64) -> [u32; FLOW_FEATURES] {
        let gap_ns = now_ns.saturating_sub(self.last_ns);
        let gap = if self.packets == 0 { u32::MAX } else { gap_ns.min(u32::MAX.into()) as u32 };
        if self.packets > 0 && gap_ns > base_rtt_ns.saturating_mul(8) {
            self.firsts.rotate_right(1);
            self.messages.rotate_right(1);
            (self.firsts[0], self.messages[0]) = (self.first, self.packets);
            self.pause_ns = gap;
            (self.packets, self.burst, self.bursts, self.first) = (0, 0, 0, 0);
        } else if self.packets > 0 && gap_ns > base_rtt_ns / 2 {
            self.bursts = self.bursts.saturating_add(1);
            self.burst = 0;
        }
        let [last_first, least_first, most_first] = range(&self.firsts);
        let [last, least, most] = range(&self.messages);
        let features = [
            self.burst.into(),
            self.bursts.into(),
            self.packets.into(),
            gap,
            self.pause_ns,
            last_first,
            least_first,
            most_first,
            last,
            least,
            most,
        ];
        self.burst = self.burst.saturating_add(1);
        self.packets = self.packets.saturating_add(1);
        if self.bursts == 0 {
            self.first = self.first.saturating_add(1);
        }
        self.last_ns = now_ns;
        features
    }
}

/// The last, the least and the most of those that are known; 0 if none is.
fn range(counts: &[u16; MESSAGES]) -> [u32; 3] {
    let known = || counts.iter().copied().filter(|&count| count > 0);
    [counts[0], known().min().unwrap_or(0), known().max().unwrap_or(0)].map(u32::from)
}

#[cfg(test)]
mod tests {
    extern crate std;

    use super::*;
    use proptest::prelude::*;
    use std::vec::Vec;

    #[test]
    fn a_flow_takes_forty_bytes() {
        assert_eq!(size_of::<FlowMemory>(), 40);
    }

    /// The same from the times of all packets of a flow, the last of which arrives.
    fn from_all_times(times: &[u64], base_rtt_ns: u64) -> [u32; FLOW_FEATURES] {
        let base_rtt_ns = u128::from(base_rtt_ns);
        let are_of_message = |one: &u64, next: &u64| u128::from(next - one) <= 8 * base_rtt_ns;
        let are_of_burst = |one: &u64, next: &u64| 2 * u128::from(next - one) <= base_rtt_ns;
        let count = |packets: usize| packets.min(65_535) as u32;
        let nanoseconds = |ns: u64| u32::try_from(ns).unwrap_or(u32::MAX);

        let messages: Vec<&[u64]> = times.chunk_by(are_of_message).collect();
        let (own, before) = messages.split_last().expect("that of the packet");
        let bursts: Vec<&[u64]> = own.chunk_by(are_of_burst).collect();
        let gap = match times {
            [.., last, now] => nanoseconds(now - last),
            _ => u32::MAX,
        };
        let pause =
            before.last().map_or(0, |message| nanoseconds(own[0] - message[message.len() - 1]));
        let last_four = &before[before.len().saturating_sub(4)..];
        let first_burst =
            |message: &&[u64]| message.chunk_by(are_of_burst).next().map_or(0, <[u64]>::len);
        let of_four = |packets: &dyn Fn(&&[u64]) -> usize| {
            let counts = || last_four.iter().map(|message| count(packets(message)));
            [counts().next_back(), counts().min(), counts().max()].map(Option::unwrap_or_default)
        };
        let [last_burst, least_burst, most_burst] = of_four(&first_burst);
        let [last_message, least_message, most_message] = of_four(&|message| message.len());
        [
            count(bursts[bursts.len() - 1].len() - 1),
            count(bursts.len() - 1),
            count(own.len() - 1),
            gap,
            pause,
            last_burst,
            least_burst,
            most_burst,
            last_message,
            least_message,
            most_message,
        ]
    }

    /// Base RTTs, some odd.
    fn base_rtts() -> impl Strategy<Value = u64> {
        prop_oneof![0_u64..10, Just(32_000), Just(600_000_001), any::<u64>()]
    }

    /// A gap near half a base RTT, eight, or what 32 bits hold.
    fn gaps() -> impl Strategy<Value = (usize, i64)> {
        (0_usize..6, prop_oneof![-2_i64..=2, -50_000_i64..=50_000])
    }

    proptest! {
        #[test]
        fn a_flow_is_remembered_as_all_its_packets_show_it(
            base_rtt_ns in base_rtts(),
            begin_ns: u32,
            runs in prop::collection::vec((gaps(), prop_oneof![200 => 1_usize..9, 1 => Just(66_000)]), 0..40),
        ) {
            let mut memory = FlowMemory::default();
            let mut times = std::vec![u64::from(begin_ns)];
            prop_assert_eq!(memory.arrives(times[0], base_rtt_ns), from_all_times(&times, base_rtt_ns));
            for ((near_at, more), packets) in runs {
                let near = [0, 1, base_rtt_ns / 2, base_rtt_ns, base_rtt_ns.saturating_mul(8), 1 << 32];
                let gap_ns = near[near_at].saturating_add_signed(more);
                let mut features = [0; FLOW_FEATURES];
                for _ in 0..packets {
                    times.push(times[times.len() - 1].saturating_add(gap_ns));
                    features = memory.arrives(times[times.len() - 1], base_rtt_ns);
                    // A list is gone through as a whole.
                    if times.len() < 1_000 {
                        prop_assert_eq!(features, from_all_times(&times, base_rtt_ns));
                    }
                }
                prop_assert_eq!(features, from_all_times(&times, base_rtt_ns));
            }
        }
    }
}
