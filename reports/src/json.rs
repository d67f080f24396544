//! A report as JSON: all of it, versioned (`docs/report.md`).

use crate::{Exporter, PageError};
use dropcast_measure::Report;

/// Indented JSON with fields in a fixed order.
#[derive(Clone, Copy, Debug, Default)]
pub struct Json;

impl Exporter for Json {
    fn export(&self, report: &Report) -> Result<String, PageError> {
        let mut text = serde_json::to_string_pretty(report)?;
        text.push('\n');
        Ok(text)
    }
}
