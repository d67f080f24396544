//! Why events cannot be labelled.

use dropcast_data::{Departures, Pause};

/// Why events cannot be labelled.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CollectError {
    /// An event of a switch that is not described.
    #[error("event at {time_ns} ns: switch {switch_id} is not in the switch description")]
    UnknownSwitch {
        /// Its time.
        time_ns: u64,
        /// The switch.
        switch_id: u16,
    },
    /// An event for a queue that the switch does not have.
    #[error("event at {time_ns} ns: switch {switch_id} has no port {port} with queue {queue}")]
    UnknownQueue {
        /// Its time.
        time_ns: u64,
        /// The switch.
        switch_id: u16,
        /// The port.
        port: u16,
        /// The queue.
        queue: u8,
    },
    /// A batch without the user's own columns.
    #[error("expected {expected} columns of the user's own for each event")]
    OwnColumns {
        /// How many.
        expected: usize,
    },
    /// More pauses than a trace holds.
    #[error(
        "event at {time_ns} ns: it ends pause {} of a queue, a trace holds at most {}; trace a shorter time",
        Pause::MOST + 1, Pause::MOST
    )]
    TooManyPauses {
        /// Its time.
        time_ns: u64,
    },
    /// Too many rows wait for one packet's label.
    #[error(
        "more than {limit} rows wait for the label of row {row} (switch {switch_id}, port {port}, queue {queue}, arrived at {time_ns} ns): {}",
        advice(*departures)
    )]
    TooManyWaiting {
        /// Maximum number of waiting rows.
        limit: usize,
        /// The row without a label, counted from 0 over all arrivals.
        row: u64,
        /// Its switch.
        switch_id: u16,
        /// Its port.
        port: u16,
        /// Its queue.
        queue: u8,
        /// Its arrival time.
        time_ns: u64,
        /// Where departures come from.
        departures: Departures,
    },
}

/// What to do when too many rows wait.
fn advice(departures: Departures) -> &'static str {
    match departures {
        Departures::Observed => {
            "the trace lacks its departure, or the scheduler starves its queue; compute departures \
             from the line rate, or raise the limit on waiting rows"
        }
        Departures::LineRate => {
            "the scheduler starves its queue, or the queue is paused and not resumed; raise the limit on \
             waiting rows, or check the scheduler, the line rates and the pauses of the switch"
        }
    }
}
