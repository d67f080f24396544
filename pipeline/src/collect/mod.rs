//! Collect: packet events become labelled traces.

pub mod capture_packets;
mod counts;
pub mod event_reading;
mod events_source;
pub mod folder;
pub mod generate;
mod labelling;
pub(crate) mod manifest;
mod passed_over;
mod shared_reports;
mod switch_pieces;

pub use counts::{Counts, EcnMarks, RealDrops};
pub use events_source::Events;
pub use labelling::{
    Collected, collect, collect_frame, collect_in_memory, collect_piece, join_pieces,
};
pub(crate) use labelling::{
    ToldBeside, add_counts, count_departures, left_out, meta_of, no_arrivals, note_unmatched,
    tell_notes,
};
pub use switch_pieces::{SwitchPiece, cut_switches};
