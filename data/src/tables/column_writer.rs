//! Files of columns, written the same way every time.

use crate::io::shown_output;
use crate::{AtomicFile, DataError};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_ipc::writer::{FileWriter, StreamWriter};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_writer::ArrowWriterOptions;
use parquet::basic::{Compression, Encoding, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::schema::types::ColumnPath;
use std::fs::File;
use std::io::{BufWriter, Stdout, stdout};
use std::path::Path;
use std::sync::Arc;

const ROW_GROUP_ROWS: usize = 1 << 20;

/// Writes columns to a file that appears when it is finished: Parquet, or Arrow IPC if the name ends
/// in `.arrow`, `.feather` or `.ipc`; or an Arrow IPC stream to standard output if it is `-`. Equal
/// batches give equal bytes: nothing in the file shows when, where or by how many threads it was made.
pub(crate) struct ColumnWriter {
    file: String,
    schema: SchemaRef,
    sink: Sink,
}

enum Sink {
    Parquet(Box<ArrowWriter<AtomicFile>>),
    ArrowFile(Box<FileWriter<AtomicFile>>),
    ArrowStream(Box<StreamWriter<BufWriter<Stdout>>>),
}

/// A column without nulls.
pub(crate) fn integer(name: &str, data_type: DataType) -> Field {
    Field::new(name, data_type, false)
}

/// Whether what is written to `path` is Arrow IPC. Its metadata stands at its beginning, and it is
/// written in one pass.
pub(crate) fn is_arrow(path: &Path) -> bool {
    path.as_os_str() == "-" || has_extension(path, &["arrow", "feather", "ipc"])
}

/// Whether a name ends in one of these, in capitals or not.
pub fn has_extension(path: &Path, known: &[&str]) -> bool {
    path.extension().is_some_and(|has| known.iter().any(|known| has.eq_ignore_ascii_case(known)))
}

impl ColumnWriter {
    /// Starts a file with these columns, and with `metadata` as far as it is known: a key and a text.
    pub(crate) fn create(
        path: &Path,
        columns: Vec<Field>,
        metadata: Option<(&str, String)>,
    ) -> Result<Self, DataError> {
        let file = shown_output(path);
        if has_extension(path, &["csv", "json", "jsonl", "tsv", "txt"]) {
            return Err(DataError::file(
                &file,
                "cannot be written as text",
                "name it .parquet or .arrow",
            ));
        }
        let schema = Arc::new(Schema::new(columns));
        if !is_arrow(path) {
            let options = ArrowWriterOptions::new().with_properties(properties());
            let options = options.with_skip_arrow_metadata(true);
            let target = AtomicFile::create(path)?;
            let writer = ArrowWriter::try_new_with_options(target, Arc::clone(&schema), options)
                .map_err(DataError::writing(&file))?;
            let mut writer = ColumnWriter { file, schema, sink: Sink::Parquet(Box::new(writer)) };
            metadata.into_iter().for_each(|(key, text)| writer.footer(key, text));
            return Ok(writer);
        }
        let metadata = metadata.into_iter().map(|(key, text)| (key.to_owned(), text)).collect();
        let schema = Arc::new((*schema).clone().with_metadata(metadata));
        let sink = if path.as_os_str() == "-" {
            StreamWriter::try_new_buffered(stdout(), &schema).map(Box::new).map(Sink::ArrowStream)
        } else {
            FileWriter::try_new(AtomicFile::create(path)?, &schema)
                .map(Box::new)
                .map(Sink::ArrowFile)
        };
        let sink = sink.map_err(ParquetError::from).map_err(DataError::writing(&file))?;
        Ok(ColumnWriter { file, schema, sink })
    }

    /// Adds metadata that is known only now. [Arrow IPC](is_arrow) keeps what it began with.
    pub(crate) fn footer(&mut self, key: &str, value: String) {
        if let Sink::Parquet(writer) = &mut self.sink {
            writer.append_key_value_metadata(KeyValue::new(key.to_owned(), value));
        }
    }

    /// Adds rows: one array for each column, all of one length.
    pub(crate) fn write(&mut self, columns: Vec<ArrayRef>) -> Result<(), DataError> {
        let batch = RecordBatch::try_new(Arc::clone(&self.schema), columns);
        let written = batch.map_err(ParquetError::from).and_then(|batch| match &mut self.sink {
            Sink::Parquet(writer) => writer.write(&batch),
            Sink::ArrowFile(writer) => Ok(writer.write(&batch)?),
            Sink::ArrowStream(writer) => Ok(writer.write(&batch)?),
        });
        written.map_err(DataError::writing(&self.file))
    }

    /// Ends a Parquet file and opens it to be read. It never gets a name.
    pub(crate) fn into_file(self) -> Result<Option<File>, DataError> {
        let Sink::Parquet(writer) = self.sink else { return Ok(None) };
        let file = writer.into_inner().map_err(DataError::writing(&self.file))?;
        file.into_file().map(Some)
    }

    /// Ends the file and puts it in its place.
    pub(crate) fn finish(self) -> Result<(), DataError> {
        let file = match self.sink {
            Sink::Parquet(writer) => writer.into_inner().map(Some),
            Sink::ArrowFile(writer) => writer.into_inner().map(Some).map_err(Into::into),
            Sink::ArrowStream(mut writer) => {
                writer.finish().and_then(|()| writer.flush()).map(|()| None).map_err(Into::into)
            }
        };
        file.map_err(DataError::writing(&self.file))?.map_or(Ok(()), AtomicFile::commit)
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
