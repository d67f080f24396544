//! The times of events: whole nanoseconds, or decimal numbers of a unit.

use super::time_unit::{NoTime, TimeUnit, WholeTime, read_decimal, read_float};
use crate::tables::{BadCell, BadCells, Cell, excerpt, is_integer, note_empty, read_column};
use arrow_array::Array;
use arrow_array::cast::AsArray;
use arrow_array::types::{
    Float32Type, Float64Type, TimestampMicrosecondType, TimestampMillisecondType,
    TimestampNanosecondType, TimestampSecondType,
};
use arrow_schema::{DataType, TimeUnit as ArrowUnit};

/// The field.
pub(crate) const FIELD: &str = "time_ns";

/// Reads the time of a row of text. Without a unit it must be a whole number of nanoseconds.
pub(crate) fn read_time(text: &[u8], unit: Option<TimeUnit>) -> Result<WholeTime, BadCell> {
    let Some(unit) = unit else {
        let whole = |time_ns| WholeTime { time_ns, rounded: false };
        return u64::from_text(text).map(whole).map_err(|bad| ask_for_unit(text, bad));
    };
    if text.is_empty() {
        return Err(BadCell::Empty(expected(unit)));
    }
    read_decimal(text, unit).map_err(|why| bad_time(why, excerpt(text), unit))
}

/// Why a column of this type cannot hold times; none if it can.
pub(crate) fn refusal(data_type: &DataType, unit: Option<TimeUnit>) -> Option<&'static str> {
    match (data_type, unit) {
        (DataType::Timestamp(..), Some(_)) => {
            Some("a timestamp has a unit of its own; leave out time_unit")
        }
        (DataType::Timestamp(..), None) | (DataType::Float32 | DataType::Float64, Some(_)) => None,
        (DataType::Float32 | DataType::Float64, None) => Some(
            "expected an integer type; write it as one, or set time_unit (s, ms, us or ns), which \
             rounds to whole nanoseconds",
        ),
        (other, _) if is_integer(other) => None,
        _ => Some("expected an integer type; write it as one"),
    }
}

/// The times of a column that is not refused, nanoseconds, and which of them are rounded.
pub(crate) fn read_times(
    array: &dyn Array,
    unit: Option<TimeUnit>,
    bad: &mut BadCells,
) -> (Vec<u64>, Vec<bool>) {
    let none = || vec![false; array.len()];
    let (ticks, unit) = match (array.data_type(), unit) {
        (DataType::Timestamp(ArrowUnit::Second, _), _) => {
            (array.as_primitive::<TimestampSecondType>().values(), TimeUnit::S)
        }
        (DataType::Timestamp(ArrowUnit::Millisecond, _), _) => {
            (array.as_primitive::<TimestampMillisecondType>().values(), TimeUnit::Ms)
        }
        (DataType::Timestamp(ArrowUnit::Microsecond, _), _) => {
            (array.as_primitive::<TimestampMicrosecondType>().values(), TimeUnit::Us)
        }
        (DataType::Timestamp(ArrowUnit::Nanosecond, _), _) => {
            (array.as_primitive::<TimestampNanosecondType>().values(), TimeUnit::Ns)
        }
        (DataType::Float32, Some(unit)) => {
            let values = array.as_primitive::<Float32Type>().values();
            let spaced = values.iter().map(|v| (format!("{v:e}"), f64::from(v.next_up() - v)));
            return read_floats(array, spaced, unit, bad);
        }
        (DataType::Float64, Some(unit)) => {
            let values = array.as_primitive::<Float64Type>().values();
            let spaced = values.iter().map(|v| (format!("{v:e}"), v.next_up() - v));
            return read_floats(array, spaced, unit, bad);
        }
        (_, None | Some(TimeUnit::Ns)) => return (read_column(array, FIELD, bad), none()),
        (_, Some(unit)) => {
            let whole: Vec<u64> = read_column(array, FIELD, bad);
            let times = whole.iter().enumerate().map(|(row, &ticks)| {
                ticks.checked_mul(unit.nanoseconds()).unwrap_or_else(|| {
                    bad.note(row, FIELD, bad_time(NoTime::OutOfRange, ticks.to_string(), unit));
                    0
                })
            });
            return (times.collect(), none());
        }
    };
    note_empty(array, FIELD, expected(unit), bad);
    let times = ticks.iter().enumerate().map(|(row, &ticks)| {
        let time_ns = u64::try_from(ticks).ok().and_then(|t| t.checked_mul(unit.nanoseconds()));
        time_ns.unwrap_or_else(|| {
            if array.is_valid(row) {
                bad.note(row, FIELD, bad_time(NoTime::OutOfRange, ticks.to_string(), unit));
            }
            0
        })
    });
    (times.collect(), none())
}

/// Reads numbers as the shortest decimals, with the distance to the next larger number.
fn read_floats(
    array: &dyn Array,
    values: impl Iterator<Item = (String, f64)>,
    unit: TimeUnit,
    bad: &mut BadCells,
) -> (Vec<u64>, Vec<bool>) {
    note_empty(array, FIELD, expected(unit), bad);
    let read =
        |(row, (value, spacing)): (usize, (String, f64))| match read_float(&value, spacing, unit) {
            Ok(whole) => (whole.time_ns, whole.rounded),
            Err(why) => {
                if array.is_valid(row) {
                    bad.note(row, FIELD, bad_time(why, value, unit));
                }
                (0, false)
            }
        };
    values.enumerate().map(read).unzip()
}

fn expected(unit: TimeUnit) -> &'static str {
    match unit {
        TimeUnit::S => "a number of seconds from 0 to 18446744073",
        TimeUnit::Ms => "a number of milliseconds from 0 to 18446744073709",
        TimeUnit::Us => "a number of microseconds from 0 to 18446744073709551",
        TimeUnit::Ns => "a number of nanoseconds from 0 to 18446744073709551615",
    }
}

fn bad_time(why: NoTime, shown: String, unit: TimeUnit) -> BadCell {
    let expected = expected(unit);
    match why {
        NoTime::NotANumber => BadCell::NotANumber { text: shown, expected },
        NoTime::OutOfRange => BadCell::OutOfRange { value: shown, expected },
    }
}

/// A decimal number is no nonsense: its reader should say in which unit it is.
fn ask_for_unit(text: &[u8], bad: BadCell) -> BadCell {
    match bad {
        BadCell::NotANumber { text: shown, .. }
            if read_decimal(text, TimeUnit::Ns) != Err(NoTime::NotANumber) =>
        {
            let expected = "whole nanoseconds; set time_unit (s, ms, us or ns) to have decimal \
                            numbers rounded to them";
            BadCell::NotANumber { text: shown, expected }
        }
        bad => bad,
    }
}
