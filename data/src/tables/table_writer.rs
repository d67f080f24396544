//! Tables of any columns as Parquet, written the same way every time.

use super::column_writer::ColumnWriter;
use crate::DataError;
use arrow_array::{ArrayRef, BooleanArray, Float64Array, StringArray, UInt64Array};
use arrow_schema::{DataType, Field};
use std::path::Path;
use std::sync::Arc;

/// A column of a table.
#[derive(Clone, Debug, PartialEq)]
pub enum TableColumn {
    /// Texts.
    Text(Vec<Option<String>>),
    /// Whole numbers.
    Integer(Vec<Option<u64>>),
    /// Numbers.
    Number(Vec<Option<f64>>),
    /// Truth values.
    Flag(Vec<bool>),
}

/// Writes named columns of one length, and `footer` as a key and a text in the file's footer. The
/// same table gives the same bytes.
///
/// # Errors
/// If the file cannot be written, or the columns differ in length.
pub fn write_table(
    path: &Path,
    columns: Vec<(&str, TableColumn)>,
    footer: (&str, String),
) -> Result<(), DataError> {
    let mut writer = TableWriter::create(path, &columns)?;
    writer.writer.footer(footer.0, footer.1);
    writer.write(columns)?;
    writer.finish()
}

/// Writes a table piece by piece. The file appears when it is finished; the same rows give the same
/// bytes, however they are cut into pieces.
pub struct TableWriter {
    writer: ColumnWriter,
}

impl TableWriter {
    /// Starts the file that will be at `path`, with the names and types of `columns`; their values
    /// are not written.
    ///
    /// # Errors
    /// If it cannot be created.
    pub fn create(path: &Path, columns: &[(&str, TableColumn)]) -> Result<Self, DataError> {
        let fields = columns.iter().map(|(name, column)| {
            let is_nullable = !matches!(column, TableColumn::Flag(_));
            Field::new(*name, column.data_type(), is_nullable)
        });
        Ok(TableWriter { writer: ColumnWriter::create(path, fields.collect(), None)? })
    }

    /// Adds rows: the columns that the file was created with, of one length.
    ///
    /// # Errors
    /// If they cannot be written.
    pub fn write(&mut self, columns: Vec<(&str, TableColumn)>) -> Result<(), DataError> {
        self.writer.write(columns.into_iter().map(|(_, column)| column.into_array()).collect())
    }

    /// Ends the file and puts it in its place.
    ///
    /// # Errors
    /// If it cannot be written; nothing is left behind then.
    pub fn finish(self) -> Result<(), DataError> {
        self.writer.finish()
    }
}

impl TableColumn {
    fn data_type(&self) -> DataType {
        match self {
            TableColumn::Text(_) => DataType::Utf8,
            TableColumn::Integer(_) => DataType::UInt64,
            TableColumn::Number(_) => DataType::Float64,
            TableColumn::Flag(_) => DataType::Boolean,
        }
    }

    fn into_array(self) -> ArrayRef {
        match self {
            TableColumn::Text(values) => Arc::new(StringArray::from(values)),
            TableColumn::Integer(values) => Arc::new(UInt64Array::from(values)),
            TableColumn::Number(values) => Arc::new(Float64Array::from(values)),
            TableColumn::Flag(values) => Arc::new(BooleanArray::from(values)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_table_gives_the_same_bytes_and_uneven_columns_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.parquet");
        let write = |numbers: Vec<Option<f64>>| {
            let columns = vec![
                ("name", TableColumn::Text(vec![Some("a".to_owned()), None])),
                ("rows", TableColumn::Integer(vec![Some(1), None])),
                ("share", TableColumn::Number(numbers)),
                ("chosen", TableColumn::Flag(vec![true, false])),
            ];
            write_table(&path, columns, ("key", "text".to_owned()))?;
            Ok::<_, DataError>(std::fs::read(&path).unwrap())
        };
        let bytes = write(vec![None, Some(0.5)]).unwrap();
        assert_eq!(write(vec![None, Some(0.5)]).unwrap(), bytes);
        assert!(write(vec![None]).is_err());
        assert_eq!(std::fs::read(&path).unwrap(), bytes, "what was there is left");
    }

    #[test]
    fn pieces_give_the_bytes_of_the_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("t.parquet");
        let rows = |range: std::ops::Range<u64>| {
            vec![("time_ns", TableColumn::Integer(range.map(Some).collect()))]
        };
        let write = |cuts: &[u64]| {
            let mut writer = TableWriter::create(&path, &rows(0..0)).unwrap();
            cuts.windows(2).for_each(|cut| writer.write(rows(cut[0]..cut[1])).unwrap());
            assert!(!path.exists() || std::fs::remove_file(&path).is_ok());
            writer.finish().unwrap();
            std::fs::read(&path).unwrap()
        };
        assert_eq!(write(&[0, 7, 5_000]), write(&[0, 5_000]));
    }
}
