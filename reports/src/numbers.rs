//! Formatting of numbers.

/// Shown for an undefined number.
pub(crate) const UNDEFINED: &str = "undefined";

/// A count with commas between thousands.
pub(crate) fn count(value: u64) -> String {
    grouped(&value.to_string())
}

/// Digits with commas between thousands.
pub(crate) fn grouped(digits: &str) -> String {
    let mut out = String::with_capacity(digits.len() * 4 / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A ratio or mean with this many decimals. More decimals are added until a value other than 1 or 0
/// does not look like it: a loss of two packets in a million is a loss.
pub(crate) fn ratio(value: f64, decimals: usize) -> String {
    let text = format!("{value:.decimals$}");
    let (whole, _) = text.split_once('.').unwrap_or((&text, ""));
    if whole.len() > 3 && value > 0.0 {
        return format!("{}{}", grouped(whole), &text[whole.len()..]);
    }
    let looks_exact =
        [0.0, 1.0].into_iter().any(|exact| value != exact && text == format!("{exact:.decimals$}"));
    if looks_exact && decimals < 12 { ratio(value, decimals + 2) } else { text }
}

/// A number for a tooltip: whole, or with four decimals, without trailing zeros.
pub(crate) fn short(value: f64) -> String {
    let text = if value.fract() == 0.0 { format!("{value:.0}") } else { ratio(value, 4) };
    let (whole, decimals) = text.split_once('.').unwrap_or((&text, ""));
    let digits = whole.trim_start_matches('-');
    let sign = if whole.len() > digits.len() { "\u{2212}" } else { "" };
    let whole = if digits.contains(',') { digits.to_owned() } else { grouped(digits) };
    match decimals.trim_end_matches('0') {
        "" => format!("{sign}{whole}"),
        decimals => format!("{sign}{whole}.{decimals}"),
    }
}

/// A ratio, or that it is undefined.
pub(crate) fn optional(value: Option<f64>, decimals: usize) -> String {
    value.map_or_else(|| UNDEFINED.to_owned(), |value| ratio(value, decimals))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_have_commas() {
        assert_eq!([0, 999, 1_000, 2_735_521].map(count), ["0", "999", "1,000", "2,735,521"]);
    }

    #[test]
    fn short_numbers_have_no_idle_zeros() {
        let of = [0.0, 0.5, 0.606_41, 1_020.0, 208.1, -0.25, 12_345.5, 0.999_999].map(short);
        let expected =
            ["0", "0.5", "0.6064", "1,020", "208.1", "\u{2212}0.25", "12,345.5", "0.999999"];
        assert_eq!(of, expected);
    }

    #[test]
    fn a_ratio_that_is_not_one_does_not_look_it() {
        assert_eq!(ratio(1.0, 4), "1.0000");
        assert_eq!(ratio(0.999_999, 4), "0.999999");
        assert_eq!(ratio(0.000_02, 4), "0.000020");
        assert_eq!(ratio(0.0, 4), "0.0000");
        assert_eq!(ratio(1.028_4, 4), "1.0284");
        assert_eq!(ratio(10_909.9, 1), "10,909.9");
        assert_eq!(optional(None, 4), "undefined");
    }
}
