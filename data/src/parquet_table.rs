//! Parquet files as tables of integer columns.

use crate::DataError;
use crate::guard::guarded;
use arrow_array::{Array, RecordBatch};
use arrow_schema::Schema;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderOptions, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder,
};
use parquet::errors::ParquetError;
use std::fs::File;
use std::ops::Range;

/// Rows of a batch, at most.
pub(crate) const BATCH_ROWS: usize = 65_536;

/// A Parquet file whose footer has been read.
pub(crate) struct ParquetTable {
    file: String,
    builder: ParquetRecordBatchReaderBuilder<File>,
    columns: Vec<String>,
    /// The rows to read; `None` for all.
    kept: Option<Range<u64>>,
}

/// The batches of some columns.
pub(crate) struct ParquetBatches {
    file: String,
    reader: ParquetRecordBatchReader,
    /// The chosen columns, ascending: the order in which batches have them.
    roots: Vec<usize>,
    rows_left: u64,
}

impl ParquetTable {
    /// Reads the footer. Ignores Arrow's own copy of the schema, so that a column has its Parquet
    /// type.
    pub(crate) fn open(file: &str, opened: File) -> Result<Self, DataError> {
        let options = ArrowReaderOptions::new().with_skip_arrow_metadata(true);
        let builder = attempt(file, || {
            ParquetRecordBatchReaderBuilder::try_new_with_options(opened, options)
        })?;
        let columns = builder.schema().fields().iter().map(|field| field.name().clone()).collect();
        Ok(ParquetTable { file: file.to_owned(), builder, columns, kept: None })
    }

    /// Names of the columns.
    pub(crate) fn columns(&self) -> &[String] {
        &self.columns
    }

    /// The text under a key of the footer.
    pub(crate) fn footer(&self, key: &str) -> Option<&str> {
        let pairs = self.builder.metadata().file_metadata().key_value_metadata()?;
        pairs.iter().find(|pair| pair.key == key)?.value.as_deref()
    }

    /// Number of rows.
    pub(crate) fn rows(&self) -> u64 {
        self.builder.metadata().file_metadata().num_rows().try_into().unwrap_or(0)
    }

    /// Number of row groups.
    pub(crate) fn row_groups(&self) -> usize {
        self.builder.metadata().num_row_groups()
    }

    /// Names and types of the columns.
    pub(crate) fn schema(&self) -> &Schema {
        self.builder.schema()
    }

    /// What errors call it.
    pub(crate) fn file(&self) -> &str {
        &self.file
    }

    /// Reads only these rows, which the file must have.
    pub(crate) fn keep(&mut self, rows: Range<u64>) {
        self.kept = Some(rows);
    }

    /// Starts to read the columns at `roots`.
    pub(crate) fn read(self, mut roots: Vec<usize>) -> Result<ParquetBatches, DataError> {
        let all = self.rows();
        let ParquetTable { file, mut builder, kept, .. } = self;
        let rows_left = kept.as_ref().map_or(all, |rows| rows.end - rows.start);
        if let Some(rows) = kept {
            let count = |rows: u64| usize::try_from(rows).unwrap_or(usize::MAX);
            builder = builder.with_offset(count(rows.start)).with_limit(count(rows_left));
        }
        roots.sort_unstable();
        roots.dedup();
        let mask = ProjectionMask::roots(builder.parquet_schema(), roots.iter().copied());
        let reader =
            attempt(&file, || builder.with_projection(mask).with_batch_size(BATCH_ROWS).build())?;
        Ok(ParquetBatches { file, reader, roots, rows_left })
    }
}

impl ParquetBatches {
    /// The next rows; `None` after the last.
    pub(crate) fn next_batch(&mut self) -> Result<Option<RecordBatch>, DataError> {
        let reader = &mut self.reader;
        let batch = attempt(&self.file, || Ok(reader.next().transpose()?))?;
        let rows = batch.as_ref().map_or(0, |batch| batch.num_rows() as u64);
        if rows > self.rows_left || (rows == 0 && self.rows_left > 0) {
            let problem = "has more or fewer rows than its footer says";
            return Err(DataError::file(&self.file, problem, REMEDY));
        }
        self.rows_left -= rows;
        Ok(batch)
    }

    /// The column that is at `root` in the file.
    pub(crate) fn column<'a>(&self, batch: &'a RecordBatch, root: usize) -> &'a dyn Array {
        let place = self.roots.iter().position(|&chosen| chosen == root);
        batch.column(place.expect("only chosen columns are asked for")).as_ref()
    }
}

const REMEDY: &str = "it is damaged or incomplete, make or copy it again";
const BROKEN: &str =
    "is not a whole Parquet file; it is damaged or incomplete, make or copy it again";

/// Runs a step of the Parquet library. On damaged files it may panic as well as fail (some of its
/// checks are assertions, and the profile keeps overflow checks on). Both are errors of the file.
fn attempt<T>(file: &str, step: impl FnOnce() -> Result<T, ParquetError>) -> Result<T, DataError> {
    let stopped = |message| Err(ParquetError::General(format!("the reader stopped: {message}")));
    guarded(step).unwrap_or_else(stopped).map_err(|source| DataError::Parquet {
        file: file.to_owned(),
        problem: BROKEN,
        source,
    })
}
