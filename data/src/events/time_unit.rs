//! Units of time, and decimal numbers of them as whole nanoseconds.

use crate::UnknownWord;
use serde::{Deserialize, Serialize};

/// The unit of the times of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[derive(strum::Display, strum::EnumString, strum::VariantNames)]
#[strum(serialize_all = "lowercase", parse_err_ty = UnknownWord, parse_err_fn = UnknownWord::of::<TimeUnit>)]
pub enum TimeUnit {
    /// Seconds.
    S,
    /// Milliseconds.
    Ms,
    /// Microseconds.
    Us,
    /// Nanoseconds.
    Ns,
}

impl TimeUnit {
    /// Nanoseconds in one.
    pub fn nanoseconds(self) -> u64 {
        10_u64.pow(self.exponent())
    }

    /// The power of ten that it is of a nanosecond.
    fn exponent(self) -> u32 {
        match self {
            TimeUnit::S => 9,
            TimeUnit::Ms => 6,
            TimeUnit::Us => 3,
            TimeUnit::Ns => 0,
        }
    }
}

/// A time in whole nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WholeTime {
    /// Nanoseconds.
    pub(crate) time_ns: u64,
    /// Whether it is not exactly what was given.
    pub(crate) rounded: bool,
}

/// Why a text is not a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoTime {
    /// It is no decimal number.
    NotANumber,
    /// It is negative, or more than 2^64 - 1 nanoseconds.
    OutOfRange,
}

/// Digits that are kept; 10^38 fits in 128 bits.
const KEPT_DIGITS: u32 = 38;

/// Reads a decimal number such as `1.02345` or `3e-6`, exactly; half a nanosecond is rounded up.
pub(crate) fn read_decimal(text: &[u8], unit: TimeUnit) -> Result<WholeTime, NoTime> {
    let (negative, text) = match text {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        rest => (false, rest),
    };
    let exponent_at = text.iter().position(|byte| matches!(byte, b'e' | b'E'));
    let (number, exponent) = match exponent_at {
        Some(at) => (&text[..at], read_exponent(&text[at + 1..])?),
        None => (text, 0),
    };
    let mut mantissa: u128 = 0;
    // The value is mantissa * 10^power, and something below if `more`.
    let (mut power, mut kept, mut more) = (exponent, 0, false);
    let (mut any_digit, mut after_point) = (false, false);
    for &byte in number {
        match byte {
            b'.' if !after_point => after_point = true,
            b'0'..=b'9' => {
                any_digit = true;
                if kept < KEPT_DIGITS {
                    mantissa = mantissa * 10 + u128::from(byte - b'0');
                    kept += u32::from(mantissa > 0);
                    power -= i64::from(after_point);
                } else {
                    more |= byte != b'0';
                    power += i64::from(!after_point);
                }
            }
            _ => return Err(NoTime::NotANumber),
        }
    }
    if !any_digit {
        return Err(NoTime::NotANumber);
    }
    let whole = scale(mantissa, power + i64::from(unit.exponent()), more)?;
    if negative && (whole.time_ns > 0 || mantissa > 0) {
        return Err(NoTime::OutOfRange);
    }
    Ok(whole)
}

/// Reads a floating-point number, given as the shortest decimal that stands for it and the distance
/// to the next number. It also counts as rounded if that is more than a nanosecond.
pub(crate) fn read_float(
    shortest: &str,
    spacing: f64,
    unit: TimeUnit,
) -> Result<WholeTime, NoTime> {
    let mut whole = read_decimal(shortest.as_bytes(), unit)?;
    whole.rounded |= spacing * unit.nanoseconds() as f64 > 1.0;
    Ok(whole)
}

fn read_exponent(text: &[u8]) -> Result<i64, NoTime> {
    let digits = match text {
        [b'+' | b'-', digits @ ..] => digits,
        digits => digits,
    };
    if digits.is_empty() || !digits.iter().all(u8::is_ascii_digit) {
        return Err(NoTime::NotANumber);
    }
    // No time has so many digits that a larger exponent would matter.
    let add = |sum: i64, &digit: &u8| (sum * 10 + i64::from(digit - b'0')).min(1_000_000);
    let exponent = digits.iter().fold(0, add);
    Ok(if text[0] == b'-' { -exponent } else { exponent })
}

/// `mantissa * 10^power`, rounded; `more` if a little more than that.
fn scale(mantissa: u128, power: i64, more: bool) -> Result<WholeTime, NoTime> {
    let ten = |power: i64| 10_u128.checked_pow(u32::try_from(power).unwrap_or(u32::MAX));
    let (whole, rounded) = if mantissa == 0 {
        (Some(0), more)
    } else if power >= 0 {
        (ten(power).and_then(|factor| mantissa.checked_mul(factor)), more)
    } else {
        match ten(-power) {
            Some(divisor) => {
                let (quotient, rest) = (mantissa / divisor, mantissa % divisor);
                let up = u128::from(rest >= divisor - rest);
                (Some(quotient + up), rest > 0 || more)
            }
            // Below 10^38 times 10^-39.
            None => (Some(0), true),
        }
    };
    let time_ns = whole.and_then(|whole| u64::try_from(whole).ok()).ok_or(NoTime::OutOfRange)?;
    Ok(WholeTime { time_ns, rounded })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn ns(text: &str, unit: TimeUnit) -> Result<(u64, bool), NoTime> {
        read_decimal(text.as_bytes(), unit).map(|whole| (whole.time_ns, whole.rounded))
    }

    #[test]
    fn decimals_become_nanoseconds() {
        let check = |text: &str, unit, expected| assert_eq!(ns(text, unit), Ok(expected), "{text}");
        check("1.02345", TimeUnit::S, (1_023_450_000, false));
        check("1700000000.123456789", TimeUnit::S, (1_700_000_000_123_456_789, false));
        check("12", TimeUnit::Us, (12_000, false));
        check("12.0005", TimeUnit::Us, (12_001, true));
        check("12.00049", TimeUnit::Us, (12_000, true));
        check("+.5", TimeUnit::Ns, (1, true));
        check("7.", TimeUnit::Ms, (7_000_000, false));
        check("3e-6", TimeUnit::S, (3_000, false));
        check("1.5E+3", TimeUnit::Ns, (1_500, false));
        check("-0.0", TimeUnit::S, (0, false));
        check("0e999999999999", TimeUnit::S, (0, false));
        check("1e-999999999999", TimeUnit::S, (0, true));
        check("18446744073709551615", TimeUnit::Ns, (u64::MAX, false));
    }

    #[test]
    fn what_is_no_time_differs_from_what_does_not_fit() {
        for text in ["", "-", ".", "e3", "1e", "1e+", "1.2.3", "0x10", "nan", "1,5", "1 2"] {
            assert_eq!(ns(text, TimeUnit::S), Err(NoTime::NotANumber), "{text}");
        }
        for text in ["-1", "-1e-30", "18446744074", "2e10", "1e400"] {
            assert_eq!(ns(text, TimeUnit::S), Err(NoTime::OutOfRange), "{text}");
        }
    }

    #[test]
    fn a_float_is_the_shortest_decimal_that_stands_for_it() {
        let read = |value: f64, unit| {
            let (shortest, spacing) = (format!("{value:e}"), value.next_up() - value);
            read_float(&shortest, spacing, unit).map(|w| (w.time_ns, w.rounded))
        };
        assert_eq!(read(1.000_000_001, TimeUnit::S), Ok((1_000_000_001, false)));
        assert_eq!(read(0.1 + 0.2, TimeUnit::S), Ok((300_000_000, true)));
        assert_eq!(read(1_700_000_000.25, TimeUnit::S), Ok((1_700_000_000_250_000_000, true)));
        assert_eq!(read(f64::NAN, TimeUnit::S), Err(NoTime::NotANumber));
        assert_eq!(read(-1.0, TimeUnit::S), Err(NoTime::OutOfRange));
    }

    /// The same with a string of digits and a point that moves.
    fn by_moving_the_point(whole: &str, fraction: &str, power: i32) -> Option<(u64, bool)> {
        let mut digits = format!("{whole}{fraction}");
        let mut point = whole.len() as i32 + power;
        while point < 0 {
            digits.insert(0, '0');
            point += 1;
        }
        while (digits.len() as i32) < point {
            digits.push('0');
        }
        let (before, after) = digits.split_at(point as usize);
        let up = after.as_bytes().first().is_some_and(|&digit| digit >= b'5');
        let before = before.trim_start_matches('0');
        let before: u64 = if before.is_empty() { 0 } else { before.parse().ok()? };
        Some((before.checked_add(u64::from(up))?, after.bytes().any(|digit| digit != b'0')))
    }

    proptest! {
        #[test]
        fn agrees_with_moving_the_point(
            whole in "[0-9]{1,24}", fraction in "[0-9]{0,45}", exponent in -50i32..50, unit in 0..4usize,
        ) {
            let unit = [TimeUnit::S, TimeUnit::Ms, TimeUnit::Us, TimeUnit::Ns][unit];
            let expected = by_moving_the_point(&whole, &fraction, exponent + unit.exponent() as i32);
            let text = format!("{whole}.{fraction}e{exponent}");
            prop_assert_eq!(ns(&text, unit).ok(), expected, "{}", text);
        }

        #[test]
        fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..60), unit in 0..4usize) {
            let unit = [TimeUnit::S, TimeUnit::Ms, TimeUnit::Us, TimeUnit::Ns][unit];
            let _ = read_decimal(&bytes, unit);
        }
    }
}
