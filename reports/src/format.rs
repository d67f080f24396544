//! The formats of a report, one small file each.

use crate::{Details, Exporter, Html, Json, Line, Prometheus, Text};
use std::fmt;
use std::str::FromStr;

/// A report format.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReportFormat {
    /// Every number, for programs.
    Json,
    /// A page, for readers.
    #[default]
    Html,
    /// The answer, for terminals.
    Text,
    /// Every fact as text.
    Details,
    /// One line, for logs.
    Line,
    /// Gauges in Prometheus' text exposition format, for monitoring.
    Prometheus,
}

/// No format has this name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown report format {0:?}; known are json, html, text, details, line and prometheus")]
pub struct UnknownReportFormat(pub String);

impl ReportFormat {
    /// Every format.
    pub const ALL: [ReportFormat; 6] = [
        ReportFormat::Json,
        ReportFormat::Html,
        ReportFormat::Text,
        ReportFormat::Details,
        ReportFormat::Line,
        ReportFormat::Prometheus,
    ];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            ReportFormat::Json => "json",
            ReportFormat::Html => "html",
            ReportFormat::Text => "text",
            ReportFormat::Details => "details",
            ReportFormat::Line => "line",
            ReportFormat::Prometheus => "prometheus",
        }
    }

    /// Its exporter.
    pub fn exporter(self) -> &'static dyn Exporter {
        match self {
            ReportFormat::Json => &Json,
            ReportFormat::Html => &Html,
            ReportFormat::Text => &Text,
            ReportFormat::Details => &Details,
            ReportFormat::Line => &Line,
            ReportFormat::Prometheus => &Prometheus,
        }
    }
}

impl fmt::Display for ReportFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for ReportFormat {
    type Err = UnknownReportFormat;

    fn from_str(text: &str) -> Result<Self, UnknownReportFormat> {
        let named = ReportFormat::ALL.into_iter().find(|format| format.name() == text);
        named.ok_or_else(|| UnknownReportFormat(text.to_owned()))
    }
}
