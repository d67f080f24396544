//! Whether an oracle can still be trusted: its precision, measured online against virtual LQD.

/// When predicted drops are followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DriftRule {
    /// The memory of a precision is 2 to the power of this, in predictions; at most 24.
    pub window_bits: u32,
    /// Below this precision predictions are no longer followed, in units of 1 / [`DriftMonitor::ONE`].
    pub fall_below: u32,
    /// From this precision on they are followed, in the same units.
    pub recover_at: u32,
}

/// The rule that `docs/decision.md` measures.
impl Default for DriftRule {
    fn default() -> Self {
        let one = DriftMonitor::ONE;
        DriftRule { window_bits: 6, fall_below: one / 5 * 4, recover_at: one / 8 * 7 }
    }
}

impl DriftRule {
    /// The memory of a precision, in predictions.
    pub fn window(self) -> u32 {
        1 << self.window_bits
    }
}

/// Measures the precision of predicted drops online, and says whether to follow them.
///
/// Virtual LQD runs beside the switch anyway, on all arrivals, so each predicted drop can be checked:
/// LQD drops the packet (rejects it or pushes it out) or transmits it. The precision is an
/// exponentially weighted share, with a memory of `W` predictions ([`DriftRule::window`]):
///
/// ```text
/// precision -= precision / W    a drop is predicted
/// precision += 1 / W            LQD drops a packet whose drop was predicted; at most 1
/// ```
///
/// So a prediction counts as wrong until LQD confirms it. That needs no other event, and bounds the
/// damage: from a precision of 1, `W * ln(1 / fall_below)` wrong predictions in a row end the trust,
/// even if all come before LQD has transmitted the first of these packets.
///
/// Predictions are followed from a precision of `recover_at` until it falls below `fall_below`, and
/// measured all the time. At first none is followed: an oracle has to prove itself. A wrongly
/// predicted drop costs the packet; a right one makes room for at most one other, and for none if
/// the buffer does not fill up before its queue drains. So a precision of one half cannot pay, and
/// the default asks for more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct DriftMonitor {
    rule: DriftRule,
    precision: u32,
    is_trusted: bool,
}

impl DriftMonitor {
    /// A precision of 1: precisions are in units of 2^-24.
    pub const ONE: u32 = 1 << 24;

    /// A monitor that has seen nothing and trusts nothing.
    pub fn new(rule: DriftRule) -> Self {
        DriftMonitor { rule, ..Self::default() }
    }

    /// A drop is predicted; returns whether to follow the prediction.
    pub fn predicted(&mut self) -> bool {
        self.precision -= self.precision >> self.rule.window_bits;
        if self.precision < self.rule.fall_below {
            self.is_trusted = false;
        }
        self.is_trusted
    }

    /// LQD dropped a packet whose drop was predicted, whether or not the prediction was followed.
    pub fn confirmed(&mut self) {
        let more = Self::ONE >> self.rule.window_bits;
        self.precision = (self.precision + more).min(Self::ONE);
        if self.precision >= self.rule.recover_at {
            self.is_trusted = true;
        }
    }

    /// The share of the last predicted drops that LQD confirmed, in units of 1 / [`Self::ONE`].
    pub fn precision(&self) -> u32 {
        self.precision
    }

    /// Whether predictions are followed.
    pub fn is_trusted(&self) -> bool {
        self.is_trusted
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Predictions until the trust changes, if LQD confirms each at once, or none.
    fn until_change(monitor: &mut DriftMonitor, confirms: bool) -> u32 {
        let before = monitor.is_trusted();
        (1..100_000)
            .find(|_| {
                monitor.predicted();
                if confirms {
                    monitor.confirmed();
                }
                monitor.is_trusted() != before
            })
            .expect("the trust changes")
    }

    #[test]
    fn an_oracle_proves_itself_and_loses_trust() {
        let mut monitor = DriftMonitor::new(DriftRule::default());
        assert!(!monitor.predicted());
        let rule = DriftRule::default();
        let share = |precision: u32| f64::from(precision) / f64::from(DriftMonitor::ONE);
        // 1 - (1 - 1/W)^n reaches r after W * ln(1 / (1 - r)) predictions.
        let window = f64::from(rule.window());
        let recovers = -window * (1.0 - share(rule.recover_at)).ln();
        let took = f64::from(until_change(&mut monitor, true));
        assert!((took - recovers).abs() < 2.0, "{took}");
        let falls = window * (share(rule.recover_at) / share(rule.fall_below)).ln();
        let took = f64::from(until_change(&mut monitor, false));
        assert!((took - falls).abs() < 2.0, "{took}");
        assert!(!monitor.predicted());
    }

    proptest! {
        /// The same rule in floating point.
        #[test]
        fn agrees_with_real_numbers(confirmations in prop::collection::vec(0_u32..3, 0..3000)) {
            let mut monitor = DriftMonitor::new(DriftRule::default());
            let (one, window) = (f64::from(DriftMonitor::ONE), f64::from(DriftRule::default().window()));
            let mut precision = 0.0_f64;
            for confirmed in confirmations {
                monitor.predicted();
                precision -= precision / window;
                for _ in 0..confirmed {
                    monitor.confirmed();
                    precision = (precision + 1.0 / window).min(1.0);
                }
                let measured = f64::from(monitor.precision()) / one;
                prop_assert!((measured - precision).abs() < 1e-3);
                let rule = DriftRule::default();
                let band = f64::from(rule.fall_below) / one - 1e-3
                    ..f64::from(rule.recover_at) / one + 1e-3;
                if !band.contains(&precision) {
                    prop_assert_eq!(monitor.is_trusted(), precision > band.start);
                }
            }
        }
    }
}
