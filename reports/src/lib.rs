//! Pages: reports and sweeps as JSON, HTML, text and SVG.
//!
//! Numbers come from `dropcast-pipeline` as values; an [`Exporter`] writes a
//! [`Report`](dropcast_measure::Report) as JSON, as a page or as text. Nothing here
//! measures anything or opens a file.
//!
//! ```
//! use dropcast_data::{LabelledBatch, RowOrder, TraceMeta};
//! use dropcast_forest::{Forest, Node, SwitchContext, Tree};
//! use dropcast_measure::{ModelSource, ReportBuilder, TraceSource};
//! use dropcast_reports::{Exporter, Html, Text};
//! use dropcast_train::TrainedModel;
//!
//! // A drop is predicted if the packet's queue is longer than 60,000 bytes.
//! let split = Node::Split { feature: 0, threshold: 60_000, left: 1, right: 2 };
//! let tree = Tree { nodes: vec![split, Node::Leaf { weight: 0 }, Node::Leaf { weight: 255 }] };
//! let forest = Forest { features: Vec::new(), vote_threshold: 127, trees: vec![tree] };
//! let model = TrainedModel::new(forest, "queue_length".parse()?, SwitchContext::default());
//!
//! // Measured on two rows, one of them a drop.
//! let columns = model.features.names();
//! let meta = TraceMeta::unknown(RowOrder::Departure, columns.clone());
//! let mut builder = ReportBuilder::new("example", &model, ModelSource::default());
//! let name = "rows".to_owned();
//! builder.begin_trace(TraceSource { name, meta, columns, run: None, held_out: true })?;
//! let (features, drop) = (vec![vec![50_000, 70_000]], vec![false, true]);
//! builder.add(&LabelledBatch { features, drop, ..LabelledBatch::default() })?;
//! builder.end_trace(Default::default());
//! let report = builder.finish();
//!
//! assert_eq!(report.prediction.f1, Some(1.0));
//! assert!(Html.export(&report)?.contains("<svg") && Text.export(&report)?.contains("recall 100%"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod advice_value;
mod answer;
mod check_words;
pub mod csv;
mod drift_words;
mod drop_words;
mod exporter;
pub mod figure15;
mod figures;
mod format;
mod html;
mod json;
mod line;
mod next;
pub mod numbers;
mod overview;
mod place_words;
pub mod plot;
mod prometheus;
mod rival_words;
mod sweep_figures;
mod sweep_view;
mod switch_totals;
mod text;
mod trace_words;
mod verdict_figures;
mod verdict_in;
mod verdict_words;
pub mod words;

pub use exporter::{Exporter, PageError};
pub use format::{ReportFormat, UnknownReportFormat};
pub use html::{Html, sweep_page, verdict_page};
pub use json::Json;
pub use line::Line;
pub use next::next_command;
pub use prometheus::Prometheus;
pub use text::{Details, Text};
pub use verdict_in::verdict_in;
pub use verdict_words::verdict_text;
