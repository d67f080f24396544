//! How events are read and a labelled trace is collected.

use serde::{Deserialize, Serialize};

/// What drains the virtual queues.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[derive(strum::Display, strum::EnumString, strum::VariantNames)]
#[strum(serialize_all = "kebab-case", parse_err_ty = UnknownWord, parse_err_fn = UnknownWord::of::<Departures>)]
pub enum Departures {
    /// The departures of the trace: correct if the real switch ran LQD.
    Observed,
    /// Each port sends at line rate: arrivals suffice, whatever policy the real switch ran.
    #[default]
    LineRate,
}

/// Which packet virtual LQD drops when its buffer is full.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[derive(strum::Display, strum::EnumString, strum::VariantNames)]
#[strum(serialize_all = "kebab-case", parse_err_ty = UnknownWord, parse_err_fn = UnknownWord::of::<Victim>)]
pub enum Victim {
    /// The tail packet of the longest queue, the arriving packet not counted. Credence's
    /// thresholds (Algorithm 1) move exactly as these queues do.
    #[default]
    Tail,
    /// The arriving packet counts as the tail of its queue: if that is the longest, it is dropped.
    Arrival,
}

/// What the labels are of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[derive(strum::Display, strum::EnumString, strum::VariantNames)]
#[strum(serialize_all = "kebab-case", parse_err_ty = UnknownWord, parse_err_fn = UnknownWord::of::<Label>)]
pub enum Label {
    /// Longest Queue Drop.
    #[default]
    Lqd,
    /// The optimum, which knows all arrivals.
    Opt,
    /// No drops: whether three packets of the packet's flow follow it within two base RTTs.
    Follows,
}

impl Label {
    fn is_default(&self) -> bool {
        *self == Label::default()
    }
}

/// What to do with a row that cannot be used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum OnBadRow {
    /// Stop with an error that names the row.
    #[default]
    Fail,
    /// Skip the row and count it; use what is before the end of a capture that is cut off; in a folder, pass over
    /// files without events.
    Skip,
}

/// How virtual LQD is run over a trace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CollectSettings {
    /// What drains the queues.
    #[serde(default)]
    pub departures: Departures,
    /// Which packet is dropped.
    #[serde(default)]
    pub victim: Victim,
    /// Whether a packet must leave at least one byte free to be accepted, as in the Credence
    /// authors' ns-3 code.
    #[serde(default)]
    pub strict_fit: bool,
    /// Whose drops are the labels.
    #[serde(default, rename = "expert", skip_serializing_if = "Label::is_default")]
    pub label: Label,
}

/// A word that no setting has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{found:?} is not one of {expected}")]
pub struct UnknownWord {
    found: String,
    expected: String,
}

impl UnknownWord {
    /// `word` is none of the settings `T`.
    pub(crate) fn of<T: strum::VariantNames>(word: &str) -> Self {
        UnknownWord { found: word.to_owned(), expected: T::VARIANTS.join(", ") }
    }
}
