//! Hit areas: the points of a plot that respond to the pointer, with their texts.
//!
//! On a page, each hit area lies invisibly over the drawing, with its exact values and a text. A
//! browser shows the text by itself; the page's script shows it better, and for keyboard users too.
//! Hit areas are invisible by their own attributes, so a picture taken out of its page needs no
//! style sheet.

use super::svg::{Position, escape};
use std::fmt::Write as _;

/// Points closer together than this, units across and down, share a hit area.
const CLOSE: i32 = 5;
/// Radius of a point's hit area.
const REACH: i32 = 16;

/// The hit areas of a figure, by series.
#[derive(Default)]
pub(super) struct Marks {
    series: Vec<(String, Vec<Mark>)>,
}

struct Mark {
    from: Position,
    to: Position,
    x: String,
    y: f64,
    text: String,
}

impl Marks {
    /// The marks that follow belong to this series.
    pub(super) fn begin(&mut self, series: &str) {
        self.series.push((series.to_owned(), Vec::new()));
    }

    /// A point with its values. A point too close to the last one is left out.
    pub(super) fn point(&mut self, at: Position, (x, y): (f64, f64), text: String) {
        self.add(Mark { from: at, to: at, x: x.to_string(), y, text });
    }

    /// A box of a category with its value.
    pub(super) fn area(
        &mut self,
        from: Position,
        to: Position,
        category: &str,
        y: f64,
        text: String,
    ) {
        let (from, to) =
            ((from.0.min(to.0), from.1.min(to.1)), (from.0.max(to.0), from.1.max(to.1)));
        self.add(Mark { from, to, x: category.to_owned(), y, text });
    }

    fn add(&mut self, mark: Mark) {
        let Some((_, marks)) = self.series.last_mut() else { return };
        let is_close = |last: &Mark| {
            (last.from.0 - mark.from.0).abs() < CLOSE && (last.from.1 - mark.from.1).abs() < CLOSE
        };
        if mark.from != mark.to || !marks.last().is_some_and(is_close) {
            marks.push(mark);
        }
    }

    /// The marks as SVG, a group for each series.
    pub(super) fn svg(&self) -> String {
        let mut svg = String::new();
        for (name, marks) in &self.series {
            let _ = writeln!(
                svg,
                "<g class=\"marks\" data-series=\"{}\" fill=\"none\" pointer-events=\"all\">",
                escape(name)
            );
            marks.iter().for_each(|mark| mark.svg(&mut svg));
            svg.push_str("</g>\n");
        }
        svg
    }
}

impl Mark {
    fn svg(&self, svg: &mut String) {
        let (x, y) = self.from;
        let (wide, high) = (self.to.0 - x, self.to.1 - y);
        let (value, of, text) = (self.y, escape(&self.x), escape(&self.text));
        let _ = if self.from == self.to {
            write!(svg, "<circle cx=\"{x}\" cy=\"{y}\" r=\"{REACH}\"")
        } else {
            write!(svg, "<rect x=\"{x}\" y=\"{y}\" width=\"{wide}\" height=\"{high}\"")
        };
        let close = if self.from == self.to { "circle" } else { "rect" };
        let _ =
            writeln!(svg, " data-x=\"{of}\" data-y=\"{value}\"><title>{text}</title></{close}>");
    }
}
