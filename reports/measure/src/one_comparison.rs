//! Whether a forest does more than one comparison.

use super::replay_section::ReplayTotals;
use super::verdict::Verdict;
use dropcast_replay::ReplayPolicy;
use serde::{Deserialize, Serialize};

/// Credence with one comparison against Credence with the model, on the measured rows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OneComparison {
    /// What is compared.
    pub feature: String,
    /// A drop is predicted above this, per mille of the buffer.
    pub threshold_permille: u32,
    /// Bytes that are transmitted more with it than with the model; negative if fewer.
    pub more_bytes: i64,
    /// Whether it transmits no fewer bytes than the model.
    pub does_as_well: bool,
    /// Whether it was chosen on rows that are not measured.
    pub chosen_on_other_rows: bool,
}

impl OneComparison {
    /// The verdict's best comparison against the replay of the model; none if either is missing.
    pub(super) fn new((verdict, total): (&Verdict, &ReplayTotals)) -> Option<Self> {
        let of = verdict.level_threshold.as_ref()?;
        let is_credence = |policy: ReplayPolicy| policy == ReplayPolicy::Credence;
        let model = total.policies.iter().find(|section| is_credence(section.policy))?;
        // Counts of one replay differ by less than 2^63.
        let more_bytes = of.sent.bytes.wrapping_sub(model.sent.bytes).cast_signed();
        Some(OneComparison {
            feature: of.feature.clone(),
            threshold_permille: of.threshold_permille,
            more_bytes,
            does_as_well: more_bytes >= 0,
            chosen_on_other_rows: of.other_rows.is_some(),
        })
    }
}
