//! Single values on their way in: integers that must fit their type.

use crate::{DropReason, EventKind, Outcome};
use arrow_array::cast::AsArray;
use arrow_array::types::{
    ArrowPrimitiveType, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
    UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use arrow_array::{Array, PrimitiveArray};
use arrow_buffer::BooleanBuffer;
use arrow_schema::DataType;
use std::collections::BTreeMap;

/// What is wrong with a value that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum BadCell {
    #[error("is empty, expected {0}")]
    Empty(&'static str),
    #[error("is {text:?}, expected {expected}")]
    NotANumber { text: String, expected: &'static str },
    #[error("is {value}, expected {expected}")]
    OutOfRange { value: String, expected: &'static str },
    #[error("is {text:?}, expected {expected}")]
    Unknown { text: String, expected: &'static str },
    #[error("matches no rule of [[capture.port]]: {0}; add a rule to the switch description")]
    NoPort(String),
    #[error(
        "of the mirror is missing: the packet has no usable time stamp of ERSPAN III (100 ns, or IEEE 1588 with a \
         subheader); leave out times = \"mirror\" of [capture] if such packets are expected"
    )]
    NoMirrorTime,
    #[error("are {got}, but the header line names {expected}")]
    FieldCount { got: usize, expected: usize },
}

impl BadCell {
    /// Skipped rows are counted under this name.
    pub(crate) fn reason(&self) -> &'static str {
        match self {
            BadCell::Empty(_) | BadCell::NoMirrorTime => "empty",
            BadCell::NotANumber { .. } => "not-a-number",
            BadCell::OutOfRange { .. } => "out-of-range",
            BadCell::Unknown { .. } => "not-understood",
            BadCell::NoPort(_) => "no-port",
            BadCell::FieldCount { .. } => "field-count",
        }
    }
}

/// A value that is an integer in a file.
pub(crate) trait Cell: Copy {
    /// What is expected, for messages.
    const EXPECTED: &'static str;
    /// Placeholder for an unreadable value; its row is not used.
    const FILLER: Self;
    fn from_u64(value: u64) -> Option<Self>;

    /// Reads a field of text, also with zeros behind a decimal point, as floats are printed. Quotes and white space
    /// around it must be gone.
    fn from_text(text: &[u8]) -> Result<Self, BadCell> {
        let expected = Self::EXPECTED;
        if text.is_empty() {
            return Err(BadCell::Empty(expected));
        }
        let (negative, digits) = match text {
            [b'-', digits @ ..] => (true, digits),
            digits => (false, digits),
        };
        let digits = without_zeros(digits);
        if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
            return Err(BadCell::NotANumber { text: excerpt(text), expected });
        }
        let add = |sum: Option<u64>, &digit: &u8| {
            sum?.checked_mul(10)?.checked_add(u64::from(digit - b'0'))
        };
        // Nineteen digits always fit in 64 bits.
        let value = if digits.len() < 20 {
            Some(digits.iter().fold(0, |sum, digit| sum * 10 + u64::from(digit - b'0')))
        } else {
            digits.iter().fold(Some(0), add)
        };
        let value = if negative { value.filter(|&value| value == 0) } else { value };
        value
            .and_then(Self::from_u64)
            .ok_or_else(|| BadCell::OutOfRange { value: excerpt(text), expected })
    }
}

macro_rules! integer_cell {
    ($($type:ty: $expected:literal,)*) => {$(
        impl Cell for $type {
            const EXPECTED: &'static str = $expected;
            const FILLER: Self = 0;
            fn from_u64(value: u64) -> Option<Self> {
                value.try_into().ok()
            }
        }
    )*};
}

integer_cell! {
    u8: "an integer from 0 to 255",
    u16: "an integer from 0 to 65535",
    u32: "an integer from 0 to 4294967295",
    u64: "an integer from 0 to 18446744073709551615",
}

impl Cell for bool {
    const EXPECTED: &'static str = "0 or 1";
    const FILLER: Self = false;
    fn from_u64(value: u64) -> Option<Self> {
        (value < 2).then_some(value == 1)
    }
}

impl Cell for Outcome {
    const EXPECTED: &'static str = "1 (departed), 2 (pushed out) or 3 (rejected)";
    const FILLER: Self = Outcome::Departed;
    fn from_u64(value: u64) -> Option<Self> {
        Outcome::from_code(value.try_into().ok()?)
    }
}

impl Cell for EventKind {
    const EXPECTED: &'static str = "0 (arrival), 1 (departure), 2 (drop), 3 (pause) or 4 (resume)";
    const FILLER: Self = EventKind::Arrival;
    fn from_u64(value: u64) -> Option<Self> {
        EventKind::from_code(value.try_into().ok()?)
    }
}

/// Zero is no drop.
impl Cell for Option<DropReason> {
    const EXPECTED: &'static str = "0 (not dropped), 1 (dropped, reason not stated), 2 (admission), \
                                    3 (push-out) or 4 (policy)";
    const FILLER: Self = None;
    fn from_u64(value: u64) -> Option<Self> {
        match value {
            0 => Some(None),
            code => DropReason::from_code(code.try_into().ok()?).map(Some),
        }
    }
}

/// The first values of a batch that could not be read, one for each row that has any.
#[derive(Debug, Default)]
pub(crate) struct BadCells(BTreeMap<usize, (String, BadCell)>);

impl BadCells {
    /// Notes a value; the first of a row counts.
    pub(crate) fn note(&mut self, row: usize, field: &str, cell: BadCell) {
        self.0.entry(row).or_insert_with(|| (field.to_owned(), cell));
    }

    /// By row, ascending.
    pub(crate) fn into_rows(self) -> impl Iterator<Item = (usize, (String, BadCell))> {
        self.0.into_iter()
    }
}

/// Whether a column of this type can hold integers that we read.
pub(crate) fn is_integer(data_type: &DataType) -> bool {
    data_type.is_integer() || *data_type == DataType::Boolean
}

/// Whether a column of this type holds text.
pub(crate) fn is_text(data_type: &DataType) -> bool {
    match data_type {
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => true,
        DataType::Dictionary(_, words) => is_text(words),
        _ => false,
    }
}

/// The words of a column of text; nothing of another type.
pub(crate) fn text_column(array: &dyn Array) -> Option<Vec<Option<&str>>> {
    is_text(array.data_type()).then(|| words(array))
}

/// The words of a column of text, each written out or, of a dictionary (a category of pandas), by its place there.
fn words(array: &dyn Array) -> Vec<Option<&str>> {
    match array.data_type() {
        DataType::LargeUtf8 => array.as_string::<i64>().iter().collect(),
        DataType::Utf8View => array.as_string_view().iter().collect(),
        DataType::Dictionary(..) => {
            let dictionary = array.as_any_dictionary();
            let known = words(dictionary.values());
            if known.is_empty() {
                return vec![None; array.len()];
            }
            let places = dictionary.normalized_keys().into_iter().enumerate();
            places.map(|(row, place)| known[place].filter(|_| array.is_valid(row))).collect()
        }
        _ => array.as_string::<i32>().iter().collect(),
    }
}

/// Whether a column of this type can hold integers that we read, also as floats.
pub(crate) fn may_be_integers(data_type: &DataType) -> bool {
    is_integer(data_type) || matches!(data_type, DataType::Float32 | DataType::Float64)
}

/// Without a decimal point that only zeros follow.
fn without_zeros(text: &[u8]) -> &[u8] {
    match text.iter().position(|&sign| sign == b'.') {
        Some(point) if text[point..].len() > 1 && text[point + 1..].iter().all(|&d| d == b'0') => {
            &text[..point]
        }
        _ => text,
    }
}

/// The values of a column that [`may_be_integers`]; those that do not fit are noted in `bad`.
pub(crate) fn read_column<T: Cell>(array: &dyn Array, field: &str, bad: &mut BadCells) -> Vec<T> {
    match array.data_type() {
        DataType::UInt8 => read_integers(array.as_primitive::<UInt8Type>(), field, bad),
        DataType::UInt16 => read_integers(array.as_primitive::<UInt16Type>(), field, bad),
        DataType::UInt32 => read_integers(array.as_primitive::<UInt32Type>(), field, bad),
        DataType::UInt64 => read_integers(array.as_primitive::<UInt64Type>(), field, bad),
        DataType::Int8 => read_integers(array.as_primitive::<Int8Type>(), field, bad),
        DataType::Int16 => read_integers(array.as_primitive::<Int16Type>(), field, bad),
        DataType::Int32 => read_integers(array.as_primitive::<Int32Type>(), field, bad),
        DataType::Int64 => read_integers(array.as_primitive::<Int64Type>(), field, bad),
        DataType::Float32 => {
            let values = array.as_primitive::<Float32Type>().values();
            read_whole(array, values.iter().copied(), |value| whole_float(value.into()), field, bad)
        }
        DataType::Float64 => {
            let values = array.as_primitive::<Float64Type>().values();
            read_whole(array, values.iter().copied(), whole_float, field, bad)
        }
        DataType::Boolean => {
            note_nulls::<T>(array, field, bad);
            read_bits(array.as_boolean().values())
        }
        other => {
            for row in 0..array.len() {
                let value = format!("of type {other}");
                bad.note(row, field, BadCell::OutOfRange { value, expected: T::EXPECTED });
            }
            vec![T::FILLER; array.len()]
        }
    }
}

fn read_integers<A, T>(array: &PrimitiveArray<A>, field: &str, bad: &mut BadCells) -> Vec<T>
where
    A: ArrowPrimitiveType<Native: TryInto<u64> + std::fmt::Display>,
    T: Cell,
{
    let whole = |value: &A::Native| (*value).try_into().ok().and_then(T::from_u64);
    if array.null_count() == 0 && array.values().iter().all(|value| whole(value).is_some()) {
        // Nothing to note, so that the compiler may take several values at a time.
        return array.values().iter().map(|value| whole(value).unwrap_or(T::FILLER)).collect();
    }
    read_whole(array, array.values().iter().copied(), |value| value.try_into().ok(), field, bad)
}

/// The `values` of a column that are `whole`; others are noted.
fn read_whole<T: Cell, V: Copy + std::fmt::Display>(
    array: &dyn Array,
    values: impl Iterator<Item = V>,
    whole: impl Fn(V) -> Option<u64>,
    field: &str,
    bad: &mut BadCells,
) -> Vec<T> {
    note_nulls::<T>(array, field, bad);
    let read = |(row, value): (usize, V)| match whole(value).and_then(T::from_u64) {
        Some(value) => value,
        // What lies under a null is arbitrary.
        None if array.is_null(row) => T::FILLER,
        None => {
            let value = value.to_string();
            bad.note(row, field, BadCell::OutOfRange { value, expected: T::EXPECTED });
            T::FILLER
        }
    };
    values.enumerate().map(read).collect()
}

/// A whole number; above 2^53 a float is no integer that was meant.
fn whole_float(value: f64) -> Option<u64> {
    const MOST: f64 = (1_u64 << 53) as f64;
    (value.fract() == 0.0 && (0.0..=MOST).contains(&value)).then_some(value as u64)
}

/// Bits as 0 and 1, a word of them at a time.
fn read_bits<T: Cell>(bits: &BooleanBuffer) -> Vec<T> {
    let of_bit = [0, 1].map(|bit| T::from_u64(bit).unwrap_or(T::FILLER));
    let mut values = Vec::with_capacity(bits.len().next_multiple_of(64));
    for word in bits.bit_chunks().iter_padded() {
        values.extend((0..64).map(|bit| of_bit[(word >> bit & 1) as usize]));
    }
    values.truncate(bits.len());
    values
}

fn note_nulls<T: Cell>(array: &dyn Array, field: &str, bad: &mut BadCells) {
    note_empty(array, field, T::EXPECTED, bad);
}

/// Notes the rows without a value.
pub(crate) fn note_empty(
    array: &dyn Array,
    field: &str,
    expected: &'static str,
    bad: &mut BadCells,
) {
    if array.null_count() > 0 {
        for row in (0..array.len()).filter(|&row| array.is_null(row)) {
            bad.note(row, field, BadCell::Empty(expected));
        }
    }
}

/// Enough of a field to recognise it by.
pub(crate) fn excerpt(text: &[u8]) -> String {
    const SHOWN_BYTES: usize = 40;
    let mut shown = String::from_utf8_lossy(&text[..text.len().min(SHOWN_BYTES)]).into_owned();
    if text.len() > SHOWN_BYTES {
        shown.push('…');
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_array::{BooleanArray, Float32Array, Float64Array};
    use proptest::prelude::*;

    #[test]
    fn text_that_is_not_a_fitting_number_is_named() {
        let check = |text: &str, says: &str| {
            let error = u16::from_text(text.as_bytes()).unwrap_err().to_string();
            assert_eq!(error, format!("is {says}, expected an integer from 0 to 65535"));
        };
        check("", "empty");
        check("x", "\"x\"");
        check("-", "\"-\"");
        check("1.5", "\"1.5\"");
        check("1.", "\"1.\"");
        check(".0", "\".0\"");
        check("1.0.0", "\"1.0.0\"");
        check("+1", "\"+1\"");
        check("-3", "-3");
        check("65536", "65536");
        check("99999999999999999999999999", "99999999999999999999999999");
    }

    #[test]
    fn whole_numbers_may_be_floats() {
        assert_eq!(u16::from_text(b"1500.000"), Ok(1_500));
        let values = [
            Some(3.0),
            None,
            Some(65_535.0),
            Some(0.5),
            Some(-1.0),
            Some(65_536.0),
            Some(f64::NAN),
        ];
        let array = Float64Array::from(values.to_vec());
        let mut bad = BadCells::default();
        let read: Vec<u16> = read_column(&array, "port", &mut bad);
        assert_eq!(read, [3, 0, 65_535, 0, 0, 0, 0]);
        let rows: Vec<(usize, String)> =
            bad.into_rows().map(|(row, (_, cell))| (row, cell.to_string())).collect();
        let says = |value: &str| format!("is {value}, expected an integer from 0 to 65535");
        let expected = [(1, "empty"), (3, "0.5"), (4, "-1"), (5, "65536"), (6, "NaN")];
        assert_eq!(rows, expected.map(|(row, value)| (row, says(value))));
        let array = Float32Array::from(vec![7.0, 7.25]);
        let mut bad = BadCells::default();
        assert_eq!(read_column::<u32>(&array, "port", &mut bad), [7, 0]);
        assert_eq!(bad.into_rows().count(), 1);
    }

    #[test]
    fn bits_are_read_from_any_place() {
        let values: Vec<bool> = (0..200_u32).map(|at| at * at % 7 < 3).collect();
        let array = BooleanArray::from(values.clone());
        for (from, length) in [(0, 200), (3, 64), (65, 130), (7, 0), (199, 1)] {
            let mut bad = BadCells::default();
            let read: Vec<bool> = read_column(&array.slice(from, length), "drop", &mut bad);
            assert_eq!(read, values[from..from + length]);
            assert_eq!(bad.into_rows().count(), 0);
        }
    }

    proptest! {
        #[test]
        fn any_number_is_read_as_the_standard_library_reads_it(value in any::<i128>(), small in any::<i32>()) {
            for text in [value.to_string(), (value >> 63).to_string(), small.to_string(), format!("000{small}")] {
                let text = text.trim_start_matches('+');
                prop_assert_eq!(u64::from_text(text.as_bytes()).ok(), text.parse().ok());
                prop_assert_eq!(u32::from_text(text.as_bytes()).ok(), text.parse().ok());
            }
        }

        #[test]
        fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..80)) {
            let read = std::str::from_utf8(&bytes).ok().and_then(|text| text.parse::<u64>().ok());
            let ours = u64::from_text(&bytes).ok();
            // The standard library also takes a leading plus.
            prop_assert!(ours == read || bytes.first() == Some(&b'+'));
        }
    }
}
