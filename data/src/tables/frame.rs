//! Tables in memory: what other programs hand over as Arrow, read like a Parquet file.

use super::cell::{BadCells, Cell, is_integer, may_be_integers, read_column};
use crate::DataError;
use crate::io::hex;
use arrow_array::{Array, RecordBatch};
use arrow_schema::SchemaRef;
use sha2::{Digest, Sha256};
use std::sync::{Arc, OnceLock};

/// Rows of a slice that is hashed.
const SLICE_ROWS: usize = 65_536;

/// Arrow record batches in memory. They are shared, never copied; clones are the same frame.
#[derive(Clone, Debug)]
pub struct Frame(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    name: String,
    schema: SchemaRef,
    batches: Vec<RecordBatch>,
    sha256: OnceLock<String>,
}

impl Frame {
    /// A frame of these batches, all of this schema. `name` is what errors call it. The metadata of
    /// the schema serves as a Parquet footer does: description of the switches, kind of the trace.
    ///
    /// # Errors
    /// If a batch has another schema.
    pub fn new(
        name: impl Into<String>,
        schema: SchemaRef,
        batches: Vec<RecordBatch>,
    ) -> Result<Self, DataError> {
        let name = name.into();
        let same = |batch: &RecordBatch| batch.schema_ref().fields() == schema.fields();
        if !batches.iter().all(same) {
            let hint = "give it columns of one type each";
            return Err(DataError::file(&name, "has batches with different columns", hint));
        }
        let sha256 = OnceLock::new();
        Ok(Frame(Arc::new(Inner { name, schema, batches, sha256 })))
    }

    /// What errors call it.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// Its columns and metadata.
    pub fn schema(&self) -> &SchemaRef {
        &self.0.schema
    }

    /// Its batches.
    pub fn batches(&self) -> &[RecordBatch] {
        &self.0.batches
    }

    /// Number of rows.
    pub fn rows(&self) -> u64 {
        self.0.batches.iter().map(|batch| batch.num_rows() as u64).sum()
    }

    /// A column of 32-bit integers, also if they are stored as floats.
    ///
    /// # Errors
    /// If it is missing, or a value does not fit.
    pub fn integers(&self, column: &str) -> Result<Vec<u32>, DataError> {
        let columns = || self.0.schema.fields().iter().map(|field| field.name().clone());
        let place = self.0.schema.index_of(column).map_err(|_| DataError::MissingColumn {
            file: self.0.name.clone(),
            column: column.to_owned(),
            has: columns().collect(),
            hint: "a model predicts from a column for each of its features",
        })?;
        let data_type = self.0.schema.field(place).data_type();
        if !may_be_integers(data_type) {
            let problem = format!("column {column:?} is of type {data_type}");
            return Err(DataError::file(&self.0.name, problem, "expected an integer type"));
        }
        let mut values = Vec::new();
        for batch in &self.0.batches {
            let mut bad = BadCells::default();
            let part: Vec<u32> = read_column(batch.column(place).as_ref(), column, &mut bad);
            if let Some((row, (field, cell))) = bad.into_rows().next() {
                let row = (values.len() + row) as u64;
                let (file, problem) = (self.0.name.clone(), cell.to_string());
                return Err(DataError::Row { file, row, place: None, field, problem });
            }
            values.extend(part);
        }
        Ok(values)
    }

    /// SHA-256 of the columns by name, in hexadecimal: the same for the same values however they
    /// are cut into batches, whatever the order of the columns and their integer types. Columns of
    /// text count by their name alone. Found when it is first needed.
    pub(crate) fn sha256(&self) -> &str {
        self.0.sha256.get_or_init(|| self.hash())
    }

    fn hash(&self) -> String {
        let mut places: Vec<usize> = (0..self.0.schema.fields().len()).collect();
        places.sort_by_key(|&place| self.0.schema.field(place).name());
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let share = places.len().div_ceil(threads).max(1);
        let hashes: Vec<String> = std::thread::scope(|scope| {
            let hash_all = move |part: &[usize]| -> Vec<String> {
                part.iter().map(|&place| self.column_hash(place)).collect()
            };
            let begin = |part| {
                let thread = std::thread::Builder::new();
                (part, thread.spawn_scoped(scope, move || hash_all(part)))
            };
            let parts: Vec<_> = places.chunks(share).map(begin).collect();
            let done = parts.into_iter().map(|(part, thread)| match thread {
                Ok(thread) => thread.join().expect("hashing does not panic"),
                // The system has no thread for it.
                Err(_) => hash_all(part),
            });
            done.flatten().collect()
        });
        let mut all = Sha256::new();
        for (&place, hash) in places.iter().zip(hashes) {
            let name = self.0.schema.field(place).name();
            all.update((name.len() as u64).to_le_bytes());
            all.update(name);
            all.update(hash);
        }
        hex(&all.finalize())
    }

    /// The hash of a column. Integers are of 1 byte each if all fit, else of 4 or 8.
    fn column_hash(&self, place: usize) -> String {
        let mut hash = Sha256::new();
        let data_type = self.0.schema.field(place).data_type();
        if is_integer(data_type) {
            let slices = || self.slices(place);
            let fits = |most: u64| {
                slices()
                    .all(|slice| integers::<u64>(slice.as_ref()).iter().all(|&value| value <= most))
            };
            let width = match data_type.primitive_width() {
                None | Some(1) => 1,
                Some(_) if fits(u8::MAX.into()) => 1,
                Some(width) if width <= 4 || fits(u32::MAX.into()) => 4,
                Some(_) => 8,
            };
            let mut bytes = Vec::new();
            for slice in slices() {
                match width {
                    1 => bytes = integers(slice.as_ref()),
                    4 => little_endian(&integers(slice.as_ref()), u32::to_le_bytes, &mut bytes),
                    _ => little_endian(&integers(slice.as_ref()), u64::to_le_bytes, &mut bytes),
                }
                hash.update(&bytes);
            }
        } else if let Some(width) = data_type.primitive_width() {
            hash.update(data_type.to_string());
            for slice in self.slices(place) {
                let data = slice.to_data();
                let from = data.offset() * width;
                hash.update(&data.buffers()[0].as_slice()[from..from + data.len() * width]);
            }
        }
        hex(&hash.finalize())
    }

    /// A column in slices of a few rows.
    fn slices(&self, place: usize) -> impl Iterator<Item = arrow_array::ArrayRef> {
        self.0.batches.iter().flat_map(move |batch| {
            let column = batch.column(place);
            (0..column.len())
                .step_by(SLICE_ROWS)
                .map(move |from| column.slice(from, SLICE_ROWS.min(column.len() - from)))
        })
    }
}

/// One pass over a frame, in batches of some rows at most.
pub(crate) struct FrameBatches {
    frame: Frame,
    most: usize,
    batch: usize,
    row: usize,
}

impl FrameBatches {
    pub(crate) fn new(frame: Frame, most: usize) -> Self {
        FrameBatches { frame, most, batch: 0, row: 0 }
    }

    pub(crate) fn sha256(&self) -> &str {
        self.frame.sha256()
    }
}

impl Iterator for FrameBatches {
    type Item = RecordBatch;

    fn next(&mut self) -> Option<RecordBatch> {
        while let Some(batch) = self.frame.batches().get(self.batch) {
            let rows = (batch.num_rows() - self.row).min(self.most);
            if rows > 0 {
                let slice = batch.slice(self.row, rows);
                self.row += rows;
                return Some(slice);
            }
            self.batch += 1;
            self.row = 0;
        }
        None
    }
}

/// Values of a column of integers. What cannot be read, a null or a negative number, counts as 0: a
/// reader of that column refuses it.
fn integers<T: Cell>(array: &dyn Array) -> Vec<T> {
    read_column(array, "", &mut BadCells::default())
}

/// The values one after the other, in place of what `bytes` held.
fn little_endian<const N: usize, T: Copy>(
    values: &[T],
    to_bytes: impl Fn(T) -> [u8; N],
    bytes: &mut Vec<u8>,
) {
    bytes.resize(values.len() * N, 0);
    for (place, &value) in bytes.as_chunks_mut().0.iter_mut().zip(values) {
        *place = to_bytes(value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::{
        ArrayRef, BooleanArray, Float64Array, Int64Array, UInt8Array, UInt16Array, UInt32Array,
        UInt64Array,
    };

    fn frame(columns: Vec<(&str, ArrayRef)>, cut: usize) -> Frame {
        let all = RecordBatch::try_from_iter(columns).unwrap();
        let parts = vec![all.slice(0, cut), all.slice(cut, all.num_rows() - cut)];
        Frame::new("frame", all.schema(), parts).unwrap()
    }

    #[test]
    fn integers_may_be_stored_as_floats() {
        let of = |values: Vec<Option<f64>>| {
            let values: ArrayRef = Arc::new(Float64Array::from(values));
            frame(vec![("a", values)], 1).integers("a").map_err(|error| error.to_string())
        };
        assert_eq!(of(vec![Some(1.0), Some(4_294_967_295.0)]), Ok(vec![1, u32::MAX]));
        for wrong in [Some(0.5), Some(-1.0), Some(4_294_967_296.0), Some(f64::NAN), None] {
            assert!(of(vec![Some(1.0), wrong]).unwrap_err().contains("row 1: a is"), "{wrong:?}");
        }
    }

    #[test]
    fn the_hash_is_of_values_by_name() {
        let a: ArrayRef = Arc::new(UInt8Array::from(vec![1, 2, 3]));
        let wide: ArrayRef = Arc::new(Int64Array::from(vec![1, 2, 3]));
        let b: ArrayRef = Arc::new(UInt64Array::from(vec![1 << 40, 5, 6]));
        let first = frame(vec![("a", Arc::clone(&a)), ("b", Arc::clone(&b))], 1);
        let second = frame(vec![("b", Arc::clone(&b)), ("a", wide)], 2);
        assert_eq!(first.sha256(), second.sha256());
        let other: ArrayRef = Arc::new(UInt32Array::from(vec![1, 2, 4]));
        assert_ne!(first.sha256(), frame(vec![("a", other), ("b", Arc::clone(&b))], 1).sha256());
        let renamed = frame(vec![("a", b), ("b", a)], 1);
        assert_ne!(first.sha256(), renamed.sha256());
        for values in [vec![1, 0, 1], vec![1, 0, 300]] {
            let narrow: ArrayRef = Arc::new(UInt16Array::from(values.clone()));
            let wide: ArrayRef =
                Arc::new(Int64Array::from_iter_values(values.iter().map(|&v| v.into())));
            assert_eq!(
                frame(vec![("a", narrow)], 0).sha256(),
                frame(vec![("a", wide)], 1).sha256()
            );
        }
        let truth: ArrayRef = Arc::new(BooleanArray::from(vec![true, false, true]));
        let number: ArrayRef = Arc::new(UInt32Array::from(vec![1, 0, 1]));
        assert_eq!(frame(vec![("a", truth)], 1).sha256(), frame(vec![("a", number)], 2).sha256());
    }
}
