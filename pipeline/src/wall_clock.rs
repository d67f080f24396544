//! Times since 1970 as date and time of day, to the nanosecond: in UTC, and by clocks of other places.

use chrono::{DateTime, FixedOffset, Offset, SecondsFormat, Utc};
use std::fmt;
use std::str::FromStr;

/// Times below are taken to be since some other origin: 2001-09-09, 10^18 ns after 1970.
const FIRST_KNOWN_NS: u64 = 1_000_000_000_000_000_000;

/// Whether a time in nanoseconds must be one since 1970, as those of captures are: any other clock would have run for
/// more than 31 years.
pub fn is_since_1970(time_ns: u64) -> bool {
    time_ns >= FIRST_KNOWN_NS
}

/// A time that is [since 1970](is_since_1970), as RFC 3339 has it, such as `2026-11-24T13:05:07.123456789Z`.
pub fn known_utc(time_ns: u64) -> Option<String> {
    is_since_1970(time_ns).then(|| at(time_ns).to_rfc3339_opts(SecondsFormat::Nanos, true))
}

/// The date and the time of day of a time since 1970.
pub fn utc(time_ns: u64) -> (String, String) {
    let time = at(time_ns);
    (time.format("%F").to_string(), time.format("%T%.9f").to_string())
}

fn at(time_ns: u64) -> DateTime<Utc> {
    let (seconds, ns) = (time_ns / 1_000_000_000, time_ns % 1_000_000_000);
    DateTime::from_timestamp(seconds as i64, ns as u32).expect("nanoseconds reach the year 2554")
}

/// How much a clock is ahead of UTC, or behind it: always the same, as without daylight saving time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UtcOffset(FixedOffset);

impl UtcOffset {
    /// The date and the time of day of a time since 1970.
    pub fn date_and_time(self, time_ns: u64) -> (String, String) {
        utc(self.as_utc_ns(time_ns))
    }

    /// The time since 1970 at which a clock of UTC shows what this clock shows at `time_ns`.
    pub fn as_utc_ns(self, time_ns: u64) -> u64 {
        time_ns.saturating_add_signed(i64::from(self.0.local_minus_utc()) * 1_000_000_000)
    }
}

impl Default for UtcOffset {
    fn default() -> Self {
        UtcOffset(Utc.fix())
    }
}

/// What stands behind a time: `UTC`, or such as `UTC+02:00`.
impl fmt::Display for UtcOffset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.local_minus_utc() {
            0 => f.write_str("UTC"),
            _ => write!(f, "UTC{}", self.0),
        }
    }
}

/// A text such as `+02:00` or `-03:30`.
impl FromStr for UtcOffset {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        // No place on Earth is further from UTC.
        const MOST_SECONDS: i32 = 14 * 3_600;
        // The library takes other ways to write it, and any text behind it.
        let is_known = |offset: &FixedOffset| {
            offset.local_minus_utc().abs() <= MOST_SECONDS
                && offset.to_string().get(1..) == text.get(1..)
        };
        text.parse().ok().filter(is_known).map(UtcOffset).ok_or_else(|| {
            "expected hours and minutes such as +02:00 or -03:30, from -14:00 to +14:00; names of time zones are not known"
                .to_owned()
        })
    }
}

/// The time of a text such as `2026-11-24T13:05:07Z`, nanoseconds since 1970; fractions of seconds and a space in place
/// of the `T` may be there. `None` if it is no such text.
pub(crate) fn ns_of_utc(text: &str) -> Option<u64> {
    let time = DateTime::parse_from_rfc3339(text).ok().filter(|_| text.ends_with('Z'))?;
    time.timestamp_nanos_opt()?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_exact_and_small_ones_are_of_another_origin() {
        assert_eq!(known_utc(999_999_999_999_999_999), None);
        // As `date -u -d @1000000000` says.
        assert_eq!(known_utc(FIRST_KNOWN_NS).as_deref(), Some("2001-09-09T01:46:40.000000000Z"));
        assert_eq!(
            known_utc(1_709_164_799_123_456_789).as_deref(),
            Some("2024-02-28T23:59:59.123456789Z")
        );
        assert_eq!(
            known_utc(1_709_164_800_000_000_001).as_deref(),
            Some("2024-02-29T00:00:00.000000001Z")
        );
    }

    #[test]
    fn clocks_are_ahead_of_utc_or_behind_it() {
        let at = |offset: &str| {
            let offset: UtcOffset = offset.parse().expect(offset);
            let (date, time) = offset.date_and_time(1_709_164_799_123_456_789);
            format!("{date} {time} {offset}")
        };
        // As `TZ=Asia/Kolkata date -d @1709164799` and others say.
        assert_eq!(at("+00:00"), "2024-02-28 23:59:59.123456789 UTC");
        assert_eq!(at("-00:00"), at("+00:00"));
        assert_eq!(at("+05:30"), "2024-02-29 05:29:59.123456789 UTC+05:30");
        assert_eq!(at("-03:30"), "2024-02-28 20:29:59.123456789 UTC-03:30");
        assert_eq!(at("+14:00"), "2024-02-29 13:59:59.123456789 UTC+14:00");
        assert_eq!(at("-14:00"), "2024-02-28 09:59:59.123456789 UTC-14:00");
        for wrong in [
            "",
            "+",
            "2",
            "02:00",
            "+2",
            "+2:00",
            "+02:0",
            "+02:60",
            "+14:01",
            "-14:01",
            "+24:00",
            "++2:00",
            "+02-00",
            "+02:00:00",
            "+\u{660}2:00",
            "\u{2212}02:00",
            "Z",
            "UTC",
            "Europe/Berlin",
        ] {
            assert!(wrong.parse::<UtcOffset>().is_err(), "{wrong}");
        }
        let end: UtcOffset = "+14:00".parse().expect("an offset");
        assert_eq!(end.date_and_time(u64::MAX), utc(u64::MAX));
    }

    #[test]
    fn times_are_read_as_they_are_written() {
        assert_eq!(ns_of_utc("2001-09-09T01:46:40Z"), Some(FIRST_KNOWN_NS));
        assert_eq!(ns_of_utc("1970-01-01 00:00:00.5Z"), Some(500_000_000));
        for ns in [0, FIRST_KNOWN_NS, 1_709_164_799_123_456_789, 1_709_251_200_000_000_000] {
            let (date, time) = utc(ns);
            assert_eq!(ns_of_utc(&format!("{date}T{time}Z")), Some(ns));
        }
        for wrong in [
            "",
            "Z",
            "2001-02-29T00:00:00Z",
            "2001-09-09T01:46:40",
            "2001-9-9T01:46:40Z",
            "2001-09-09T24:00:00Z",
        ] {
            assert_eq!(ns_of_utc(wrong), None, "{wrong}");
        }
    }
}
