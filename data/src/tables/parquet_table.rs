//! Parquet files.

mod compact;
mod footer;
mod pages;
mod part;

use super::batch::BATCH_ROWS;
use crate::DataError;
use crate::io::{FileHash, guarded, is_out_of_memory};
use arrow_array::RecordBatch;
use arrow_schema::{DataType, FieldRef, Schema, SchemaRef};
pub(crate) use footer::PARQUET_MAGIC;
use footer::bad_footer;
use pages::{REMEDY, bad_page};
use parquet::arrow::arrow_reader::{
    ArrowReaderOptions, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder,
};
use parquet::arrow::{ProjectionMask, parquet_to_arrow_schema};
use parquet::basic::Type;
use parquet::errors::ParquetError;
pub(crate) use part::fetch_rows;
use part::groups_of;
use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::ops::Range;
use std::sync::Arc;

/// A Parquet file whose footer has been read.
pub(crate) struct ParquetTable {
    file: String,
    /// For what the library does not check.
    opened: File,
    hash: FileHash,
    builder: ParquetRecordBatchReaderBuilder<File>,
    schema: SchemaRef,
    /// The rows to read; `None` for all.
    kept: Option<Range<u64>>,
}

/// The batches of some columns.
pub(crate) struct ParquetBatches {
    file: String,
    hash: Option<FileHash>,
    reader: ParquetRecordBatchReader,
    rows_left: u64,
}

impl ParquetTable {
    /// Reads the footer. Ignores Arrow's own copy of the schema, so that a column has its Parquet
    /// type; but durations are known by it alone.
    pub(crate) fn open(file: &str, opened: File, hash: FileHash) -> Result<Self, DataError> {
        let again = opened.try_clone().map_err(DataError::io(file, "be read"))?;
        if let Some(bad) = attempt(file, || bad_footer(&opened))? {
            return Err(DataError::file(file, bad.to_string(), bad.hint()));
        }
        let options = ArrowReaderOptions::new().with_skip_arrow_metadata(true);
        let builder = attempt(file, || {
            ParquetRecordBatchReaderBuilder::try_new_with_options(opened, options)
        })?;
        let schema = with_durations(&builder);
        Ok(ParquetTable { file: file.to_owned(), opened: again, hash, builder, schema, kept: None })
    }

    /// The columns.
    pub(crate) fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// The text under a key of the footer.
    pub(crate) fn metadata(&self, key: &str) -> Option<&str> {
        let pairs = self.builder.metadata().file_metadata().key_value_metadata()?;
        pairs.iter().find(|pair| pair.key == key)?.value.as_deref()
    }

    /// Number of rows.
    pub(crate) fn rows(&self) -> u64 {
        self.builder.metadata().file_metadata().num_rows().try_into().unwrap_or(0)
    }

    /// Reads only these rows, which the file must have.
    pub(crate) fn keep(&mut self, rows: Range<u64>) {
        self.kept = Some(rows);
    }

    /// Starts to read the columns at `roots`, ascending.
    pub(crate) fn read(self, roots: &[usize]) -> Result<ParquetBatches, DataError> {
        let all = self.rows();
        let ParquetTable { file, opened, hash, mut builder, kept, .. } = self;
        let rows_left = kept.as_ref().map_or(all, |rows| rows.end - rows.start);
        let mut groups = 0..builder.metadata().num_row_groups();
        if let Some(rows) = kept {
            let (has_them, first) = groups_of(builder.metadata(), &rows);
            let count = |rows: u64| usize::try_from(rows).unwrap_or(usize::MAX);
            builder = builder
                .with_row_groups(has_them.clone().collect())
                .with_offset(count(rows.start.saturating_sub(first)))
                .with_limit(count(rows_left));
            groups = has_them;
        }
        let is_read = |root: usize| roots.binary_search(&root).is_ok();
        let bad = attempt(&file, || bad_page(&opened, builder.metadata(), groups, is_read))?;
        if let Some((column, bad)) = bad {
            let problem = format!("has a page in column {column:?} that {bad}");
            return Err(DataError::file(&file, problem, bad.hint()));
        }
        let mask = ProjectionMask::roots(builder.parquet_schema(), roots.iter().copied());
        // A file of few bytes may repeat a long word in each row.
        let columns = builder.parquet_schema();
        let has_words = (0..columns.num_columns()).any(|leaf| {
            let is_word = columns.column(leaf).physical_type() == Type::BYTE_ARRAY;
            is_word && is_read(columns.get_column_root_idx(leaf))
        });
        let rows = if has_words { BATCH_ROWS / 16 } else { BATCH_ROWS };
        let reader =
            attempt(&file, || builder.with_projection(mask).with_batch_size(rows).build())?;
        Ok(ParquetBatches { file, hash: Some(hash), reader, rows_left })
    }
}

impl ParquetBatches {
    /// The next rows of the chosen columns; `None` after the last.
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

    /// The hash of the file.
    pub(crate) fn hash(&mut self) -> Result<String, DataError> {
        let hash = self.hash.take().map_or_else(|| Ok(String::new()), FileHash::wait);
        hash.map_err(DataError::io(&self.file, "be hashed"))
    }
}

/// The schema. Parquet has no type for durations: only Arrow's copy of the schema distinguishes them from whole
/// numbers, and has their unit.
fn with_durations(builder: &ParquetRecordBatchReaderBuilder<File>) -> SchemaRef {
    let plain = builder.schema();
    let pairs = builder.metadata().file_metadata().key_value_metadata();
    // A copy that cannot be read is of no use.
    let copy = guarded(|| parquet_to_arrow_schema(builder.parquet_schema(), pairs));
    let Ok(Ok(copy)) = copy else { return plain.clone() };
    let is_duration = |field: &&FieldRef| matches!(field.data_type(), DataType::Duration(_));
    let durations = copy.fields().iter().filter(is_duration);
    let durations: BTreeMap<&String, &FieldRef> =
        durations.map(|field| (field.name(), field)).collect();
    if durations.is_empty() {
        return plain.clone();
    }
    let typed = |field: &FieldRef| FieldRef::clone(durations.get(field.name()).unwrap_or(&field));
    Arc::new(Schema::new(plain.fields().iter().map(typed).collect::<Vec<_>>()))
}

const BROKEN: &str =
    "is not a whole Parquet file; it is damaged or incomplete, make or copy it again";

/// Runs a step of the Parquet library. On damaged files it may panic as well as fail (some of its
/// checks are assertions, and the profile keeps overflow checks on). Both are errors of the file.
fn attempt<T>(file: &str, step: impl FnOnce() -> Result<T, ParquetError>) -> Result<T, DataError> {
    let stopped = |message| Err(ParquetError::General(format!("the reader stopped: {message}")));
    guarded(step).unwrap_or_else(stopped).map_err(|source| {
        let file = file.to_owned();
        // What the system says is no damage: too many open files, a disk that fails.
        match of_system(&source) {
            Some(source) => DataError::Io { file, doing: "be read", source },
            None => DataError::Parquet { file, problem: BROKEN, source },
        }
    })
}

/// The system's error, if the library failed because of one. It hands on what is read in batches as text.
fn of_system(error: &ParquetError) -> Option<io::Error> {
    if is_out_of_memory(error) {
        return Some(io::ErrorKind::OutOfMemory.into());
    }
    let text = error.to_string();
    let (_, code) = text.strip_suffix(')')?.rsplit_once("(os error ")?;
    code.parse().ok().map(io::Error::from_raw_os_error)
}
