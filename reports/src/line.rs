//! A report in one line, for logs: `name=value` of each measure.

use crate::{Exporter, PageError};
use dropcast_pipeline::report::Report;
use dropcast_pipeline::report::measures::{Measure, Measured};

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
    let shown: Vec<String> = measured.measures().into_iter().map(shown).collect();
    shown.join(" ") + "\n"
}
