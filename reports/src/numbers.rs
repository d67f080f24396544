//! Formatting of numbers.

use dropcast_measure::verdict::Verdict;
use dropcast_pipeline::wall_clock::{UtcOffset, is_since_1970};

/// Shown for an undefined number.
pub(crate) const UNDEFINED: &str = "undefined";

/// A count with commas between thousands.
pub fn count(value: u64) -> String {
    grouped(&value.to_string())
}

/// The width of a column that has these texts. Longer ones push their row to the right: text is not padded without
/// end. `comfy-table` would pad to the longest or wrap it, and aligning is a `format!`.
pub fn column_width(texts: impl IntoIterator<Item = impl AsRef<str>>) -> usize {
    texts.into_iter().map(|text| text.as_ref().chars().count()).max().unwrap_or(0).min(1_000)
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
pub fn ratio(value: f64, decimals: usize) -> String {
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

/// A unit of time, and how many nanoseconds it is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct TimeUnit {
    pub(crate) name: &'static str,
    pub(crate) ns: f64,
}

/// The unit in which a time of this length, and parts of it, are written.
pub(crate) fn time_unit(long_ns: u64) -> TimeUnit {
    const UNITS: [(u64, &str, f64); 5] = [
        (1_000, "ns", 1.0),
        (10_000_000, "us", 1e3),
        (10_000_000_000, "ms", 1e6),
        (600_000_000_000, "s", 1e9),
        (36_000_000_000_000, "min", 60e9),
    ];
    let unit = UNITS.into_iter().find(|(below_ns, ..)| long_ns < *below_ns);
    let (_, name, ns) = unit.unwrap_or((u64::MAX, "h", 3_600e9));
    TimeUnit { name, ns }
}

/// A length of time in the unit that fits.
pub(crate) fn duration(long_ns: u64) -> String {
    time_unit(long_ns).shown(long_ns)
}

impl TimeUnit {
    /// A length of time in it.
    pub(crate) fn shown(self, long_ns: u64) -> String {
        format!("{} {}", short(long_ns as f64 / self.ns), self.name)
    }
}

/// A time since 1970 as date and time of day, in UTC.
pub(crate) fn utc(time_ns: u64) -> String {
    by_clock(time_ns, UtcOffset::default())
}

fn by_clock(time_ns: u64, offset: UtcOffset) -> String {
    let (date, time) = offset.date_and_time(time_ns);
    format!("{date} {time} {offset}")
}

/// A time since 1970 by the clock of a verdict, in brackets; nothing where times have another origin.
pub(crate) fn at_clock(time_ns: u64, verdict: &Verdict) -> String {
    let offset = verdict.utc_offset;
    let known = is_since_1970(time_ns).then(|| format!(" ({})", by_clock(time_ns, offset)));
    known.unwrap_or_default()
}

/// A share in percent, with one decimal where it needs one.
pub(crate) fn percent(share: f64) -> String {
    let text = ratio(share * 100.0, 1);
    format!("{}%", text.strip_suffix(".0").unwrap_or(&text))
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
    fn shares_are_in_percent() {
        assert_eq!(
            [0.314, 0.02, 1.0, 0.0, 0.000_01].map(percent),
            ["31.4%", "2%", "100%", "0%", "0.001%"]
        );
    }

    #[test]
    fn short_numbers_have_no_idle_zeros() {
        let of = [0.0, 0.5, 0.606_41, 1_020.0, 208.1, -0.25, 12_345.5, 0.999_999].map(short);
        let expected =
            ["0", "0.5", "0.6064", "1,020", "208.1", "\u{2212}0.25", "12,345.5", "0.999999"];
        assert_eq!(of, expected);
    }

    #[test]
    fn times_are_in_the_unit_that_fits() {
        let of = [0, 999, 2_500, 65_536_000, 33_554_432_000, 8_589_934_592_000, 86_400_000_000_000];
        let expected =
            ["0 ns", "999 ns", "2.5 us", "65.536 ms", "33.5544 s", "143.1656 min", "24 h"];
        assert_eq!(of.map(duration), expected);
    }

    #[test]
    fn dates_are_those_of_the_calendar() {
        let of = [0, 951_782_399_000_000_001, 951_868_800_000_000_000, 1_700_000_000_123_456_789];
        let expected = [
            "1970-01-01 00:00:00.000000000 UTC",
            "2000-02-28 23:59:59.000000001 UTC",
            "2000-03-01 00:00:00.000000000 UTC",
            "2023-11-14 22:13:20.123456789 UTC",
        ];
        assert_eq!(of.map(utc), expected);
        assert!(utc(u64::MAX).starts_with("2554-07-21 23:34:33."));
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
