//! Tables of integer columns: Parquet files, and frames in memory.

use crate::DataError;
use crate::cell::is_integer;
use crate::frame::Frame;
use crate::parquet_table::{BATCH_ROWS, ParquetBatches, ParquetTable};
use arrow_array::{Array, RecordBatch};
use arrow_schema::{DataType, Schema};

/// A table whose schema is known.
pub(crate) enum ColumnTable {
    Parquet(ParquetTable),
    Frame(Frame, Vec<String>),
}

/// The batches of some columns, of at most [`BATCH_ROWS`] rows.
pub(crate) enum ColumnBatches {
    Parquet(ParquetBatches),
    Frame { frame: Frame, batch: usize, row: usize },
}

impl From<ParquetTable> for ColumnTable {
    fn from(table: ParquetTable) -> Self {
        ColumnTable::Parquet(table)
    }
}

impl From<Frame> for ColumnTable {
    fn from(frame: Frame) -> Self {
        let columns = frame.schema().fields().iter().map(|field| field.name().clone()).collect();
        ColumnTable::Frame(frame, columns)
    }
}

impl ColumnTable {
    /// Names of the columns.
    pub(crate) fn columns(&self) -> &[String] {
        match self {
            ColumnTable::Parquet(table) => table.columns(),
            ColumnTable::Frame(_, columns) => columns,
        }
    }

    /// Place of a column.
    pub(crate) fn find(&self, column: &str) -> Option<usize> {
        self.columns().iter().position(|name| name == column)
    }

    /// The text under a key of a file's footer, or of a frame's metadata.
    pub(crate) fn footer(&self, key: &str) -> Option<&str> {
        match self {
            ColumnTable::Parquet(table) => table.footer(key),
            ColumnTable::Frame(frame, _) => frame.schema().metadata().get(key).map(String::as_str),
        }
    }

    fn schema(&self) -> &Schema {
        match self {
            ColumnTable::Parquet(table) => table.schema(),
            ColumnTable::Frame(frame, _) => frame.schema(),
        }
    }

    /// The type of the column at `root`.
    pub(crate) fn data_type(&self, root: usize) -> &DataType {
        self.schema().field(root).data_type()
    }

    /// Refuses columns that do not hold integers.
    pub(crate) fn require_integers(&self, roots: &[usize]) -> Result<(), DataError> {
        match roots.iter().find(|&&root| !is_integer(self.data_type(root))) {
            Some(&root) => Err(self.wrong_type(root, "expected an integer type; write it as one")),
            None => Ok(()),
        }
    }

    /// The column at `root` is of a type that cannot be read.
    pub(crate) fn wrong_type(&self, root: usize, hint: &str) -> DataError {
        let field = self.schema().field(root);
        let problem = format!("column {:?} is of type {}", field.name(), field.data_type());
        let file = match self {
            ColumnTable::Parquet(table) => table.file(),
            ColumnTable::Frame(frame, _) => frame.name(),
        };
        DataError::file(file, problem, hint)
    }

    /// Starts to read the columns at `roots`.
    pub(crate) fn read(self, roots: Vec<usize>) -> Result<ColumnBatches, DataError> {
        Ok(match self {
            ColumnTable::Parquet(table) => ColumnBatches::Parquet(table.read(roots)?),
            ColumnTable::Frame(frame, _) => ColumnBatches::Frame { frame, batch: 0, row: 0 },
        })
    }
}

impl ColumnBatches {
    /// The next rows; `None` after the last.
    pub(crate) fn next_batch(&mut self) -> Result<Option<RecordBatch>, DataError> {
        let (frame, place, row) = match self {
            ColumnBatches::Parquet(batches) => return batches.next_batch(),
            ColumnBatches::Frame { frame, batch, row } => (frame, batch, row),
        };
        while let Some(batch) = frame.batches().get(*place) {
            let left = batch.num_rows() - *row;
            if left > 0 {
                let rows = left.min(BATCH_ROWS);
                let slice = batch.slice(*row, rows);
                *row += rows;
                return Ok(Some(slice));
            }
            *place += 1;
            *row = 0;
        }
        Ok(None)
    }

    /// The column that is at `root` in the table.
    pub(crate) fn column<'a>(&self, batch: &'a RecordBatch, root: usize) -> &'a dyn Array {
        match self {
            ColumnBatches::Parquet(batches) => batches.column(batch, root),
            ColumnBatches::Frame { .. } => batch.column(root).as_ref(),
        }
    }
}
