//! A report in one line, for logs: of which trace and time, and `name=value` of each measure.

use crate::{Exporter, PageError};
use dropcast_measure::Report;
use dropcast_measure::measures::{Measure, Measured};

/// One line; what is not known is `null`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Line;

impl Exporter for Line {
    fn export(&self, report: &Report) -> Result<String, PageError> {
        Ok(line(Measured::Report(report)))
    }
}

/// The measures in one line.
pub(crate) fn line(measured: Measured<'_>) -> String {
    let shown = |Measure { name, value, .. }: Measure| match value {
        Some(value) => format!("{name}={value}"),
        None => format!("{name}=null"),
    };
    let measures = measured.measures().into_iter().map(shown);
    let shown: Vec<String> = traces(&measured).into_iter().chain(measures).collect();
    shown.join(" ") + "\n"
}

/// The name of the first trace, in quotes where it is no plain word, how many traces there are, and when the first arrival
/// was.
fn traces(measured: &Measured<'_>) -> [String; 3] {
    let timelines = measured.verdict().map_or(&[][..], |verdict| &verdict.timelines);
    let begin = timelines.iter().min_by_key(|timeline| timeline.begin_ns);
    let begin = begin.and_then(|timeline| timeline.begin_utc.as_deref()).unwrap_or("null");
    let names = measured.verdict().map_or(&[][..], |verdict| &verdict.traces);
    let is_plain = |name: &str| {
        !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || "-_./:+".contains(c))
    };
    let first = match names.first() {
        None => "null".to_owned(),
        Some(name) if is_plain(name) => name.clone(),
        Some(name) => format!("{name:?}"),
    };
    [format!("trace={first}"), format!("traces={}", names.len()), format!("begin_utc={begin}")]
}
