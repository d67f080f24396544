//! From a drawing to an SVG that says what it shows and follows its page's colours.

use super::canvas::{HEIGHT_UNITS, WIDTH_UNITS};
use super::marks::Marks;

/// Where a picture will stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Page {
    /// In a file of its own, on white.
    Alone,
    /// In an HTML page, whose text colour it takes, dark or light.
    Inline,
}

/// A figure could not be drawn.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("figure {title:?} could not be drawn: {reason}")]
pub struct PlotError {
    /// The figure's title.
    pub title: String,
    /// What the drawing library says.
    pub reason: String,
}

/// Replaces the drawing library's outermost element by one with a name, a description and a size
/// that fits its place, and black by the colour of the text around it.
///
/// In a page, what can be pointed at lies over the drawing.
pub(super) fn finish(
    drawing: &str,
    marks: &Marks,
    title: &str,
    description: &str,
    page: Page,
) -> String {
    let inner = drawing.split_once('>').map_or("", |(_, inner)| inner);
    let inner = inner
        .replace("\"#000000\"", "\"currentColor\"")
        .replace(" \"/>", "\"/>")
        .replace("\n</text>", "</text>");
    let inner = text_on_one_line(&inner);
    let (width, height) = (WIDTH_UNITS / 2, HEIGHT_UNITS / 2);
    let (name, about) = (escape(title), escape(description));
    let paper = match page {
        Page::Alone => "<rect width=\"100%\" height=\"100%\" fill=\"#FFFFFF\"/>\n",
        Page::Inline => "",
    };
    let mut inner = inner.trim().to_owned();
    if page == Page::Inline
        && let Some(open) = inner.strip_suffix("</svg>")
    {
        inner = format!("{open}{}</svg>", marks.svg());
    }
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {WIDTH_UNITS} {HEIGHT_UNITS}\" role=\"img\" aria-label=\"{name}\">\n\
         <title>{name}</title>\n<desc>{about}</desc>\n{paper}{inner}\n"
    )
}

/// The library breaks the line after `<text ...>`; a reader that keeps spaces would show it.
fn text_on_one_line(svg: &str) -> String {
    let mut out = String::with_capacity(svg.len());
    for line in svg.lines() {
        out.push_str(line);
        if !line.starts_with("<text") || line.ends_with("</text>") {
            out.push('\n');
        }
    }
    out
}

/// Text as it is written in XML and HTML, in content or between double quotes.
pub(crate) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}
