//! The advice of a verdict in a few values, for logs and monitoring.

use dropcast_measure::verdict::{AdviceDecision, Verdict};

/// What to do.
pub(crate) struct AdviceValue<'a> {
    /// "set", "keep", "undecided", or "none" where nothing was compared or a check failed.
    pub(crate) decision: &'static str,
    /// The policy to set, as the registry names it; none to keep what the switch has.
    pub(crate) policy: Option<&'a str>,
    /// Its alpha, infinite of Complete Sharing; none if it has none.
    pub(crate) alpha: Option<f64>,
}

pub(crate) fn advice(verdict: &Verdict) -> AdviceValue<'_> {
    let advice = &verdict.advice;
    let policy = advice.policy.as_deref();
    AdviceValue {
        decision: match advice.decision {
            AdviceDecision::None => "none",
            AdviceDecision::Undecided => "undecided",
            AdviceDecision::Keep => "keep",
            AdviceDecision::Set => "set",
        },
        policy,
        alpha: advice.alpha.or((policy == Some("complete-sharing")).then_some(f64::INFINITY)),
    }
}
