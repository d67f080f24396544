//! Checks of a verdict, and what each finds.

use serde::{Deserialize, Serialize};

/// What can be wrong with a trace, or with the replay of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[derive(strum::IntoStaticStr, strum::VariantArray)]
#[strum(serialize_all = "lowercase")]
pub enum Check {
    /// Whether the clocks of captures agree, and times are exact.
    Clocks,
    /// Whether all links to the switch were captured.
    Taps,
    /// Whether packets are there once.
    Copies,
    /// Whether no link brings more than its line rate, and links are not overloaded for long.
    Rates,
    /// Whether packets were captured before the buffer.
    Backlog,
    /// Whether files are whole.
    Files,
    /// Whether all rows could be used: their ports are known.
    Rows,
    /// Whether the replay of the switch drops what the switch reports.
    Drops,
    /// Whether the replay of LQD drops what the labels say.
    Labels,
}

/// What a check found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CheckStatus {
    /// The traces do not have what it needs.
    NotChecked,
    /// Nothing is wrong.
    Ok,
    /// Something is, and may bear on the numbers.
    Doubtful,
    /// The numbers are not those of this switch.
    Failed,
}

/// A check, and what it found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckResult {
    /// The check.
    pub check: Check,
    /// What it found.
    pub status: CheckStatus,
    /// What that is known from, without a capital letter and a full stop.
    pub evidence: String,
    /// What to do about it; null if nothing is wrong.
    pub remedy: Option<String>,
}

/// What a check found on one trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CheckFinding {
    pub(super) status: CheckStatus,
    pub(super) evidence: String,
    pub(super) remedy: Option<String>,
}

impl Check {
    /// Every check, in the order in which they are shown.
    pub const ALL: &'static [Check] = <Check as strum::VariantArray>::VARIANTS;

    /// Its name, as in files.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

impl CheckStatus {
    /// Its name in words.
    pub const fn name(self) -> &'static str {
        match self {
            CheckStatus::NotChecked => "not checked",
            CheckStatus::Ok => "ok",
            CheckStatus::Doubtful => "doubtful",
            CheckStatus::Failed => "failed",
        }
    }

    /// 0 if nothing is wrong, 1 if it is doubtful, 2 if it failed; none if it was not checked.
    pub const fn level(self) -> Option<u8> {
        match self {
            CheckStatus::NotChecked => None,
            CheckStatus::Ok => Some(0),
            CheckStatus::Doubtful => Some(1),
            CheckStatus::Failed => Some(2),
        }
    }
}

impl CheckFinding {
    pub(super) fn ok(evidence: impl Into<String>) -> Self {
        CheckFinding { status: CheckStatus::Ok, evidence: evidence.into(), remedy: None }
    }

    pub(super) fn not_checked(evidence: impl Into<String>) -> Self {
        CheckFinding { status: CheckStatus::NotChecked, ..CheckFinding::ok(evidence) }
    }

    pub(super) fn doubtful(evidence: String, remedy: impl Into<String>) -> Self {
        CheckFinding { status: CheckStatus::Doubtful, evidence, remedy: Some(remedy.into()) }
    }

    pub(super) fn failed(evidence: String, remedy: impl Into<String>) -> Self {
        CheckFinding { status: CheckStatus::Failed, ..CheckFinding::doubtful(evidence, remedy) }
    }

    /// Failed if it `is_bad`, else doubtful.
    pub(super) fn wrong(is_bad: bool, evidence: String, remedy: impl Into<String>) -> Self {
        if is_bad {
            CheckFinding::failed(evidence, remedy)
        } else {
            CheckFinding::doubtful(evidence, remedy)
        }
    }

    pub(super) fn of(self, check: Check) -> CheckResult {
        let CheckFinding { status, evidence, remedy } = self;
        CheckResult { check, status, evidence, remedy }
    }
}

/// A part of a whole that is more than chance.
pub(super) fn is_large(part: u64, whole: u64) -> bool {
    u128::from(part) * 100 >= u128::from(whole)
}
