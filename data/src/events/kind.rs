//! Words for what happened to a packet, and why it was dropped; its flags.

use crate::tables::{
    BadCell, BadCells, Cell, excerpt, is_integer, is_text, read_column, text_column,
};
use crate::{DropReason, Event, EventKind};
use arrow_array::Array;
use arrow_schema::DataType;

/// The fields.
const KIND: &str = "kind";
const REASON: &str = "drop_reason";

const ARRIVAL: [&str; 5] = ["+", "arrival", "arrive", "enq", "enqueue"];
const DEPARTURE: [&str; 5] = ["-", "departure", "depart", "deq", "dequeue"];
const DROP: [&str; 3] = ["d", "drop", "dropped"];
const PAUSE: [&str; 2] = ["pause", "xoff"];
const RESUME: [&str; 2] = ["resume", "xon"];

const NO_REASON: [&str; 3] = ["", "-", "none"];
const REASONS: [(&str, DropReason); 6] = [
    ("unstated", DropReason::Unstated),
    ("admission", DropReason::Admission),
    ("push-out", DropReason::PushOut),
    ("push_out", DropReason::PushOut),
    ("pushout", DropReason::PushOut),
    ("policy", DropReason::Policy),
];

/// Reads a number or a word, in upper or lower case.
pub(crate) fn read_kind(text: &[u8]) -> Result<EventKind, BadCell> {
    let is = |word: &&str| text.eq_ignore_ascii_case(word.as_bytes());
    if ARRIVAL.iter().any(is) {
        return Ok(EventKind::Arrival);
    }
    if DEPARTURE.iter().any(is) {
        return Ok(EventKind::Departure);
    }
    if DROP.iter().any(is) {
        return Ok(EventKind::Drop(DropReason::Unstated));
    }
    if PAUSE.iter().any(is) {
        return Ok(EventKind::Pause);
    }
    if RESUME.iter().any(is) {
        return Ok(EventKind::Resume);
    }
    if !text.first().is_some_and(u8::is_ascii_alphabetic) {
        return EventKind::from_text(text);
    }
    let expected = "0, +, arrival or enqueue; 1, -, departure or dequeue; 2, d or drop; 3 or pause; \
                    4 or resume";
    Err(BadCell::NotANumber { text: excerpt(text), expected })
}

/// Reads why a packet was dropped: a number or a word, in upper or lower case; nothing if it was not.
pub(crate) fn read_reason(text: &[u8]) -> Result<Option<DropReason>, BadCell> {
    let is = |word: &str| text.eq_ignore_ascii_case(word.as_bytes());
    if NO_REASON.into_iter().any(is) {
        return Ok(None);
    }
    if let Some((_, reason)) = REASONS.into_iter().find(|(word, _)| is(word)) {
        return Ok(Some(reason));
    }
    if !text.first().is_some_and(u8::is_ascii_alphabetic) {
        return Cell::from_text(text);
    }
    let expected = "admission, push-out, policy, unstated, or nothing if it was not dropped";
    Err(BadCell::NotANumber { text: excerpt(text), expected })
}

/// A kind with the reason beside it. An arrival with a reason was dropped.
pub(crate) fn with_reason(
    kind: EventKind,
    reason: Option<DropReason>,
) -> Result<EventKind, BadCell> {
    match (kind, reason) {
        (kind, None) => Ok(kind),
        (EventKind::Arrival | EventKind::Drop(_), Some(reason)) => Ok(EventKind::Drop(reason)),
        (EventKind::Departure | EventKind::Pause | EventKind::Resume, Some(reason)) => {
            let expected =
                "nothing, because no packet is dropped: it departs, or a queue is paused";
            Err(BadCell::OutOfRange { value: (reason as u8).to_string(), expected })
        }
    }
}

/// Flags with the ECN mark, if the input has a column for it.
pub(crate) fn with_mark(flags: u8, is_marked: Option<bool>) -> u8 {
    match is_marked {
        None => flags,
        Some(false) => flags & !Event::ECN_MARK,
        Some(true) => flags | Event::ECN_MARK,
    }
}

/// Whether a column of this type can hold kinds, or reasons.
pub(crate) fn can_hold(data_type: &DataType) -> bool {
    is_integer(data_type) || is_text(data_type)
}

/// The kinds of a column that can hold them.
pub(crate) fn read_kinds(array: &dyn Array, bad: &mut BadCells) -> Vec<EventKind> {
    let Some(words) = text_column(array) else { return read_column(array, KIND, bad) };
    let read = |word: Option<&str>| {
        let word = word.ok_or(BadCell::Empty(EventKind::EXPECTED))?;
        read_kind(word.trim_ascii().as_bytes())
    };
    read_words(words, KIND, read, EventKind::FILLER, bad)
}

/// The reasons of a column that can hold them; null is no drop.
pub(crate) fn read_reasons(array: &dyn Array, bad: &mut BadCells) -> Vec<Option<DropReason>> {
    if let Some(words) = text_column(array) {
        let read = |word: Option<&str>| {
            word.map_or(Ok(None), |word| read_reason(word.trim_ascii().as_bytes()))
        };
        return read_words(words, REASON, read, None, bad);
    }
    let mut unreadable = BadCells::default();
    let mut reasons: Vec<Option<DropReason>> = read_column(array, REASON, &mut unreadable);
    for (row, (_, cell)) in unreadable.into_rows().filter(|(row, _)| array.is_valid(*row)) {
        bad.note(row, REASON, cell);
    }
    // What lies under a null is arbitrary.
    for (_, reason) in reasons.iter_mut().enumerate().filter(|(row, _)| array.is_null(*row)) {
        *reason = None;
    }
    reasons
}

/// Reads a column of text; `filler` where it cannot be read.
fn read_words<T: Copy>(
    words: Vec<Option<&str>>,
    field: &str,
    read: impl Fn(Option<&str>) -> Result<T, BadCell>,
    filler: T,
    bad: &mut BadCells,
) -> Vec<T> {
    let read = |(row, word): (usize, Option<&str>)| {
        read(word).unwrap_or_else(|cell| {
            bad.note(row, field, cell);
            filler
        })
    };
    words.into_iter().enumerate().map(read).collect()
}
