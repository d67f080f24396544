//! Pages: reports, sweeps and figures as JSON, HTML, text and SVG.
//!
//! Numbers come from `dropcast-pipeline` as values; an [`Exporter`] writes a
//! [`Report`](dropcast_pipeline::report::Report) as JSON, as a page or as text. Nothing here
//! measures anything or opens a file.

mod exporter;
pub mod fabric_figure;
pub mod fig14;
pub mod fig15;
mod figures;
mod format;
mod gain_words;
mod html;
mod json;
pub mod map;
mod metric_words;
mod numbers;
pub mod plot;
mod sweep_figures;
mod sweep_view;
mod text;
mod trace_words;

pub use exporter::{ExportError, Exporter};
pub use format::{ReportFormat, UnknownFormat};
pub use gain_words::gain_sentences;
pub use html::{Html, sweep_page};
pub use json::Json;
pub use text::Text;
