//! The formats of a report, one small file for each.

use crate::plot::PlotError;
use crate::{Html, Json, Text};
use dropcast_pipeline::report::Report;
use std::fmt;
use std::str::FromStr;

/// Writes a report in one format. The same report gives the same bytes.
pub trait Exporter {
    /// The report as text.
    ///
    /// # Errors
    /// See [`ExportError`]; none is known to happen to a report from a builder.
    fn export(&self, report: &Report) -> Result<String, ExportError>;
}

/// A report could not be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExportError {
    /// A plot could not be drawn.
    #[error(transparent)]
    Plot(#[from] PlotError),
    /// The numbers could not be written.
    #[error("the report could not be written as JSON: {0}")]
    Json(#[from] serde_json::Error),
}

/// A format that a user can ask for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReportFormat {
    /// Every number, for programs.
    Json,
    /// A page, for readers.
    #[default]
    Html,
    /// A summary, for terminals.
    Text,
}

/// No format has this name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown report format {0:?}; known are json, html and text")]
pub struct UnknownFormat(pub String);

impl ReportFormat {
    /// Every format.
    pub const ALL: [ReportFormat; 3] = [ReportFormat::Json, ReportFormat::Html, ReportFormat::Text];

    /// Its name, and the ending of its files.
    pub fn name(self) -> &'static str {
        match self {
            ReportFormat::Json => "json",
            ReportFormat::Html => "html",
            ReportFormat::Text => "text",
        }
    }

    /// What writes it.
    pub fn exporter(self) -> &'static dyn Exporter {
        match self {
            ReportFormat::Json => &Json,
            ReportFormat::Html => &Html,
            ReportFormat::Text => &Text,
        }
    }
}

impl fmt::Display for ReportFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for ReportFormat {
    type Err = UnknownFormat;

    fn from_str(text: &str) -> Result<Self, UnknownFormat> {
        let named = ReportFormat::ALL.into_iter().find(|format| format.name() == text);
        named.ok_or_else(|| UnknownFormat(text.to_owned()))
    }
}
