//! Tables of columns, as Parquet or Arrow IPC stores them, or another program has them in memory.

use super::arrow_batches::{ArrowBatches, ArrowInput};
use super::arrow_file::ArrowFile;
use super::arrow_stream::ArrowStream;
use super::batch::BATCH_ROWS;
use super::cell::may_be_integers;
use super::frame::{Frame, FrameBatches};
use super::parquet_table::{ParquetBatches, ParquetTable};
use crate::DataError;
use crate::io::{FileHash, TextInput};
use arrow_array::{Array, RecordBatch};
use arrow_schema::{DataType, SchemaRef};
use std::fs::File;
use std::ops::Range;

/// A table of which only the columns are known yet.
pub(crate) struct Table {
    file: String,
    schema: SchemaRef,
    columns: Vec<String>,
    stored: Stored,
}

enum Stored {
    Parquet(Box<ParquetTable>),
    Arrow(Box<ArrowInput>),
    Frame(Frame),
}

/// The batches of some columns.
pub(crate) struct TableBatches {
    source: Source,
    /// The places in the table of the columns that batches have, ascending.
    roots: Vec<usize>,
    /// Whether batches have all columns.
    whole: bool,
}

enum Source {
    Parquet(Box<ParquetBatches>),
    Arrow(Box<ArrowBatches>),
    Frame(FrameBatches),
    Closed,
}

impl Table {
    /// Reads the footer of a Parquet file.
    pub(crate) fn parquet(file: &str, opened: File, hash: FileHash) -> Result<Self, DataError> {
        let table = ParquetTable::open(file, opened, hash)?;
        let schema = SchemaRef::clone(table.schema());
        Table::new(file, schema, Stored::Parquet(Box::new(table)))
    }

    /// Reads the schema of an Arrow IPC stream.
    pub(crate) fn arrow_stream(file: &str, input: TextInput) -> Result<Self, DataError> {
        let (stream, schema) = ArrowStream::start(file, input)?;
        Table::new(file, schema, Stored::Arrow(Box::new(ArrowInput::Stream(stream))))
    }

    /// Reads the footer of an Arrow IPC file.
    pub(crate) fn arrow_file(file: &str, opened: File, hash: FileHash) -> Result<Self, DataError> {
        let (opened, schema) = ArrowFile::open(file, opened, hash)?;
        Table::new(file, schema, Stored::Arrow(Box::new(ArrowInput::File(opened))))
    }

    /// The columns of a frame.
    pub(crate) fn frame(frame: &Frame) -> Result<Self, DataError> {
        let schema = SchemaRef::clone(frame.schema());
        Table::new(frame.name(), schema, Stored::Frame(frame.clone()))
    }

    /// Refuses two columns of one name: it would not be known which is meant.
    fn new(file: &str, schema: SchemaRef, stored: Stored) -> Result<Self, DataError> {
        let columns: Vec<String> =
            schema.fields().iter().map(|field| field.name().clone()).collect();
        let mut sorted: Vec<&String> = columns.iter().collect();
        sorted.sort_unstable();
        if let Some(pair) = sorted.windows(2).find(|pair| pair[0] == pair[1]) {
            let problem = format!("has two columns named {:?}", pair[0]);
            return Err(DataError::file(file, problem, "rename or remove one"));
        }
        Ok(Table { file: file.to_owned(), schema, columns, stored })
    }

    /// Names of the columns.
    pub(crate) fn columns(&self) -> &[String] {
        &self.columns
    }

    /// Place of a column.
    pub(crate) fn find(&self, column: &str) -> Option<usize> {
        self.columns.iter().position(|name| name == column)
    }

    /// The text under a key of the table's metadata.
    pub(crate) fn metadata(&self, key: &str) -> Option<&str> {
        match &self.stored {
            Stored::Parquet(table) => table.metadata(key),
            Stored::Arrow(_) | Stored::Frame(_) => {
                self.schema.metadata().get(key).map(String::as_str)
            }
        }
    }

    /// Number of rows; unknown of Arrow IPC, which has no count.
    pub(crate) fn rows(&self) -> Option<u64> {
        match &self.stored {
            Stored::Parquet(table) => Some(table.rows()),
            Stored::Arrow(_) => None,
            Stored::Frame(frame) => Some(frame.rows()),
        }
    }

    /// Reads only these rows of a Parquet file, which must have them.
    pub(crate) fn keep(&mut self, rows: Range<u64>) {
        if let Stored::Parquet(table) = &mut self.stored {
            table.keep(rows);
        }
    }

    /// The type of the column at `root`.
    pub(crate) fn data_type(&self, root: usize) -> &DataType {
        self.schema.field(root).data_type()
    }

    /// Refuses columns that cannot hold integers.
    pub(crate) fn require_integers(&self, roots: &[usize]) -> Result<(), DataError> {
        match roots.iter().find(|&&root| !may_be_integers(self.data_type(root))) {
            Some(&root) => Err(self.wrong_type(root, "expected an integer type; write it as one")),
            None => Ok(()),
        }
    }

    /// The column at `root` is of a type that cannot be read.
    pub(crate) fn wrong_type(&self, root: usize, hint: &str) -> DataError {
        let field = self.schema.field(root);
        let problem = format!("column {:?} is of type {}", field.name(), field.data_type());
        DataError::file(&self.file, problem, hint)
    }

    /// Starts to read the columns at `roots`.
    pub(crate) fn read(self, mut roots: Vec<usize>) -> Result<TableBatches, DataError> {
        roots.sort_unstable();
        roots.dedup();
        let (source, whole) = match self.stored {
            Stored::Parquet(table) => (Source::Parquet(Box::new(table.read(&roots)?)), false),
            Stored::Arrow(input) => (Source::Arrow(Box::new(ArrowBatches::new(*input))), true),
            Stored::Frame(frame) => (Source::Frame(FrameBatches::new(frame, BATCH_ROWS)), true),
        };
        Ok(TableBatches { source, roots, whole })
    }
}

impl TableBatches {
    /// The next rows, at most [`BATCH_ROWS`]; `None` after the last.
    pub(crate) fn next_batch(&mut self) -> Result<Option<RecordBatch>, DataError> {
        match &mut self.source {
            Source::Closed => Ok(None),
            Source::Parquet(batches) => batches.next_batch(),
            Source::Arrow(batches) => batches.next_batch(),
            Source::Frame(batches) => Ok(batches.next()),
        }
    }

    /// The column that is at `root` in the table.
    pub(crate) fn column<'a>(&self, batch: &'a RecordBatch, root: usize) -> &'a dyn Array {
        if self.whole {
            return batch.column(root).as_ref();
        }
        let place = self.roots.iter().position(|&chosen| chosen == root);
        batch.column(place.expect("only chosen columns are asked for")).as_ref()
    }

    /// Gives up memory, thread and file. Nothing more can be read.
    pub(crate) fn close(&mut self) {
        self.source = Source::Closed;
    }

    /// The hash of the input as stored, after the last batch.
    pub(crate) fn hash(&mut self) -> Result<String, DataError> {
        match &mut self.source {
            Source::Closed => Ok(String::new()),
            Source::Parquet(batches) => batches.hash(),
            Source::Arrow(batches) => batches.hash(),
            Source::Frame(batches) => Ok(batches.sha256().to_owned()),
        }
    }
}
