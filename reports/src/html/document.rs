//! The HTML file around the sections: style, script, table of contents and JSON.

use super::body::Body;
use crate::plot::escape;

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str =
    concat!(include_str!("page.js"), include_str!("tools.js"), include_str!("votes.js"));
/// Forbids all fetches.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; \
                      base-uri 'none'; form-action 'none'";

/// A page without its sections.
pub(super) struct Document<'a> {
    pub(super) title: &'a str,
    /// HTML of the heading.
    pub(super) header: &'a str,
    pub(super) json: &'a str,
}

impl Document<'_> {
    /// The whole file.
    pub(super) fn write(&self, mut page: Body) -> String {
        page.end_section();
        let (title, header, sections) = (escape(self.title), self.header, &page.html);
        let (contents, json) = (contents(&page.sections), embedded(self.json));
        format!(
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta name=\"color-scheme\" content=\"light dark\">\n\
             <title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n\
             <header>\n{header}{contents}</header>\n<main>\n{sections}</main>\n\
             <script type=\"application/json\" id=\"report\">\n{json}</script>\n\
             <script>\n{SCRIPT}</script>\n</body>\n</html>\n"
        )
    }
}

fn contents(sections: &[(&'static str, String)]) -> String {
    let link = |(id, title): &(&str, String)| {
        format!("<li><a href=\"#{id}\">{}</a></li>\n", escape(title))
    };
    let links: String = sections.iter().map(link).collect();
    format!("<nav aria-label=\"Contents\">\n<ul>\n{links}</ul>\n</nav>\n")
}

/// JSON without `<`, which HTML could parse as markup: it occurs only in strings, where it can be
/// escaped. Indentation, a third of the size, is removed.
fn embedded(json: &str) -> String {
    let lines = json.lines().map(str::trim_start);
    lines.collect::<Vec<_>>().join("\n").replace('<', "\\u003c")
}
