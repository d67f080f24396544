//! Results of replays, as a section of the report.

use dropcast_forest::Confusion;
use dropcast_replay::{ReplayPolicy, Replayed, Sent};
use dropcast_switch::Alphas;
use serde::{Deserialize, Serialize};

/// Results of the replays of one or more switches.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ReplayTotals {
    /// All arrivals.
    pub arrived: Sent,
    /// Predictions against the trace's labels.
    pub confusion: Confusion,
    /// The error of the predictions.
    pub eta: EtaSection,
    /// What each policy transmitted, LQD first.
    pub policies: Vec<PolicySection>,
    /// Agreement of the replay's own LQD with the trace's labels.
    pub lqd_agreement: AgreementSection,
}

/// The error of the predictions (Credence paper, Definition 1), exact and bounded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct EtaSection {
    /// Numerator: `LQD(sigma)`.
    pub lqd: Sent,
    /// Denominator: `FollowLQD(sigma - predicted drops)`.
    pub follow_lqd: Sent,
    /// `eta` in packets, as the paper defines it.
    pub packets: Option<f64>,
    /// `1 / eta` in packets.
    pub packets_inverse: Option<f64>,
    /// `eta` in bytes.
    pub bytes: Option<f64>,
    /// `1 / eta` in bytes.
    pub bytes_inverse: Option<f64>,
    /// Theorem 2's formula, `(TN + FP) / (TN - min((N - 1) FN, TN))`, from the trace's labels; for several
    /// switches the sum of the numerators over the sum of the denominators. `eta` can exceed it
    /// (`lab/notes/theory.md`).
    pub bound: Option<f64>,
    /// `1 / bound`.
    pub bound_inverse: Option<f64>,
}

/// One policy's throughput.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PolicySection {
    /// The policy.
    pub policy: ReplayPolicy,
    /// What it transmitted.
    pub sent: Sent,
    /// Packets as a share of LQD's.
    pub packets_to_lqd: Option<f64>,
    /// Bytes as a share of LQD's.
    pub bytes_to_lqd: Option<f64>,
}

/// The trace's labels (truth) against the drops of the replay's LQD (prediction). They differ
/// if the labels were made with observed departures, which a replay does not know.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AgreementSection {
    /// `tp`: both drop; `fn`: only the label does; `fp`: only the replay does; `tn`: neither.
    pub confusion: Confusion,
    /// Share of packets on which they agree.
    pub share: Option<f64>,
    /// F1 of the replay's drops against the labels.
    pub f1: Option<f64>,
}

impl ReplayTotals {
    /// The results of some switches together.
    pub fn from_switches<'a>(switches: impl IntoIterator<Item = &'a Replayed>) -> Self {
        totals(switches.into_iter())
    }
}

/// The `alpha` of Dynamic Thresholds, unless it differs among the switches.
pub(crate) fn common_dt_alpha<'a>(
    switches: impl IntoIterator<Item = &'a Replayed>,
) -> Option<Alphas> {
    let mut alphas = switches.into_iter().map(|replayed| &replayed.dt_alpha);
    let first = alphas.next()?;
    alphas.all(|alpha| alpha == first).then(|| first.clone())
}

/// What the switches do by themselves, as the registry names it, unless they differ.
pub(crate) fn common_own_policy<'a>(
    switches: impl IntoIterator<Item = &'a Replayed>,
) -> Option<String> {
    let mut policies = switches.into_iter().map(|replayed| &replayed.own_policy);
    let first = policies.next()?;
    policies.all(|policy| policy == first).then(|| first.to_string())
}

/// The slack of Credence's thresholds, unless it differs among the switches.
pub(crate) fn common_slack_bytes<'a>(
    switches: impl IntoIterator<Item = &'a Replayed>,
) -> Option<u32> {
    let mut slacks = switches.into_iter().map(|replayed| replayed.slack_bytes);
    let first = slacks.next()?;
    slacks.all(|slack| slack == first).then_some(first)
}

/// The results of some switches together.
pub(crate) fn totals<'a>(switches: impl Iterator<Item = &'a Replayed>) -> ReplayTotals {
    let mut sum = Sum::default();
    switches.for_each(|replayed| sum.add(replayed));
    sum.finish()
}

#[derive(Default)]
struct Sum {
    arrived: Sent,
    sent: [Sent; ReplayPolicy::ALL.len()],
    followed: Sent,
    confusion: Confusion,
    agreement: Confusion,
    /// Numerator and denominator of Theorem 2's formula, summed over switches, each with its own number
    /// of ports.
    bound: (u64, u64),
}

impl Sum {
    fn add(&mut self, replayed: &Replayed) {
        self.arrived.add(replayed.arrived);
        self.sent.iter_mut().zip(replayed.sent).for_each(|(sum, sent)| sum.add(sent));
        self.followed.add(replayed.followed);
        self.confusion.merge(&replayed.confusion);
        self.agreement.merge(&replayed.agreement);
        let confusion = &replayed.confusion;
        self.bound.0 += confusion.tn + confusion.fp;
        self.bound.1 += confusion.eta_denominator(replayed.ports);
    }

    fn finish(self) -> ReplayTotals {
        let lqd = self.sent[0];
        let policies =
            ReplayPolicy::ALL.into_iter().zip(self.sent).map(|(policy, sent)| PolicySection {
                policy,
                sent,
                packets_to_lqd: ratio(sent.packets, lqd.packets),
                bytes_to_lqd: ratio(sent.bytes, lqd.bytes),
            });
        let agreed = self.agreement.tp + self.agreement.tn;
        ReplayTotals {
            arrived: self.arrived,
            confusion: self.confusion,
            eta: self.eta(),
            policies: policies.collect(),
            lqd_agreement: AgreementSection {
                confusion: self.agreement,
                share: ratio(agreed, self.agreement.total()),
                f1: self.agreement.f1(),
            },
        }
    }

    fn eta(&self) -> EtaSection {
        let (lqd, follow_lqd) = (self.sent[0], self.followed);
        EtaSection {
            lqd,
            follow_lqd,
            packets: ratio(lqd.packets, follow_lqd.packets),
            packets_inverse: ratio(follow_lqd.packets, lqd.packets),
            bytes: ratio(lqd.bytes, follow_lqd.bytes),
            bytes_inverse: ratio(follow_lqd.bytes, lqd.bytes),
            bound: ratio(self.bound.0, self.bound.1),
            bound_inverse: ratio(self.bound.1, self.bound.0),
        }
    }
}

pub(crate) fn ratio(numerator: u64, denominator: u64) -> Option<f64> {
    (denominator > 0).then(|| numerator as f64 / denominator as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use dropcast_switch::PolicySpec;

    fn replayed(ports: u16, confusion: Confusion, lqd: u64, followed: u64) -> Replayed {
        let sent = |packets| Sent { packets, bytes: packets * 100 };
        Replayed {
            ports,
            dt_alpha: Alphas::try_from(f64::from(ports)).expect("positive"),
            alpha_is_assumed: false,
            own_policy: PolicySpec::dt(Alphas::try_from(f64::from(ports)).expect("positive")),
            slack_bytes: u32::from(ports),
            arrived: sent(confusion.total()),
            sent: [sent(lqd); ReplayPolicy::ALL.len()],
            perfect_oracle: sent(lqd),
            followed: sent(followed),
            agreement: confusion,
            confusion,
        }
    }

    #[test]
    fn eta_and_its_bound_worked_by_hand() {
        let one = replayed(3, Confusion { tp: 2, fp: 4, tn: 86, fn_: 8 }, 90, 72);
        let eta = totals([&one].into_iter()).eta;
        assert_eq!((eta.packets, eta.packets_inverse), (Some(1.25), Some(0.8)));
        assert_eq!(eta.bound, Some(90.0 / (86.0 - 16.0)));
        assert_eq!(eta.bound, one.confusion.eta_bound(3));

        // The second switch's bound is infinite; both together are bounded by the sums.
        let two = replayed(20, Confusion { tp: 0, fp: 0, tn: 10, fn_: 5 }, 10, 8);
        assert_eq!(totals([&two].into_iter()).eta.bound, None);
        assert_eq!(totals([&two].into_iter()).eta.bound_inverse, Some(0.0));
        let both = totals([&one, &two].into_iter());
        assert_eq!(both.eta.bound, Some(100.0 / 70.0));
        assert_eq!(both.eta.packets, Some(100.0 / 80.0));
        assert_eq!(both.policies[4].packets_to_lqd, Some(1.0));
        assert_eq!(common_dt_alpha([&one, &one]).as_ref(), Some(&one.dt_alpha));
        assert_eq!(common_dt_alpha([&one, &two]), None);
        assert_eq!(common_slack_bytes([&one, &one]), Some(one.slack_bytes));
        assert_eq!(common_slack_bytes([&one, &two]), None);
        assert_eq!(common_own_policy([&one, &one]).as_deref(), Some("dt:alpha=3"));
        assert_eq!(common_own_policy([&one, &two]), None);
    }

    #[test]
    fn nothing_replayed_has_no_ratios() {
        let none = totals(std::iter::empty());
        assert_eq!(
            (none.eta.packets, none.eta.bound, none.eta.packets_inverse),
            (None, None, None)
        );
        assert_eq!(none.policies[0].packets_to_lqd, None);
        assert_eq!(none.lqd_agreement.share, None);
    }
}
