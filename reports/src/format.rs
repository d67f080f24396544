//! The formats of a report, one small file each.

use crate::{Details, Exporter, Html, Json, Line, Prometheus, Text};

/// A report format.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    strum::Display,
    strum::EnumString,
    strum::IntoStaticStr,
    strum::VariantArray,
)]
#[strum(serialize_all = "lowercase", parse_err_ty = UnknownReportFormat, parse_err_fn = unknown)]
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

fn unknown(name: &str) -> UnknownReportFormat {
    UnknownReportFormat(name.to_owned())
}

impl ReportFormat {
    /// Every format.
    pub const ALL: &'static [ReportFormat] = <ReportFormat as strum::VariantArray>::VARIANTS;

    /// Its name.
    pub fn name(self) -> &'static str {
        self.into()
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
