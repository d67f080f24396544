//! Why events cannot be labelled.

/// Why events cannot be labelled.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CollectError {
    /// An event of a switch that is not described.
    #[error("event at {time_ns} ns: switch {switch_id} is not in the switch description")]
    UnknownSwitch {
        /// When.
        time_ns: u64,
        /// Which switch.
        switch_id: u16,
    },
    /// An event for a queue that the switch does not have.
    #[error("event at {time_ns} ns: switch {switch_id} has no port {port} with queue {queue}")]
    UnknownQueue {
        /// When.
        time_ns: u64,
        /// Which switch.
        switch_id: u16,
        /// Which port.
        port: u16,
        /// Which queue.
        queue: u8,
    },
    /// One packet's label stays open while too many others come.
    #[error(
        "more than {limit} rows wait for the label of row {row} (switch {switch_id}, port {port}, queue {queue}, arrived at {time_ns} ns): the scheduler starves its queue, or the trace lacks its departure; raise the limit on waiting rows, or compute departures from the line rate"
    )]
    TooManyWaiting {
        /// Most rows that may wait.
        limit: usize,
        /// The row whose label is open, counted from 0 over all arrivals.
        row: u64,
        /// Its switch.
        switch_id: u16,
        /// Its port.
        port: u16,
        /// Its queue.
        queue: u8,
        /// When it arrived.
        time_ns: u64,
    },
}
