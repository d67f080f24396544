//! Columns of a frame as plain values, or what is wrong with them.

use super::error::FrameError;
use polars::prelude::{DataFrame, DataType, Series};

/// Whether the frame has such a column.
pub(super) fn has(frame: &DataFrame, name: &str) -> bool {
    frame.schema().contains(name)
}

/// A column of integers, of any integer type whose values fit.
pub(super) fn integers<T: TryFrom<i128>>(
    frame: &DataFrame,
    name: &str,
) -> Result<Vec<T>, FrameError> {
    let series = column(frame, name)?;
    if !series.dtype().is_integer() {
        return Err(wrong_type(series, "integers"));
    }
    let narrow = |value: i128| {
        let out = FrameError::Range { column: name.to_owned(), value };
        T::try_from(value).map_err(|_| out)
    };
    if series.dtype() == &DataType::UInt64 {
        return series.u64()?.iter().flatten().map(|value| narrow(value.into())).collect();
    }
    let wide = series.strict_cast(&DataType::Int64)?;
    wide.i64()?.iter().flatten().map(|value| narrow(value.into())).collect()
}

/// A column of integers, or zeros if there is no such column.
pub(super) fn integers_or_zero<T: TryFrom<i128> + Default + Clone>(
    frame: &DataFrame,
    name: &str,
) -> Result<Vec<T>, FrameError> {
    if has(frame, name) { integers(frame, name) } else { Ok(vec![T::default(); frame.height()]) }
}

/// A column of Booleans, or of zeros and ones.
pub(super) fn flags(frame: &DataFrame, name: &str) -> Result<Vec<bool>, FrameError> {
    let series = column(frame, name)?;
    match series.dtype() {
        DataType::Boolean => Ok(series.bool()?.iter().flatten().collect()),
        kind if kind.is_integer() => {
            let flag = |value: u64| match value {
                0 => Ok(false),
                1 => Ok(true),
                _ => Err(FrameError::Range { column: name.to_owned(), value: value.into() }),
            };
            integers(frame, name)?.into_iter().map(flag).collect()
        }
        _ => Err(wrong_type(series, "Boolean, or 0 and 1")),
    }
}

/// A column without nulls.
fn column<'a>(frame: &'a DataFrame, name: &str) -> Result<&'a Series, FrameError> {
    let missing = |_| FrameError::missing(name, frame.get_column_names());
    let series = frame.column(name).map_err(missing)?.as_materialized_series();
    match series.null_count() {
        0 => Ok(series),
        count => Err(FrameError::Null { column: name.to_owned(), count }),
    }
}

fn wrong_type(series: &Series, expected: &'static str) -> FrameError {
    let (column, found) = (series.name().to_string(), series.dtype().clone());
    FrameError::Type { column, found, expected }
}
