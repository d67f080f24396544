//! Conditions on the numbers of a report, such as `switch_drops > 0`: gates of daily jobs.

use super::measures::{Measure, RENAMED, ReportOrVerdict, TRUSTED};
use std::fmt;
use std::str::FromStr;

/// A condition: a measure against a number.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    measure: &'static str,
    comparison: Comparison,
    number: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Comparison {
    Above,
    AtLeast,
    Below,
    AtMost,
}

/// Longer ones first: `>` begins `>=`.
const COMPARISONS: [(&str, Comparison, &str); 4] = [
    (">=", Comparison::AtLeast, "at least"),
    ("<=", Comparison::AtMost, "at most"),
    (">", Comparison::Above, "above"),
    ("<", Comparison::Below, "below"),
];

/// A condition that is a word: a check failed.
const UNTRUSTED: &str = "untrusted";

/// What a report says of a condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Judged {
    /// It does not hold.
    Fails,
    /// It holds; a sentence says so.
    Holds(String),
    /// The measure is not defined or not known; a sentence says so.
    Unknown(String),
}

impl Condition {
    /// Whether it holds of a report or verdict.
    pub fn judge(&self, measured: ReportOrVerdict<'_>) -> Judged {
        let measures = measured.measures();
        let Some(Measure { name, meaning, value }) =
            measures.into_iter().find(|measure| measure.name == self.measure)
        else {
            return Judged::Unknown(format!("{self} cannot be judged"));
        };
        let Some(value) = value else {
            return Judged::Unknown(format!(
                "{self} cannot be judged: {name} ({meaning}) is not known of this report"
            ));
        };
        let holds = match self.comparison {
            Comparison::Above => value > self.number,
            Comparison::AtLeast => value >= self.number,
            Comparison::Below => value < self.number,
            Comparison::AtMost => value <= self.number,
        };
        if !holds {
            return Judged::Fails;
        }
        let words = COMPARISONS.iter().find(|known| known.1 == self.comparison);
        let words = words.map_or("", |known| known.2);
        Judged::Holds(format!("{name} is {value}, {words} {}: {meaning}", self.number))
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = COMPARISONS.iter().find(|known| known.1 == self.comparison);
        write!(f, "{} {} {}", self.measure, sign.map_or("", |known| known.0), self.number)
    }
}

impl FromStr for Condition {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text.trim() == UNTRUSTED {
            return Ok(Condition { measure: TRUSTED, comparison: Comparison::Below, number: 1.0 });
        }
        let shape = || {
            format!(
                "{text:?} is no condition, expected one such as 'switch_drops > 0' or {UNTRUSTED}"
            )
        };
        let found = COMPARISONS.iter().find_map(|&(sign, comparison, _)| {
            text.split_once(sign).map(|(name, number)| (name.trim(), comparison, number.trim()))
        });
        let (name, comparison, number) = found.ok_or_else(shape)?;
        let measure = Measure::names().find(|known| *known == name).ok_or_else(|| {
            if let Some((_, now)) = RENAMED.iter().find(|(earlier, _)| *earlier == name) {
                return format!("{name:?} is called {now:?} now");
            }
            let known: Vec<&str> = Measure::names().collect();
            format!("{name:?} is no measure of a report; known are {}", known.join(", "))
        })?;
        let number = number.parse().ok().filter(|number: &f64| number.is_finite());
        Ok(Condition { measure, comparison, number: number.ok_or_else(shape)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_are_read_as_they_are_written() {
        for text in ["lqd_drops > 0", "gain < -1500", "drift >= 1.5", "f1 <= 0.25"] {
            let read: Condition = text.parse().expect("a condition");
            assert_eq!(read.to_string(), text);
            assert_eq!(text.replace(' ', "").parse(), Ok(read));
        }
        for text in
            ["", "f1", "f1 0", "f1 > x", "f1 > NaN", "f1 > inf", "> 0", "f1 => 0", "untrusted > 0"]
        {
            assert!(text.parse::<Condition>().is_err(), "{text}");
        }
        assert_eq!("untrusted".parse::<Condition>(), "trusted < 1".parse());
        let renamed = "own_drops > 0".parse::<Condition>().expect_err("its earlier name");
        assert_eq!(renamed, "\"own_drops\" is called \"switch_drops\" now");
        let unknown = "drop > 0".parse::<Condition>().expect_err("no measure");
        assert!(
            unknown.starts_with("\"drop\" is no measure of a report; known are trusted, arrivals,")
        );
    }
}
