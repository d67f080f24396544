//! Words for what happened to a packet.

use crate::EventKind;
use crate::cell::{BadCell, BadCells, Cell, excerpt, is_integer, note_empty, read_column};
use arrow_array::Array;
use arrow_array::cast::AsArray;
use arrow_schema::DataType;

/// The field.
const FIELD: &str = "kind";

/// A dropped packet has arrived: what LQD would have done with it is what we label.
const ARRIVAL: [&str; 8] = ["+", "arrival", "arrive", "enq", "enqueue", "d", "drop", "dropped"];
const DEPARTURE: [&str; 5] = ["-", "departure", "depart", "deq", "dequeue"];

/// Reads a number or a word, in upper or lower case.
pub(crate) fn read_kind(text: &[u8]) -> Result<EventKind, BadCell> {
    let is = |word: &&str| text.eq_ignore_ascii_case(word.as_bytes());
    if ARRIVAL.iter().any(is) {
        return Ok(EventKind::Arrival);
    }
    if DEPARTURE.iter().any(is) {
        return Ok(EventKind::Departure);
    }
    if !text.first().is_some_and(u8::is_ascii_alphabetic) {
        return EventKind::from_text(text);
    }
    let expected = "0, +, arrival, enqueue, d or drop (an arrival), or 1, -, departure or dequeue";
    Err(BadCell::NotANumber { text: excerpt(text), expected })
}

/// Whether a column of this type can hold kinds.
pub(crate) fn can_hold(data_type: &DataType) -> bool {
    is_integer(data_type) || *data_type == DataType::Utf8
}

/// The kinds of a column that can hold them.
pub(crate) fn read_kinds(array: &dyn Array, bad: &mut BadCells) -> Vec<EventKind> {
    if *array.data_type() != DataType::Utf8 {
        return read_column(array, FIELD, bad);
    }
    note_empty(array, FIELD, EventKind::EXPECTED, bad);
    let words = array.as_string::<i32>();
    let read = |row| {
        let word = if words.is_null(row) { "" } else { words.value(row).trim_ascii() };
        read_kind(word.as_bytes()).unwrap_or_else(|cell| {
            if words.is_valid(row) {
                bad.note(row, FIELD, cell);
            }
            EventKind::FILLER
        })
    };
    (0..words.len()).map(read).collect()
}
