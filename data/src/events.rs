//! Reading and writing packet events (`docs/events.md`).

mod arrow;
mod backlog;
mod capture;
mod captures;
mod clocks;
mod columns;
mod describe;
mod file_kind;
mod files;
mod format;
mod formats;
mod gate;
mod ingress_rate;
mod kind;
mod ns3;
mod reader;
mod rows;
mod rule_use;
mod sightings;
mod source;
mod table;
mod taps;
mod time;
mod time_unit;
mod writer;

pub use arrow::event_frame;
pub use columns::EventColumns;
pub use describe::{describe, summarize_capture};
pub use file_kind::{FileKind, TableShape};
pub use files::{EventFiles, switch_in_path};
pub use format::{EventFormat, EventOptions};
pub use gate::Problem;
pub use ingress_rate::OverRate;
pub use reader::EventReader;
pub use time_unit::TimeUnit;
pub use writer::EventWriter;
