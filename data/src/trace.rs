//! Reading and writing labelled traces (`docs/trace.md`).

mod arrow;
mod artifact;
mod columns;
mod footer;
mod reader;
mod table;
mod writer;

pub use arrow::{TraceColumns, record_batch, trace_frame, trace_schema};
pub use reader::TraceReader;
pub use writer::TraceWriter;

pub(crate) use artifact::is_artifact;
pub(crate) use footer::{TRACE_KEY, meta_in_footer};
pub(crate) use table::meta_of;
