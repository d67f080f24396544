//! Why a switch dropped a packet, and whether its buffer had to do with it.

use crate::DropReason;
use DropCause::{AtBuffer, BeforeBuffer};

/// Where a packet was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DropCause {
    /// It never came to the buffer: an access list, its TTL, no route.
    BeforeBuffer,
    /// At the buffer.
    AtBuffer(DropReason),
}

const ADMISSION: DropCause = AtBuffer(DropReason::Admission);
const POLICY: DropCause = AtBuffer(DropReason::Policy);
const UNSTATED: DropCause = AtBuffer(DropReason::Unstated);

/// Words of tables: ours, those of sFlow (sflow_drops.txt), and the groups of drops of What-Just-Happened.
const WORDS: [(&str, DropCause); 25] = [
    ("admission", ADMISSION),
    ("no_buffer_space", ADMISSION),
    ("tail_drop", ADMISSION),
    ("buffer", ADMISSION),
    ("push_out", AtBuffer(DropReason::PushOut)),
    ("policy", POLICY),
    ("red", POLICY),
    ("wred", POLICY),
    ("traffic_shaping", POLICY),
    ("unstated", UNSTATED),
    ("unknown", UNSTATED),
    ("unknown_buffer", UNSTATED),
    ("before_buffer", BeforeBuffer),
    ("acl", BeforeBuffer),
    ("ttl_exceeded", BeforeBuffer),
    ("l1", BeforeBuffer),
    ("l2", BeforeBuffer),
    ("l3", BeforeBuffer),
    ("router", BeforeBuffer),
    ("forwarding", BeforeBuffer),
    ("tunnel", BeforeBuffer),
    ("ip_header_corrupted", BeforeBuffer),
    ("ingress_vlan_filter", BeforeBuffer),
    ("blackhole_route", BeforeBuffer),
    ("pkt_too_big", BeforeBuffer),
];

impl DropCause {
    /// What is expected, for messages.
    pub(crate) const EXPECTED: &'static str =
        "admission, policy, push-out, unstated or before-buffer (docs/drops.md)";

    /// The cause that a word names, in upper or lower case, with any separators.
    pub(crate) fn of_word(word: &str) -> Option<Self> {
        let plain: String = word
            .chars()
            .map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' })
            .collect();
        WORDS.into_iter().find(|(known, _)| *known == plain).map(|(_, cause)| cause)
    }

    /// The cause with this number in sFlow's `drop_reason`. Codes 0 to 15 are those of ICMP.
    pub(crate) fn of_sflow(code: u32) -> Self {
        match code {
            // no_buffer_space
            259 => ADMISSION,
            // red, traffic_shaping
            260 | 261 => POLICY,
            // unknown, unknown_buffer
            256 | 287 => UNSTATED,
            _ => BeforeBuffer,
        }
    }
}
