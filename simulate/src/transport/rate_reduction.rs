//! Proportional rate reduction (RFC 6937), with the slow-start reduction bound, as ns-3's
//! `TcpPrrRecovery` does it.

/// Bytes delivered and sent since a recovery began.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RateReduction {
    delivered: u64,
    sent: u64,
    /// `RecoverFS`: what was unacknowledged when it began.
    flight: u64,
}

impl RateReduction {
    /// A recovery begins with this many unacknowledged bytes.
    pub(crate) fn begin(&mut self, unacknowledged_bytes: u64) {
        *self = RateReduction { flight: unacknowledged_bytes.max(1), ..RateReduction::default() };
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
            let share = u128::from(self.delivered) * u128::from(ssthresh);
            (share.div_ceil(u128::from(self.flight)) as u64).saturating_sub(self.sent)
        } else {
            let limit = if acknowledges_repeated {
                self.delivered.saturating_sub(self.sent).max(delivered) + segment
            } else {
                delivered
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
        reduction.begin(100);
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
        reduction.begin(10);
        reduction.sent(1);
        assert_eq!(reduction.window_bytes(1, 3, 5, 1, false), 4);
        assert_eq!(reduction.window_bytes(1, 2, 5, 1, true), 4);
        assert_eq!(reduction.window_bytes(9, 4, 5, 1, true), 5, "never above the threshold");
    }
}
