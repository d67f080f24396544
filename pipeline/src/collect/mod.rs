//! Collect: packet events become labelled traces.

pub mod capture_packets;
pub mod event_reading;
mod events_source;
pub mod folder;
pub mod generate;
mod labelling;
mod passed_over;
mod shared_reports;
mod sinks;
mod switch_pieces;
mod task;

pub use crate::counts::{Counts, EcnMarks, RealDrops};
pub use dropcast_collect::FOLLOWERS;
pub use events_source::Events;
pub use labelling::{Collected, collect, collect_in_memory};
pub(crate) use labelling::{
    Known, Labeller, add_counts, check_held, each_batch, left_out, no_arrivals, note_unmatched,
    report_notes, totals,
};
pub use sinks::{EvenTrace, InMemory, Sink, TraceFile, join_pieces};
pub use switch_pieces::{PieceEvents, SwitchPiece, cut_switches};
pub use task::{CollectTask, EventData, Labelled};
