//! What configures transports, beside a flow's own.

use serde::{Deserialize, Serialize};

/// How senders find out what was lost, and repeat it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Recovery {
    /// ns-3's: selective acknowledgements, three duplicates, limited transmit, proportional rate reduction. A sender that
    /// reduces its window after a mark begins no recovery, and a mark ends one: it repeats what acknowledgements show to be
    /// lost, and waits for a timeout for the rest.
    Ns3,
    /// The same, but marks leave recovery alone (RFC 6675).
    Rfc6675,
    /// Linux's since 2018: what was sent before something that has arrived is lost, also what was repeated, and a tail is
    /// probed after two round trips and a wait (RACK-TLP, RFC 8985). Timers go off at ticks of the kernel's clock.
    #[default]
    RackTlp,
}

/// The clock of a host's timers, as in Linux: they go off at its ticks (jiffies).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ticks {
    /// Between two ticks, nanoseconds; 0: timers are exact.
    pub every_ns: u64,
    /// The first tick is this long before the simulation begins, nanoseconds; less than `every_ns`.
    pub phase_ns: u64,
}

impl Ticks {
    /// When a timer goes off that is set now, nanoseconds. Linux rounds the wait up to ticks, and the timer wheel
    /// (`kernel/time/timer.c`) takes one tick more: of waits of 63 ticks or more a multiple of 8, from 504 on of 64, and so on.
    pub fn timer_ns(self, now_ns: u64, wait_ns: u64) -> u64 {
        if self.every_ns == 0 {
            return now_ns + wait_ns;
        }
        let ticks = wait_ns.div_ceil(self.every_ns);
        let mut step = 1;
        while ticks >= 63 * step {
            step *= 8;
        }
        let tick = (now_ns + self.phase_ns) / self.every_ns + ticks;
        (tick + step) / step * step * self.every_ns - self.phase_ns
    }
}

/// What configures transports, beside a flow's own.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tuning {
    /// Rate of a server's link, bits per second.
    pub line_rate_bps: u64,
    /// Propagation of the longest round trip, nanoseconds.
    pub base_rtt_ns: u64,
    /// Propagation of the flow's own round trip, nanoseconds.
    pub own_rtt_ns: u64,
    /// The longest round trip without queues: `base_rtt_ns`, and the transmission of a segment and its acknowledgement on
    /// each link, nanoseconds.
    pub path_rtt_ns: u64,
    /// Least time until the retransmission timer goes off, nanoseconds.
    pub min_rto_ns: u64,
    /// Whether DCTCP has slow start.
    pub dctcp_slow_start: bool,
    /// How losses are found and repeated.
    pub recovery: Recovery,
    /// The clock by which timers go off.
    pub ticks: Ticks,
    /// Round-trip times are measured in steps of this, nanoseconds.
    pub timestamp_ns: u64,
    /// Most payload of a segment, bytes.
    pub segment_bytes: u32,
}

impl Tuning {
    /// Until when an answer to a handshake is waited for that was sent so many times before, nanoseconds: in Linux a second at
    /// first.
    pub(crate) fn handshake_by_ns(&self, now_ns: u64, repeats: u32) -> u64 {
        let first_ns = match self.recovery {
            Recovery::RackTlp => 1_000_000_000,
            Recovery::Ns3 | Recovery::Rfc6675 => self.min_rto_ns,
        };
        self.ticks.timer_ns(now_ns, first_ns << repeats.min(6))
    }

    /// The base round-trip time of PowerTCP, theta-PowerTCP and TIMELY, nanoseconds: propagation, and two segments' transmission, as the
    /// Credence and ABM artifacts configure it.
    pub fn packet_rtt_ns(&self) -> f64 {
        let packets_ns = f64::from(self.segment_bytes) * 16e9 / self.line_rate_bps as f64;
        self.base_rtt_ns as f64 + packets_ns
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn timers_go_off_at_ticks_and_take_one_more() {
        let exact = Ticks::default();
        assert_eq!(exact.timer_ns(10, 7), 17);
        let ms = Ticks { every_ns: 1_000_000, phase_ns: 0 };
        // 2.3 ms are 3 ticks: 3 to 4 ms, as measured in Linux 6.12.
        assert_eq!(ms.timer_ns(40_000, 2_300_000), 4_000_000);
        assert_eq!(ms.timer_ns(999_999, 2_300_000), 4_000_000);
        assert_eq!(ms.timer_ns(1_000_000, 2_300_000), 5_000_000);
        // 200 ticks lie in the wheel's second level, of 8.
        assert_eq!(ms.timer_ns(0, 200_000_000), 208_000_000);
        let late = Ticks { phase_ns: 400_000, ..ms };
        assert_eq!(late.timer_ns(40_000, 2_300_000), 3_600_000);
    }

    proptest! {
        #[test]
        fn no_timer_is_early_or_much_too_late(
            every_ns in 1_u64..5_000_000,
            phase in 0_u64..5_000_000,
            now_ns in 0_u64..1_000_000_000,
            wait_ns in 0_u64..1_000_000_000,
        ) {
            let ticks = Ticks { every_ns, phase_ns: phase % every_ns };
            let late_ns = ticks.timer_ns(now_ns, wait_ns) - now_ns - wait_ns;
            let most = wait_ns / 7 + 2 * every_ns;
            prop_assert!(late_ns > 0 && late_ns <= most, "{late_ns}, at most {most}");
        }
    }
}
