//! Proportional rate reduction (RFC 6937), with the slow-start reduction bound, as ns-3's
//! `TcpPrrRecovery` does it.

/// Bytes delivered and sent since a recovery began.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RateReduction {
    delivered: u64,
    sent: u64,
    /// `RecoverFS`: what was unacknowledged when it began.
    flight: u64,
    /// Whether numbers wrap as in ns-3.
    wraps: bool,
}

impl RateReduction {
    /// A recovery begins with this many unacknowledged bytes.
    pub(crate) fn begin(&mut self, unacknowledged_bytes: u64, wraps: bool) {
        *self = RateReduction {
            flight: unacknowledged_bytes.max(1),
            wraps,
            ..RateReduction::default()
        };
    }

    pub(crate) fn sent(&mut self, bytes: u64) {
        self.sent += bytes;
    }

    /// The window after an acknowledgement of this many delivered bytes (RFC 6937, section 3).
    pub(crate) fn window_bytes(
        &mut self,
        delivered: u64,
        in_flight: u64,
        ssthresh: u64,
        segment: u64,
        acknowledges_repeated: bool,
    ) -> u64 {
        self.delivered += delivered;
        let may_send = if in_flight > ssthresh {
            // In ns-3 the product has 32 bits. It wraps for windows of 64 KiB and more, and then little
            // is sent until the flight has fallen to the threshold.
            let share = if self.wraps {
                u64::from((self.delivered as u32).wrapping_mul(ssthresh as u32))
            } else {
                self.delivered * ssthresh
            };
            share.div_ceil(self.flight).saturating_sub(self.sent)
        } else {
            let limit = match self.delivered.checked_sub(self.sent) {
                _ if !acknowledges_repeated => delivered,
                Some(ahead) => ahead.max(delivered) + segment,
                // In ns-3 the difference wraps, and is negative with the segment.
                None if !self.wraps => delivered + segment,
                None => segment.saturating_sub(self.sent - self.delivered),
            };
            limit.min(ssthresh - in_flight)
        };
        // The first one forces a retransmission.
        let least = if self.sent > 0 { 0 } else { segment };
        in_flight + may_send.max(least)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_above_the_threshold_sends_in_proportion_to_what_is_delivered() {
        let mut reduction = RateReduction::default();
        reduction.begin(100, true);
        // RFC 6937's example in spirit: ssthresh is half the flight, so every second delivery
        // sends one.
        let mut in_flight = 100;
        let mut sent = 0;
        for _ in 0..40 {
            in_flight -= 1;
            let window = reduction.window_bytes(1, in_flight, 50, 1, false);
            reduction.sent(window - in_flight);
            sent += window - in_flight;
            in_flight = window;
        }
        assert_eq!(sent, 20);
    }

    #[test]
    fn below_the_threshold_it_sends_what_was_delivered_and_one_more_after_a_repeated_one() {
        let mut reduction = RateReduction::default();
        reduction.begin(10, true);
        reduction.sent(1);
        assert_eq!(reduction.window_bytes(1, 3, 5, 1, false), 4);
        assert_eq!(reduction.window_bytes(1, 2, 5, 1, true), 4);
        assert_eq!(reduction.window_bytes(9, 4, 5, 1, true), 5, "never above the threshold");
    }

    #[test]
    fn the_product_wraps_as_in_ns3() {
        let mut reduction = RateReduction::default();
        reduction.begin(200_000, true);
        // 50,000 * 100,000 - 2^32 = 705,032,704, of 200,000.
        assert_eq!(reduction.window_bytes(50_000, 150_000, 100_000, 1_400, false), 153_526);
        reduction.begin(200_000, false);
        assert_eq!(reduction.window_bytes(50_000, 150_000, 100_000, 1_400, false), 175_000);
    }

    #[test]
    fn after_a_repeated_one_it_sends_less_by_what_it_sent_ahead() {
        let mut reduction = RateReduction::default();
        reduction.begin(10_000, true);
        reduction.sent(3_000);
        // 1,000 of 3,000 are delivered: ahead by two segments, so that none is sent.
        assert_eq!(reduction.window_bytes(1_000, 2_000, 9_000, 1_000, true), 2_000);
        assert_eq!(
            reduction.window_bytes(1_500, 2_000, 9_000, 1_000, true),
            2_500,
            "by half of one"
        );
        assert_eq!(reduction.window_bytes(500, 2_000, 9_000, 1_000, true), 3_500, "not ahead");
    }
}
