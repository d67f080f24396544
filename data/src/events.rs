//! Reading and writing packet events (`docs/events.md`).

mod columns;
mod footer;
mod gate;
mod reader;
mod rows;
mod table;
mod writer;

pub use columns::EventColumns;
pub use gate::OnBadRow;
pub use reader::{EventFormat, EventOptions, EventReader};
pub use writer::EventWriter;

pub(crate) use footer::switches_in_footer;
