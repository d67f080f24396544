//! The SVG elements that figures are made of.
//!
//! Two units make a pixel, so that whole numbers suffice. Every element carries its own
//! presentation attributes: a picture looks the same in a page and in its own file.

use std::fmt::{Display, Write as _};

/// Size of every figure, units.
pub(super) const WIDTH_UNITS: i32 = 1440;
pub(super) const HEIGHT_UNITS: i32 = 960;
/// Usual size of text, units.
pub(super) const TEXT: i32 = 32;

/// Paint of text, axes and rules: the colour of the text around the picture.
pub(super) const INK: &str = "currentColor";

/// Estimated width of a text, units.
pub(super) fn width(text: &str, size: i32) -> i32 {
    let ems: f64 =
        text.chars().map(|c| if "il.,:;|'()[] ".contains(c) { 0.36 } else { 0.61 }).sum();
    (ems * f64::from(size)).ceil() as i32
}

/// Horizontal and vertical position, units from the top left corner.
pub(super) type Position = (i32, i32);

/// Where a picture is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Page {
    /// In its own file, on white.
    Alone,
    /// In an HTML page, whose text colour it takes, dark or light.
    Inline,
}

/// The alignment of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

/// Style of a text.
#[derive(Clone, Copy)]
pub(super) struct Lettering<'a> {
    pub(super) anchor: Anchor,
    pub(super) size: i32,
    pub(super) bold: bool,
    /// Written upwards.
    pub(super) rotated: bool,
    pub(super) paint: &'a dyn Display,
}

impl Default for Lettering<'_> {
    fn default() -> Self {
        Lettering { anchor: Anchor::Start, size: TEXT, bold: false, rotated: false, paint: &INK }
    }
}

/// Style of a line.
#[derive(Clone, Copy)]
pub(super) struct Stroke<'a> {
    pub(super) paint: &'a dyn Display,
    pub(super) width: i32,
    /// Lengths of dash and gap; none for a solid line.
    pub(super) dash: Option<(i32, i32)>,
    /// 0 to 1.
    pub(super) opacity: f64,
}

impl<'a> Stroke<'a> {
    pub(super) fn solid(paint: &'a dyn Display, width: i32) -> Self {
        Stroke { paint, width, dash: None, opacity: 1.0 }
    }
}

/// SVG elements, in drawing order.
#[derive(Default)]
pub(super) struct Drawing {
    svg: String,
}

// Writing to a `String` cannot fail.
impl Drawing {
    /// A line through places.
    pub(super) fn line(&mut self, places: &[Position], stroke: Stroke<'_>) {
        let Stroke { paint, width, dash, opacity } = stroke;
        let points = points(places);
        let _ = write!(
            self.svg,
            "<polyline points=\"{points}\" fill=\"none\" stroke=\"{paint}\" stroke-width=\"{width}\""
        );
        if let Some((dash, gap)) = dash {
            let _ = write!(self.svg, " stroke-dasharray=\"{dash} {gap}\"");
        }
        if opacity < 1.0 {
            let _ = write!(self.svg, " stroke-opacity=\"{opacity}\"");
        }
        self.svg.push_str("/>\n");
    }

    /// A filled polygon; `opacity` from 0 to 1.
    pub(super) fn polygon(&mut self, corners: &[Position], fill: impl Display, opacity: f64) {
        let (points, opacity) = (points(corners), fill_opacity(opacity));
        let _ = writeln!(self.svg, "<polygon points=\"{points}\" fill=\"{fill}\"{opacity}/>");
    }

    pub(super) fn circle(&mut self, (x, y): Position, radius: i32, fill: impl Display) {
        let _ =
            writeln!(self.svg, "<circle cx=\"{x}\" cy=\"{y}\" r=\"{radius}\" fill=\"{fill}\"/>");
    }

    /// A filled rectangle between two opposite corners; `opacity` from 0 to 1.
    pub(super) fn rectangle(
        &mut self,
        from: Position,
        to: Position,
        fill: impl Display,
        opacity: f64,
    ) {
        let (x, y) = (from.0.min(to.0), from.1.min(to.1));
        let (width, height) = ((from.0 - to.0).abs(), (from.1 - to.1).abs());
        let opacity = fill_opacity(opacity);
        let _ = writeln!(
            self.svg,
            "<rect x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" fill=\"{fill}\"{opacity}/>"
        );
    }

    /// A line of text, vertically centred on its place.
    pub(super) fn text(&mut self, text: &str, (x, y): Position, lettering: Lettering<'_>) {
        let Lettering { anchor, size, bold, rotated, paint } = lettering;
        // 0.35 em is half the height of digits and capitals.
        let _ = write!(self.svg, "<text x=\"{x}\" y=\"{y}\" dy=\".35em\" fill=\"{paint}\"");
        match anchor {
            Anchor::Start => {}
            Anchor::Middle => self.svg.push_str(" text-anchor=\"middle\""),
            Anchor::End => self.svg.push_str(" text-anchor=\"end\""),
        }
        if size != TEXT {
            let _ = write!(self.svg, " font-size=\"{size}\"");
        }
        if bold {
            self.svg.push_str(" font-weight=\"bold\"");
        }
        if rotated {
            let _ = write!(self.svg, " transform=\"rotate(-90 {x} {y})\"");
        }
        let _ = writeln!(self.svg, ">{}</text>", escape(text));
    }

    /// The whole picture, with a name and a description for screen readers. `hit_areas` are laid
    /// over the drawing.
    pub(super) fn finish(
        &self,
        title: &str,
        description: &str,
        page: Page,
        hit_areas: &str,
        height_units: i32,
    ) -> String {
        let (width, height) = (WIDTH_UNITS / 2, height_units / 2);
        let (name, about) = (escape(title), escape(description));
        let (paper, hit_areas) = match page {
            Page::Alone => ("<rect width=\"100%\" height=\"100%\" fill=\"#FFFFFF\"/>\n", ""),
            Page::Inline => ("", hit_areas),
        };
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 0 {WIDTH_UNITS} {height_units}\" font-family=\"sans-serif\" \
             font-size=\"{TEXT}\" role=\"img\" aria-label=\"{name}\">\n\
             <title>{name}</title>\n<desc>{about}</desc>\n{paper}{}{hit_areas}</svg>\n",
            self.svg
        )
    }
}

fn fill_opacity(opacity: f64) -> String {
    if opacity < 1.0 { format!(" fill-opacity=\"{opacity}\"") } else { String::new() }
}

fn points(places: &[Position]) -> String {
    let pairs: Vec<String> = places.iter().map(|(x, y)| format!("{x},{y}")).collect();
    pairs.join(" ")
}

/// Escapes text for XML and HTML, in content or between double quotes.
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
