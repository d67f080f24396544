//! The formats of packet events in text or packets.

use super::format::EventFormat;
use super::{capture, ns3, rows};

/// A file has the first format that it looks like. Every file looks like the last.
const FORMATS: [EventFormat; 3] = [ns3::FORMAT, capture::FORMAT, rows::FORMAT];

impl EventFormat {
    /// The format of this name.
    pub fn named(name: &str) -> Option<Self> {
        FORMATS.into_iter().find(|format| format.name == name)
    }

    /// The format of a file with these first bytes and this name.
    pub(super) fn of(head: &[u8], name: &str) -> Self {
        let found = FORMATS.into_iter().find(|format| (format.looks_like)(head, name));
        found.expect("every file looks like the last")
    }
}
