//! Parquet files of integer columns, written the same way every time.

use crate::error::shown;
use crate::{AtomicFile, DataError};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_writer::ArrowWriterOptions;
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::schema::types::ColumnPath;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;

const ROW_GROUP_ROWS: usize = 1 << 20;

/// Writes columns to a file that appears when it is finished. Equal batches give equal bytes:
/// nothing in the file tells when, where or by how many threads it was made.
pub(crate) struct ParquetWriter {
    file: String,
    schema: SchemaRef,
    writer: ArrowWriter<AtomicFile>,
}

/// A column without nulls.
pub(crate) fn integer(name: &str, data_type: DataType) -> Field {
    Field::new(name, data_type, false)
}

impl ParquetWriter {
    pub(crate) fn create(path: &Path, columns: Vec<Field>) -> Result<Self, DataError> {
        let file = shown(path);
        let schema = Arc::new(Schema::new(columns));
        let options =
            ArrowWriterOptions::new().with_properties(properties()).with_skip_arrow_metadata(true);
        let writer = ArrowWriter::try_new_with_options(
            AtomicFile::create(path)?,
            Arc::clone(&schema),
            options,
        )
        .map_err(DataError::writing(&file))?;
        Ok(ParquetWriter { file, schema, writer })
    }

    /// Adds text to the footer.
    pub(crate) fn footer(&mut self, key: &str, value: String) {
        self.writer.append_key_value_metadata(KeyValue::new(key.to_owned(), value));
    }

    /// Adds rows: one array for each column, all of one length.
    pub(crate) fn write(&mut self, columns: Vec<ArrayRef>) -> Result<(), DataError> {
        let batch = RecordBatch::try_new(Arc::clone(&self.schema), columns);
        batch
            .map_err(Into::into)
            .and_then(|batch| self.writer.write(&batch))
            .map_err(DataError::writing(&self.file))
    }

    /// Ends the file and opens it to be read. It never gets a name.
    pub(crate) fn into_file(self) -> Result<File, DataError> {
        self.writer.into_inner().map_err(DataError::writing(&self.file))?.into_file()
    }

    /// Ends the file and puts it in its place.
    pub(crate) fn finish(self) -> Result<(), DataError> {
        self.writer.into_inner().map_err(DataError::writing(&self.file))?.commit()
    }
}

/// Times grow steadily, so their differences are short; the other columns have few values, or repeat
/// them, and suit a dictionary.
fn properties() -> WriterProperties {
    let time = ColumnPath::from("time_ns");
    WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .set_max_row_group_row_count(Some(ROW_GROUP_ROWS))
        .set_statistics_enabled(EnabledStatistics::Chunk)
        .set_column_dictionary_enabled(time.clone(), false)
        .set_column_encoding(time, Encoding::DELTA_BINARY_PACKED)
        .build()
}
