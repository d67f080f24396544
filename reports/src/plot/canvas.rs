//! The canvas of a figure: title, legend, axes, markers, notes.
//!
//! Text is laid out by a conservative estimate of its width, because an SVG does not know the
//! reader's font.

use super::figure::Draw;
use super::marks::Marks;
use super::palette::{Look, Marker, Rgb};
use super::svg::{
    Anchor, Drawing, HEIGHT_UNITS, INK, Lettering, Page, Position, Stroke, TEXT, WIDTH_UNITS, width,
};
use super::ticks::Ruler;
use std::ops::Range;

const TITLE: i32 = 37;
const MARGIN: i32 = 24;
/// Room for half of the last tick's text.
const RIGHT: i32 = 30;
const LINE_HEIGHT: i32 = 46;
/// Length of a tick.
const TICK: i32 = 8;
/// Length of the sample of a line in the legend.
const SAMPLE: i32 = 84;
/// Room for the texts of a horizontal axis.
const BELOW: i32 = 2 * LINE_HEIGHT + 14;
const MARKER: i32 = 9;
const BIG_MARKER: i32 = 14;

/// A legend's sample beside a name.
pub(super) enum Sample {
    Line(Draw, Look),
    Bar(Look),
}

pub(super) struct Canvas {
    drawing: Drawing,
    /// Hit areas.
    pub(super) marks: Marks,
    /// First free line at the top.
    pub(super) top: i32,
    /// Last free line at the bottom.
    bottom: i32,
    /// Height of the whole; a long legend makes it higher, not the plot flatter.
    height: i32,
}

/// Lines of a legend that the usual height has room for.
const LEGEND_LINES: i32 = 2;

/// Draws a figure with `draw` on a canvas with its title, and returns the SVG. Without a title it is named by its description.
pub(super) fn paint(
    title: &str,
    description: &str,
    page: Page,
    draw: impl FnOnce(&mut Canvas),
) -> String {
    let mut canvas = Canvas {
        drawing: Drawing::default(),
        marks: Marks::default(),
        top: MARGIN,
        bottom: HEIGHT_UNITS - MARGIN,
        height: HEIGHT_UNITS,
    };
    canvas.heading(title);
    draw(&mut canvas);
    let title = if title.is_empty() { description } else { title };
    canvas.drawing.finish(title, description, page, &canvas.marks.svg(), canvas.height)
}

impl Canvas {
    fn heading(&mut self, title: &str) {
        for line in wrapped(title, TITLE, WIDTH_UNITS - 2 * MARGIN) {
            let lettering = Lettering { size: TITLE, bold: true, ..Lettering::default() };
            self.drawing.text(&line, (MARGIN, self.top + TITLE / 2), lettering);
            self.top += LINE_HEIGHT;
        }
        self.top += if title.is_empty() { 0 } else { 10 };
    }

    /// Makes the picture as high as a plot of so many units needs, with room for the texts of a horizontal axis or without.
    pub(super) fn fit(&mut self, plot: usize, has_axis: bool) {
        self.bottom = self.top + i32::try_from(plot).unwrap_or(HEIGHT_UNITS) + BELOW;
        self.height = self.bottom + if has_axis { MARGIN } else { MARGIN - BELOW };
    }

    /// Makes the picture higher by so many units.
    pub(super) fn heighten(&mut self, units: usize) {
        let more = i32::try_from(units).unwrap_or(0);
        self.height += more;
        self.bottom += more;
    }

    /// Lines of text at the bottom of the free space.
    pub(super) fn notes(&mut self, notes: &[String]) {
        let wrap = |note: &String| wrapped(note, TEXT, WIDTH_UNITS - 2 * MARGIN);
        let lines: Vec<String> = notes.iter().flat_map(wrap).collect();
        self.bottom -= LINE_HEIGHT * lines.len() as i32;
        for (at, line) in lines.iter().enumerate() {
            let y = self.bottom + LINE_HEIGHT * at as i32 + LINE_HEIGHT / 2;
            self.text(line, (MARGIN, y), Anchor::Start);
        }
        self.bottom -= if lines.is_empty() { 0 } else { LINE_HEIGHT / 3 };
    }

    /// The legend, in as many lines as it needs, at the top of the free space.
    pub(super) fn legend(&mut self, entries: &[(Sample, &str)]) {
        let (mut x, mut y) = (MARGIN, self.top + LINE_HEIGHT / 2);
        for (sample, name) in entries {
            let needs = SAMPLE + 16 + width(name, TEXT);
            if x > MARGIN && x + needs > WIDTH_UNITS - MARGIN {
                (x, y) = (MARGIN, y + LINE_HEIGHT);
            }
            match sample {
                Sample::Line(draw, look) => self.line_sample(*draw, *look, (x, y)),
                Sample::Bar(look) => self.bar((x, y - 11), (x + SAMPLE, y + 11), *look),
            }
            self.text(name, (x + SAMPLE + 16, y), Anchor::Start);
            x += needs + 44;
        }
        let lines = 1 + (y - self.top) / LINE_HEIGHT;
        self.heighten((LINE_HEIGHT * (lines - LEGEND_LINES).max(0)) as usize);
        self.top = y + LINE_HEIGHT / 2 + 22;
    }

    fn line_sample(&mut self, draw: Draw, look: Look, (x, y): Position) {
        if !matches!(draw, Draw::Marks | Draw::Dots) {
            self.line(&[(x, y), (x + SAMPLE, y)], draw, look);
        }
        if draw != Draw::Rule {
            self.marker((x + SAMPLE / 2, y), draw, look);
        }
    }

    /// Text of the usual size.
    pub(super) fn text(&mut self, text: &str, at: Position, anchor: Anchor) {
        self.drawing.text(text, at, Lettering { anchor, ..Lettering::default() });
    }

    /// A line through points of the canvas.
    pub(super) fn line(&mut self, places: &[Position], draw: Draw, look: Look) {
        let stroke = if draw == Draw::Rule {
            Stroke { dash: Some((3, 7)), ..Stroke::solid(&INK, 3) }
        } else {
            Stroke { dash: look.dash, ..Stroke::solid(&look.colour, 5) }
        };
        self.drawing.line(places, stroke);
    }

    /// A marker of a series.
    pub(super) fn marker(&mut self, (x, y): Position, draw: Draw, look: Look) {
        let r = if draw == Draw::Marks { BIG_MARKER } else { MARKER };
        let (drawing, colour) = (&mut self.drawing, look.colour);
        match look.marker {
            Marker::Disc => drawing.circle((x, y), r, colour),
            Marker::Square => drawing.rectangle((x - r, y - r), (x + r, y + r), colour, 1.0),
            Marker::Triangle => {
                let corners = [(x, y - r - 3), (x + r + 2, y + r), (x - r - 2, y + r)];
                drawing.polygon(&corners, colour, 1.0);
            }
            Marker::Diamond => {
                let far = r + 3;
                let corners = [(x, y - far), (x + far, y), (x, y + far), (x - far, y)];
                drawing.polygon(&corners, colour, 1.0);
            }
            Marker::Cross => {
                let stroke = Stroke::solid(&colour, 5);
                drawing.line(&[(x - r, y - r), (x + r, y + r)], stroke);
                drawing.line(&[(x - r, y + r), (x + r, y - r)], stroke);
            }
        }
    }

    /// The mark of a point that lies above the plot, at its upper edge: an arrow.
    pub(super) fn arrow_up(&mut self, (x, y): Position, look: Look) {
        let stroke = Stroke::solid(&look.colour, 5);
        self.drawing.line(&[(x - 10, y + 12), (x, y), (x + 10, y + 12)], stroke);
        self.drawing.line(&[(x, y), (x, y + 26)], stroke);
    }

    /// An interval as a vertical error bar.
    pub(super) fn interval(&mut self, low: Position, high: Position, look: Look) {
        let stroke = Stroke::solid(&look.colour, 3);
        self.drawing.line(&[low, high], stroke);
        for (x, y) in [low, high] {
            self.drawing.line(&[(x - 8, y), (x + 8, y)], stroke);
        }
    }

    /// A range as a horizontal error bar, in the text colour: it is seen on its bar.
    pub(super) fn range(&mut self, (low, high): (i32, i32), y: i32) {
        let stroke = Stroke::solid(&INK, 3);
        self.drawing.line(&[(low, y), (high, y)], stroke);
        for x in [low, high] {
            self.drawing.line(&[(x, y - 7), (x, y + 7)], stroke);
        }
    }

    /// A pale band around the line of a series.
    pub(super) fn band(&mut self, corners: &[Position], look: Look) {
        self.drawing.polygon(corners, look.colour, 0.15);
    }

    /// A bar: solid, or pale with an outline where the look has a dash.
    pub(super) fn bar(&mut self, from: Position, to: Position, look: Look) {
        if look.dash.is_none() {
            return self.drawing.rectangle(from, to, look.colour, 1.0);
        }
        self.drawing.rectangle(from, to, look.colour, 0.3);
        let ((x0, y0), (x1, y1)) = (from, to);
        let outline = [(x0, y0), (x1, y0), (x1, y1), (x0, y1), (x0, y0)];
        self.drawing.line(&outline, Stroke::solid(&look.colour, 4));
    }

    /// A box of one colour with text in its middle.
    pub(super) fn tile(
        &mut self,
        from: Position,
        to: Position,
        fill: Rgb,
        text: &str,
        (size, ink): (i32, Rgb),
    ) {
        self.drawing.rectangle(from, to, fill, 1.0);
        let middle = ((from.0 + to.0) / 2, (from.1 + to.1) / 2);
        let lettering =
            Lettering { anchor: Anchor::Middle, size, paint: &ink, ..Lettering::default() };
        self.drawing.text(text, middle, lettering);
    }

    /// A vertical line in the text colour.
    pub(super) fn zero_line(&mut self, x: i32, down: Range<i32>) {
        self.drawing.line(&[(x, down.start), (x, down.end)], Stroke::solid(&INK, 3));
    }

    /// Draws axes and grid in the space left between `top` and `bottom`, right of `left`, and
    /// returns where the values are.
    pub(super) fn axes(&mut self, left: i32, x: Axes, y: Axes) -> Plot {
        let across = MARGIN + left..WIDTH_UNITS - MARGIN - RIGHT;
        let down = self.top..self.bottom - BELOW;
        let plot = Plot { x: x.ruler, y: y.ruler, across, down };
        self.horizontal_axis(&plot, &x.label, x.has_grid);
        self.vertical_axis(&plot, &y.label, y.has_grid);
        plot
    }

    /// Heights of plots under one another, top to bottom, in the space that is left.
    pub(super) fn stacked(&self, heights: &[u32], gap: i32) -> Vec<Range<i32>> {
        let (top, bottom) = (self.top, self.bottom - BELOW);
        let all = f64::from(heights.iter().sum::<u32>().max(1));
        let free = f64::from(bottom - top - gap * (heights.len() as i32 - 1).max(0));
        let mut from = top;
        let place = |&height: &u32| {
            let to = from + (free * f64::from(height) / all) as i32;
            let place = from..to;
            from = to + gap;
            place
        };
        heights.iter().map(place).collect()
    }

    /// The next axes have their values here.
    pub(super) fn set_down(&mut self, down: &Range<i32>) {
        (self.top, self.bottom) = (down.start, down.end + BELOW);
    }

    fn horizontal_axis(&mut self, plot: &Plot, label: &str, has_grid: bool) {
        let (across, down) = (&plot.across, &plot.down);
        for (value, text) in &plot.x.ticks {
            let x = plot.x.position(*value, across.start, across.end);
            if has_grid {
                self.drawing.line(&[(x, down.start), (x, down.end)], GRID);
                self.drawing.line(&[(x, down.end), (x, down.end + TICK)], AXIS);
            }
            if !text.is_empty() {
                // A long last one must not leave the picture.
                let x = x.min(WIDTH_UNITS - width(text, TEXT) / 2);
                self.text(text, (x, down.end + TICK + LINE_HEIGHT / 2), Anchor::Middle);
            }
        }
        self.drawing.line(&[(across.start, down.end), (across.end, down.end)], AXIS);
        if label.is_empty() {
            return;
        }
        let middle = (across.start + across.end) / 2;
        self.text(label, (middle, self.bottom - LINE_HEIGHT / 2), Anchor::Middle);
    }

    fn vertical_axis(&mut self, plot: &Plot, label: &str, has_grid: bool) {
        let (across, down) = (&plot.across, &plot.down);
        for (value, text) in &plot.y.ticks {
            let y = plot.y.position(*value, down.end, down.start);
            if has_grid {
                self.drawing.line(&[(across.start, y), (across.end, y)], GRID);
                self.drawing.line(&[(across.start - TICK, y), (across.start, y)], AXIS);
            }
            self.text(text, (across.start - 2 * TICK, y), Anchor::End);
        }
        self.drawing.line(&[(across.start, down.start), (across.start, down.end)], AXIS);
        if !label.is_empty() {
            let at = (MARGIN + TEXT / 2, (down.start + down.end) / 2);
            let upwards =
                Lettering { anchor: Anchor::Middle, rotated: true, ..Lettering::default() };
            self.drawing.text(label, at, upwards);
        }
    }
}

const GRID: Stroke<'static> = Stroke { paint: &INK, width: 2, dash: None, opacity: 0.15 };
const AXIS: Stroke<'static> = Stroke { paint: &INK, width: 2, dash: None, opacity: 0.7 };

/// An axis to draw.
pub(super) struct Axes {
    pub(super) ruler: Ruler,
    /// Empty for none.
    pub(super) label: String,
    /// Whether ticks have grid lines.
    pub(super) has_grid: bool,
}

/// The data area of the canvas.
pub(super) struct Plot {
    x: Ruler,
    y: Ruler,
    pub(super) across: Range<i32>,
    pub(super) down: Range<i32>,
}

impl Plot {
    /// Whether a value lies above the vertical axis.
    pub(super) fn is_above(&self, y: f64) -> bool {
        self.y.is_above(y)
    }

    /// The position of a point on the canvas; points outside the axes are clamped.
    pub(super) fn place(&self, x: f64, y: f64) -> Position {
        let (across, down) = (&self.across, &self.down);
        (
            self.x.position(self.x.place(x), across.start, across.end),
            self.y.position(self.y.place(y), down.end, down.start),
        )
    }
}

/// Breaks a text into lines of at most `most` units.
fn wrapped(text: &str, size: i32, most: i32) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if width(line, size) + width(word, size) + size / 2 <= most => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}
