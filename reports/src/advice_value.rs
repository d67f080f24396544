//! The advice of a verdict in one value, for logs and monitoring.

use dropcast_measure::verdict::{RivalKind, Verdict};

/// The policy to set.
pub(crate) struct AdviceValue<'a> {
    /// As the registry names it.
    pub(crate) policy: &'a str,
    /// Its alpha, if it is Dynamic Thresholds with one; infinite of Complete Sharing.
    pub(crate) alpha: Option<f64>,
}

/// None to keep what the switch does, or if a check failed.
pub(crate) fn advice(verdict: &Verdict) -> Option<AdviceValue<'_>> {
    let policy = verdict.deploy.as_deref().filter(|_| verdict.is_trusted())?;
    let mut rivals = verdict.rivals.policies.iter();
    let rival = rivals.find(|rival| rival.policy == policy && rival.kind == RivalKind::Alpha);
    let alpha = rival.map(|rival| rival.alpha.unwrap_or(f64::INFINITY));
    Some(AdviceValue { policy, alpha })
}
