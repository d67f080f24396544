//! A report as a page: one self-contained file, readable on screen and on paper.
//!
//! Sections are written to a `body`, and `document` wraps them into a file. Each section has a file
//! named after it.

mod body;
mod calibration;
mod checks;
mod document;
mod eta;
mod features;
mod importance;
mod model_card;
mod overview;
mod predictions;
mod provenance;
mod queues;
mod resources;
mod summary;
mod sweep;
mod table;
mod thresholds;
mod throughput;
mod timeline;
mod verdict;

use crate::{Exporter, Json, PageError};
use body::Body;
use document::Document;
use dropcast_measure::Report;

pub use sweep::sweep_page;
pub use verdict::verdict_page;

/// A single HTML file with plots as inline SVG and the JSON of the report inside.
#[derive(Clone, Copy, Debug, Default)]
pub struct Html;

impl Exporter for Html {
    fn export(&self, report: &Report) -> Result<String, PageError> {
        let mut page = Body::default();
        let verdict = report.verdict.as_ref();
        match verdict {
            Some(verdict) => summary::write(&mut page, verdict, Some(report)),
            None => summary::unreplayed(&mut page, report),
        }
        predictions::write(&mut page, report);
        thresholds::write(&mut page, report);
        match &report.replay {
            Some(replay) => eta::write(&mut page, replay),
            None => eta::omitted(&mut page, report),
        }
        calibration::write(&mut page, report);
        if let Some(verdict) = verdict {
            throughput::write(&mut page, verdict, report.replay.as_ref());
            queues::write(&mut page, verdict);
            timeline::write(&mut page, verdict);
        }
        features::write(&mut page, report);
        importance::write(&mut page, report);
        resources::write(&mut page, report);
        checks::write(&mut page, verdict, Some(report));
        provenance::write(&mut page, report);
        model_card::write(&mut page, report);
        let names: Vec<&str> = report.traces.iter().map(|trace| trace.name.as_str()).collect();
        let title = summary::title(Some(report), &names);
        let document = Document {
            title: &title,
            header: &summary::header(&title, verdict, Some(report)),
            json: &Json.export(report)?,
        };
        Ok(document.write(page))
    }
}
