//! A report as a page: one file, nothing fetched, readable on screen and on paper.

mod sections;
mod table;

use crate::plot::Page;
use crate::plot::escape;
use crate::{ExportError, Exporter, Json, Report};
use sections::{Body, body};

/// A single HTML file with plots as inline SVG and the JSON of the report inside.
#[derive(Clone, Copy, Debug, Default)]
pub struct Html;

const STYLE: &str = include_str!("html/page.css");

impl Exporter for Html {
    fn export(&self, report: &Report) -> Result<String, ExportError> {
        let mut page = Body::default();
        body(&mut page, report)?;
        let title = format!("Drop prediction: {}", report.trace_names());
        Ok(format!(
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta name=\"color-scheme\" content=\"light dark\">\n\
             <title>{}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n{}\
             <script type=\"application/json\" id=\"report\">\n{}</script>\n</body>\n</html>\n",
            escape(&title),
            page.html,
            embedded(&Json.export(report)?)
        ))
    }
}

/// JSON that no HTML parser takes for markup: `<` occurs in JSON only in strings, where its
/// escape means the same.
fn embedded(json: &str) -> String {
    json.replace('<', "\\u003c")
}

impl Body {
    /// A figure with its caption.
    fn figure(&mut self, svg: &str, caption: &str) {
        self.html.push_str(&format!(
            "<figure>\n{svg}<figcaption>{}</figcaption>\n</figure>\n",
            escape(caption)
        ));
    }
}

/// Where the page's figures stand.
const PAGE: Page = Page::Inline;
