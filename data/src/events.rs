//! Reading and writing packet events (`docs/events.md`).

mod arrow;
mod backlog;
mod capture;
mod captures;
mod clocks;
mod columns;
mod files;
mod footer;
mod gate;
mod ingress_rate;
mod kind;
mod ns3;
mod reader;
mod rows;
mod rule_use;
mod sightings;
mod table;
mod taps;
mod time;
mod writer;

pub use arrow::event_frame;
pub use columns::EventColumns;
pub use files::{EventFiles, switch_in_path};
pub use gate::{OnBadRow, Problem};
pub use ingress_rate::OverRate;
pub use reader::{EventFormat, EventOptions, EventReader};
pub use writer::EventWriter;

pub(crate) use footer::switches_in_footer;
pub(crate) use kind::text_column;
