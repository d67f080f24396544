//! Whether numbers were printed with all their digits.

use crate::ImportError;

/// Significant digits that C++ prints of a float by default, which rounds it.
const ROUNDED: usize = 6;

/// Significant digits after which no two `f32` look the same.
const WHOLE_F32: usize = 9;

/// Checks that not all of `numbers`, the thresholds and leaves of a file of text, have so few digits
/// that they may be roundings: all are printed alike, so one with more digits speaks for all.
pub(super) fn check_digits(numbers: impl IntoIterator<Item = f64>) -> Result<(), ImportError> {
    if numbers.into_iter().any(|number| as_printed(number, ROUNDED) != number) {
        return Ok(());
    }
    let why = "no number in it has more than six digits, so they may be rounded, and splits would differ; import what save_model wrote";
    Err(ImportError::Refused { at: "the trees".to_owned(), why: why.to_owned() })
}

/// The `f32` that was printed as `number`, if nine digits were printed, or as many as it takes to
/// write it out; a decimal between two `f32` is no such print.
pub(super) fn single(number: f64) -> Result<f32, String> {
    let single = number as f32;
    let whole = f64::from(single);
    if whole == number || as_printed(whole, WHOLE_F32) == number {
        return Ok(single);
    }
    Err(format!("has {number}, which is not how nine digits print any single-precision number"))
}

/// `number` after it was printed with so many significant digits.
fn as_printed(number: f64, digits: usize) -> f64 {
    format!("{number:.*e}", digits - 1).parse().unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn one_number_with_many_digits_speaks_for_all() {
        assert_eq!(check_digits([1.0, -0.25, 0.123_456_7]), Ok(()));
        assert_eq!(check_digits([1_234_567.0]), Ok(()));
        assert!(check_digits([1.0, -0.25, 0.123_456, 123_456.0, 1.5e-7, f64::INFINITY]).is_err());
        assert!(check_digits([]).is_err());
    }

    #[test]
    fn six_digits_are_no_single() {
        assert_eq!(single(0.196_721_315), Ok(0.196_721_32));
        assert!(single(0.196_721).is_err());
        assert!(single(4_294_967_295.0).is_err());
    }

    proptest! {
        #[test]
        fn nine_digits_distinguish_every_single(bits in any::<u32>()) {
            let value = f32::from_bits(bits);
            prop_assume!(value.is_finite());
            let printed: f64 = format!("{value:.8e}").parse().unwrap_or(f64::NAN);
            prop_assert_eq!(single(printed), Ok(value));
            prop_assert_eq!(single(f64::from(value)), Ok(value));
        }
    }
}
