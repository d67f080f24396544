//! What a reader of each format of packet events does.

use super::columns::EventPlaces;
use super::gate::Gate;
use super::rule_use::RuleUse;
use crate::capture::{CaptureSummary, Sight};
use crate::{DataError, EventBatch};

/// An opened file of packet events, or what is wrong with it.
pub(super) type Opened = Result<Box<dyn EventSource>, DataError>;

/// An opened file of packet events. No method has a default: each format implements all of them.
pub(super) trait EventSource: Send {
    /// The next good events, perhaps none; `None` after the last.
    fn next_batch(&mut self, gate: &mut Gate) -> Result<Option<EventBatch>, DataError>;

    /// Gives up memory, thread and file. Nothing more can be read.
    fn close(&mut self);

    /// The hash of the file, after the last event.
    fn hash(&mut self) -> Result<String, DataError>;

    /// Where its columns are, if it has columns.
    fn places(&self) -> Option<&EventPlaces>;

    /// Whether the format records drops of the real switch; true even if there were none.
    fn records_drops(&self) -> bool;

    /// The rules that assign packets to switches, ports and queues, and which have matched so far.
    fn rule_uses(&self) -> Vec<RuleUse>;

    /// What was read so far, if it is a capture.
    fn seen(&self) -> Option<Seen<'_>>;

    /// For a capture: the interface of each packet of the last batch, and its headers.
    fn take_sights(&mut self) -> Vec<(u32, Sight)>;
}

/// What was read of a capture.
pub(super) struct Seen<'a> {
    /// The switch and port of all packets; none where rules say them.
    pub(super) one_port: Option<(u16, u16)>,
    /// Of a capture without rules for ports.
    pub(super) summary: &'a CaptureSummary,
}
