//! Where the rows of a trace came from.

use crate::InputNote;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One input, as it is recorded in whatever is made from it. Holds no path and no time of day, so
/// that equal inputs give equal bytes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct InputProvenance {
    /// File name without its directory; `-` for standard input.
    pub name: String,
    /// SHA-256 of the file's bytes as stored (compressed, if it is), lower-case hex.
    pub sha256: String,
    /// Rows used: events, or rows of a labelled trace.
    pub events: u64,
    /// Rows left out, by reason (`docs/events.md`).
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub skipped: BTreeMap<String, u64>,
    /// Rows used that are worth knowing about, by what they are (`docs/trace.md`).
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub notes: BTreeMap<InputNote, u64>,
    /// What a capture shows of itself and of those that were read with it; none of other inputs and in traces of earlier
    /// versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub capture: Option<CaptureFacts>,
}

/// What a capture shows of itself and of the captures that were read with it (`docs/trace.md`). Fields that are 0 are
/// absent in files.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct CaptureFacts {
    /// How many acknowledgements of TCP compare its clock with other captures': those here of data elsewhere, and those
    /// elsewhere of data here.
    #[serde(skip_serializing_if = "is_zero")]
    pub clock_compared: u64,
    /// By how much its clock is ahead of most other captures', at least, nanoseconds; negative if it is behind; 0 if
    /// nothing shows that they differ.
    #[serde(skip_serializing_if = "i64_is_zero")]
    pub clock_ahead_ns: i64,
    /// Packets that are copies of one shortly before in this capture.
    #[serde(skip_serializing_if = "is_zero")]
    pub own_copies: u64,
    /// Packets that are copies of one shortly before in another.
    #[serde(skip_serializing_if = "is_zero")]
    pub other_copies: u64,
    /// How long before the last packet of all captures its last one is, nanoseconds.
    #[serde(skip_serializing_if = "is_zero")]
    pub ends_early_ns: u64,
    /// Of all captures together, at the first: whether packets of several mix in time, so that their clocks matter.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub mixes: bool,
    /// Of all captures together, at the first: what acknowledgements tell of data that nobody captured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub taps: Option<TapFacts>,
}

/// What acknowledgements of TCP tell of data that nobody captured.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TapFacts {
    /// Flows whose data is acknowledged again and again.
    pub flows: u64,
    /// Those without any data in the captures.
    pub flows_without_data: u64,
    /// Ports at whose hosts acknowledgements of such flows arrive, and from whose hosts no packet was captured.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub silent_ports: Vec<SilentPort>,
}

/// A port from whose hosts no packet was captured, although others acknowledge what they send.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SilentPort {
    /// The switch.
    pub switch_id: u16,
    /// The port.
    pub port: u16,
    /// Acknowledgements of data that these hosts sent.
    pub acknowledgements: u64,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde's signature")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde's signature")]
fn i64_is_zero(number: &i64) -> bool {
    *number == 0
}
