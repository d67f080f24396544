//! Lines of a list, and numbers in them.

use super::error::FlowListError;
use std::cell::Cell;
use std::io::{BufRead, Read};

/// No line is as long, bytes.
const LONGEST_LINE: usize = 1 << 16;
/// The latest start, nanoseconds (13 days): up to here a double of seconds or picoseconds is exact to the nanosecond.
const LATEST_NS: f64 = (1_u64 << 50) as f64;

/// A line that is not blank.
#[derive(Clone, Debug, Default)]
pub(super) struct Line {
    /// Its number, from 1.
    pub(super) number: usize,
    pub(super) text: String,
    /// Whether a time in it was rounded.
    pub(super) is_rounded: Cell<bool>,
}

impl Line {
    pub(super) fn wrong(&self, problem: impl Into<String>) -> FlowListError {
        FlowListError::Line { line: self.number, problem: problem.into() }
    }

    pub(super) fn field(&self, column: &'static str, problem: String) -> FlowListError {
        FlowListError::Field { line: self.number, column, problem }
    }

    /// A whole number.
    pub(super) fn number<T: std::str::FromStr>(
        &self,
        column: &'static str,
        text: &str,
    ) -> Result<T, FlowListError> {
        text.parse().map_err(|_| {
            let bytes = size_of::<T>();
            let problem = format!("is {text:?}, expected a whole number of {bytes} bytes");
            self.field(column, problem)
        })
    }

    /// A time in units of so many nanoseconds, rounded to whole nanoseconds.
    pub(super) fn time_ns(
        &self,
        column: &'static str,
        text: &str,
        (unit, unit_ns): (&str, f64),
    ) -> Result<u64, FlowListError> {
        let ns = text.parse::<f64>().ok().map(|time| time * unit_ns);
        let ns = ns.filter(|ns| (0.0..=LATEST_NS).contains(ns));
        // Beyond what multiplying rounds.
        let is_rounded = |ns: f64| (ns - ns.round()).abs() > 1e-6_f64.max(ns * f64::EPSILON);
        self.is_rounded.set(ns.is_some_and(is_rounded));
        ns.map(|ns| ns.round() as u64).ok_or_else(|| {
            let latest = LATEST_NS / unit_ns;
            self.field(column, format!("is {text:?}, expected {unit}, 0 to {latest:.0}"))
        })
    }
}

/// The lines of a text.
pub(super) struct Lines<R> {
    text: R,
    number: usize,
    bytes: Vec<u8>,
}

impl<R: BufRead> Lines<R> {
    pub(super) fn new(text: R) -> Self {
        Lines { text, number: 0, bytes: Vec::new() }
    }

    /// The next line that is not blank.
    pub(super) fn next(&mut self) -> Result<Option<Line>, FlowListError> {
        loop {
            self.bytes.clear();
            self.number += 1;
            let most = LONGEST_LINE as u64;
            self.text.by_ref().take(most).read_until(b'\n', &mut self.bytes)?;
            let number = self.number;
            if self.bytes.len() == LONGEST_LINE {
                let problem = format!("is longer than {LONGEST_LINE} bytes, which no flow is");
                return Err(FlowListError::Line { line: number, problem });
            }
            if self.bytes.is_empty() {
                return Ok(None);
            }
            let text = String::from_utf8_lossy(&self.bytes);
            let text = text.trim();
            if !text.is_empty() {
                return Ok(Some(Line { number, text: text.to_owned(), ..Line::default() }));
            }
        }
    }
}
