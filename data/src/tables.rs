//! Tables of columns in Parquet, Arrow IPC, text or memory.

mod arrow_batches;
mod arrow_claims;
mod arrow_file;
mod arrow_stream;
mod batch;
mod cell;
mod column_writer;
mod csv;
mod frame;
mod input;
mod parquet_table;
mod table;
mod table_writer;

pub(crate) use batch::BATCH_ROWS;
pub(crate) use cell::{
    BadCell, BadCells, Cell, excerpt, is_integer, is_text, note_empty, read_column, text_column,
};
pub use column_writer::has_extension;
pub(crate) use column_writer::{ColumnWriter, integer, is_arrow};
pub(crate) use csv::{CsvRow, CsvRows};
pub use frame::Frame;
pub(crate) use input::{Expect, Input};
pub(crate) use parquet_table::fetch_rows;
pub(crate) use table::{Table, TableBatches};
pub use table_writer::{TableColumn, TableWriter, write_table};
