//! Times since 1970 as date and time of day, to the nanosecond: in UTC, and by clocks of other places.

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
    let text = || {
        let (date, time) = utc(time_ns);
        format!("{date}T{time}Z")
    };
    is_since_1970(time_ns).then(text)
}

/// The date and the time of day of a time since 1970.
pub fn utc(time_ns: u64) -> (String, String) {
    let (seconds, ns) = (time_ns / 1_000_000_000, time_ns % 1_000_000_000);
    let (days, second) = (seconds / 86_400, seconds % 86_400);
    // Years begin in March, so that leap days end them; 719,468 days from the year 0 to 1970.
    let day = days + 719_468;
    let (era, day) = (day / 146_097, day % 146_097);
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = era * 400 + year + u64::from(month <= 2);
    let (hour, minute, second) = (second / 3_600, second / 60 % 60, second % 60);
    let time = format!("{hour:02}:{minute:02}:{second:02}.{ns:09}");
    (format!("{year}-{month:02}-{day:02}"), time)
}

/// How much a clock is ahead of UTC, or behind it: always the same, as without daylight saving time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UtcOffset {
    minutes: i64,
}

impl UtcOffset {
    /// The date and the time of day of a time since 1970.
    pub fn date_and_time(self, time_ns: u64) -> (String, String) {
        utc(self.as_utc_ns(time_ns))
    }

    /// The time since 1970 at which a clock of UTC shows what this clock shows at `time_ns`.
    pub fn as_utc_ns(self, time_ns: u64) -> u64 {
        time_ns.saturating_add_signed(self.minutes * 60_000_000_000)
    }
}

/// What stands behind a time: `UTC`, or such as `UTC+02:00`.
impl fmt::Display for UtcOffset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let minutes = self.minutes.unsigned_abs();
        let sign = match self.minutes {
            0 => return f.write_str("UTC"),
            1.. => '+',
            _ => '-',
        };
        write!(f, "UTC{sign}{:02}:{:02}", minutes / 60, minutes % 60)
    }
}

/// A text such as `+02:00` or `-03:30`.
impl FromStr for UtcOffset {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        // No place on Earth is further from UTC.
        const MOST_MINUTES: i64 = 14 * 60;
        let two = |text: &str| {
            let is_number = text.len() == 2 && text.bytes().all(|byte| byte.is_ascii_digit());
            is_number.then(|| text.parse::<i64>().ok()).flatten()
        };
        let minutes = || {
            let (hours, minutes) = text.get(1..)?.split_once(':')?;
            let minutes = 60 * two(hours)? + two(minutes).filter(|minutes| *minutes < 60)?;
            let is_known = minutes <= MOST_MINUTES;
            match text.as_bytes()[0] {
                b'+' if is_known => Some(minutes),
                b'-' if is_known => Some(-minutes),
                _ => None,
            }
        };
        let minutes = minutes().ok_or(
            "expected hours and minutes such as +02:00 or -03:30, from -14:00 to +14:00; names of time zones are not known",
        )?;
        Ok(UtcOffset { minutes })
    }
}

/// The time of a text such as `2026-11-24T13:05:07Z`, nanoseconds since 1970; fractions of seconds and a space in place
/// of the `T` may be there. `None` if it is no such text.
pub(crate) fn ns_of_utc(text: &str) -> Option<u64> {
    let (date, time) = text.strip_suffix('Z')?.split_once(['T', ' '])?;
    let number = |text: &str, digits: usize| {
        let is_number = text.len() == digits && text.bytes().all(|byte| byte.is_ascii_digit());
        is_number.then(|| text.parse::<u64>().ok()).flatten()
    };
    let fields = |text: &str, between: char, digits: [usize; 3]| {
        let mut parts = text.split(between).zip(digits).map(|(part, digits)| number(part, digits));
        let fields = [parts.next()??, parts.next()??, parts.next()??];
        (text.split(between).count() == 3).then_some(fields)
    };
    let [year, month, day] = fields(date, '-', [4, 2, 2])?;
    let (clock, fraction) = time.split_once('.').unwrap_or((time, ""));
    let [hour, minute, second] = fields(clock, ':', [2, 2, 2])?;
    let is_fraction = fraction.len() <= 9 && fraction.bytes().all(|byte| byte.is_ascii_digit());
    let is_time = hour < 24 && minute < 60 && second < 60 && is_fraction;
    if !is_time || !(1..=12).contains(&month) || !(1970..2500).contains(&year) || day == 0 {
        return None;
    }
    // Years begin in March, as in `utc`.
    let (from_march, march_year) = ((month + 9) % 12, year - u64::from(month <= 2));
    let days = 365 * march_year + march_year / 4 - march_year / 100 + march_year / 400;
    let days = days + (153 * from_march + 2) / 5 + day - 1 - 719_468;
    let seconds = days * 86_400 + hour * 3_600 + minute * 60 + second;
    let ns = seconds * 1_000_000_000 + format!("{fraction:0<9}").parse::<u64>().ok()?;
    // A day that a month does not have.
    (utc(ns).0 == date).then_some(ns)
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
