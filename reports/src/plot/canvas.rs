//! The sheet a figure is drawn on: text, markers, legend, notes.
//!
//! Two units make a pixel, because the drawing library rounds to whole units. Text is laid out by
//! an estimate of its width, on the safe side: an SVG cannot know the reader's font.

use super::figure::Draw;
use super::marks::Marks;
use super::palette::{INK, Look, Marker};
use super::svg::{self, Page, PlotError};
use super::ticks::Ruler;
use plotters::coord::Shift;
use plotters::element::{DashedPathElement, Drawable, PointCollection};
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use std::mem;
use std::ops::Range;

pub(super) const WIDTH_UNITS: u32 = 1440;
pub(super) const HEIGHT_UNITS: u32 = 960;
pub(super) const TEXT: i32 = 32;
const TITLE: i32 = 37;
const MARGIN: i32 = 24;
const LINE_HEIGHT: i32 = 46;
/// Length of the sample of a line in the legend.
const SAMPLE: i32 = 84;
const MARKER: i32 = 9;
const BIG_MARKER: i32 = 14;

type Sheet<'a> = DrawingArea<SVGBackend<'a>, Shift>;
pub(super) type Place = (i32, i32);

/// How a text stands at its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stand {
    StartsAt,
    Around,
    EndsAt,
}

/// What a legend shows beside a name.
pub(super) enum Sample {
    Line(Draw, Look),
    Bar(Look),
}

pub(super) struct Canvas<'a> {
    sheet: Sheet<'a>,
    title: &'a str,
    /// What can be pointed at.
    pub(super) marks: Marks,
    /// First free line at the top.
    pub(super) top: i32,
    /// Last free line at the bottom.
    pub(super) bottom: i32,
}

/// Draws a figure with `draw` on a sheet that has its title, and returns the SVG.
pub(super) fn paint<'a>(
    title: &'a str,
    description: &str,
    page: Page,
    draw: impl for<'c> FnOnce(&mut Canvas<'c>) -> Result<(), PlotError>,
) -> Result<String, PlotError> {
    let mut drawing = String::new();
    let marks = {
        let backend = SVGBackend::with_string(&mut drawing, (WIDTH_UNITS, HEIGHT_UNITS));
        let mut canvas = Canvas {
            sheet: backend.into_drawing_area(),
            title,
            marks: Marks::default(),
            top: MARGIN,
            bottom: HEIGHT_UNITS as i32 - MARGIN,
        };
        canvas.heading()?;
        draw(&mut canvas)?;
        let done = canvas.sheet.present();
        canvas.check(done)?;
        mem::take(&mut canvas.marks)
    };
    Ok(svg::finish(&drawing, &marks, title, description, page))
}

/// Estimated width of a text, units.
pub(super) fn width(text: &str, size: i32) -> i32 {
    let ems: f64 =
        text.chars().map(|c| if "il.,:;|'()[] ".contains(c) { 0.36 } else { 0.61 }).sum();
    (ems * f64::from(size)).ceil() as i32
}

impl Canvas<'_> {
    fn check<T, E: std::fmt::Display>(&self, result: Result<T, E>) -> Result<T, PlotError> {
        result
            .map_err(|error| PlotError { title: self.title.to_owned(), reason: error.to_string() })
    }

    fn put<'e, E>(&self, element: &'e E) -> Result<(), PlotError>
    where
        &'e E: PointCollection<'e, Place>,
        E: for<'c> Drawable<SVGBackend<'c>>,
    {
        let drawn = self.sheet.draw(element);
        self.check(drawn)
    }

    fn heading(&mut self) -> Result<(), PlotError> {
        let title = self.title;
        for line in wrapped(title, TITLE, WIDTH_UNITS as i32 - 2 * MARGIN) {
            self.lettering(&line, (MARGIN, self.top + TITLE / 2), Stand::StartsAt, TITLE, true)?;
            self.top += LINE_HEIGHT;
        }
        self.top += 10;
        Ok(())
    }

    /// Lines of text at the bottom; takes them off the free space.
    pub(super) fn notes(&mut self, notes: &[String]) -> Result<(), PlotError> {
        let lines: Vec<String> = notes
            .iter()
            .flat_map(|note| wrapped(note, TEXT, WIDTH_UNITS as i32 - 2 * MARGIN))
            .collect();
        self.bottom -= LINE_HEIGHT * lines.len() as i32;
        for (at, line) in lines.iter().enumerate() {
            let y = self.bottom + LINE_HEIGHT * at as i32 + LINE_HEIGHT / 2;
            self.text(line, (MARGIN, y), Stand::StartsAt)?;
        }
        self.bottom -= if lines.is_empty() { 0 } else { LINE_HEIGHT / 3 };
        Ok(())
    }

    /// The legend, in as many lines as it needs, below the title; takes them off the free space.
    pub(super) fn legend(&mut self, entries: &[(Sample, &str)]) -> Result<(), PlotError> {
        let (mut x, mut y) = (MARGIN, self.top + LINE_HEIGHT / 2);
        for (sample, name) in entries {
            let needs = SAMPLE + 16 + width(name, TEXT);
            if x > MARGIN && x + needs > WIDTH_UNITS as i32 - MARGIN {
                (x, y) = (MARGIN, y + LINE_HEIGHT);
            }
            match sample {
                Sample::Line(draw, look) => self.line_sample(*draw, *look, (x, y))?,
                Sample::Bar(look) => self.bar((x, y - 11), (x + SAMPLE, y + 11), *look)?,
            }
            self.text(name, (x + SAMPLE + 16, y), Stand::StartsAt)?;
            x += needs + 44;
        }
        self.top = y + LINE_HEIGHT / 2 + 22;
        Ok(())
    }

    fn line_sample(&self, draw: Draw, look: Look, (x, y): Place) -> Result<(), PlotError> {
        if !matches!(draw, Draw::Marks | Draw::Dots) {
            self.line(vec![(x, y), (x + SAMPLE, y)], draw, look)?;
        }
        if draw != Draw::Rule {
            self.marker((x + SAMPLE / 2, y), draw, look)?;
        }
        Ok(())
    }

    /// Text of the usual size.
    pub(super) fn text(&self, text: &str, at: Place, stand: Stand) -> Result<(), PlotError> {
        self.lettering(text, at, stand, TEXT, false)
    }

    fn lettering(
        &self,
        text: &str,
        at: Place,
        stand: Stand,
        size: i32,
        bold: bool,
    ) -> Result<(), PlotError> {
        let side = match stand {
            Stand::StartsAt => HPos::Left,
            Stand::Around => HPos::Center,
            Stand::EndsAt => HPos::Right,
        };
        let mut style = letters(size).pos(Pos::new(side, VPos::Center));
        if bold {
            style.font = style.font.style(FontStyle::Bold);
        }
        let drawn = self.sheet.draw_text(text, &style, at);
        self.check(drawn)
    }

    /// A line through places on the sheet.
    pub(super) fn line(&self, places: Vec<Place>, draw: Draw, look: Look) -> Result<(), PlotError> {
        match (draw, look.dash) {
            (Draw::Rule, _) => self.put(&DashedPathElement::new(places, 3, 7, INK.stroke_width(3))),
            (_, Some((dash, gap))) => {
                self.put(&DashedPathElement::new(places, dash, gap, look.colour.stroke_width(5)))
            }
            (_, None) => self.put(&PathElement::new(places, look.colour.stroke_width(5))),
        }
    }

    /// A marker of a series.
    pub(super) fn marker(&self, at: Place, draw: Draw, look: Look) -> Result<(), PlotError> {
        let r = if draw == Draw::Marks { BIG_MARKER } else { MARKER };
        let (fill, (x, y)) = (look.colour.filled(), at);
        match look.marker {
            Marker::Disc => self.put(&Circle::new(at, r, fill)),
            Marker::Square => self.put(&Rectangle::new([(x - r, y - r), (x + r, y + r)], fill)),
            Marker::Triangle => self.put(&Polygon::new(
                vec![(x, y - r - 3), (x + r + 2, y + r), (x - r - 2, y + r)],
                fill,
            )),
            Marker::Diamond => self.put(&Polygon::new(
                vec![(x, y - r - 3), (x + r + 3, y), (x, y + r + 3), (x - r - 3, y)],
                fill,
            )),
            Marker::Cross => self.put(&Cross::new(at, r, look.colour.stroke_width(5))),
        }
    }

    /// An interval as an upright bar with feet.
    pub(super) fn interval(&self, low: Place, high: Place, look: Look) -> Result<(), PlotError> {
        let stroke = look.colour.stroke_width(3);
        self.put(&PathElement::new(vec![low, high], stroke))?;
        for (x, y) in [low, high] {
            self.put(&PathElement::new(vec![(x - 8, y), (x + 8, y)], stroke))?;
        }
        Ok(())
    }

    /// A bar: solid, or pale with an outline, as the look's dash says.
    pub(super) fn bar(&self, from: Place, to: Place, look: Look) -> Result<(), PlotError> {
        let corners = [(from.0.min(to.0), from.1), (from.0.max(to.0), to.1)];
        if look.dash.is_none() {
            return self.put(&Rectangle::new(corners, look.colour.filled()));
        }
        self.put(&Rectangle::new(corners, look.colour.mix(0.3).filled()))?;
        let [(x0, y0), (x1, y1)] = corners;
        let outline = vec![(x0, y0), (x1, y0), (x1, y1), (x0, y1), (x0, y0)];
        self.put(&PathElement::new(outline, look.colour.stroke_width(4)))
    }

    /// A box of one colour.
    pub(super) fn tile(&self, from: Place, to: Place, fill: RGBColor) -> Result<(), PlotError> {
        self.put(&Rectangle::new([from, to], fill.filled()))
    }

    /// Text in the middle of a place, in a colour of its own.
    pub(super) fn text_on_tile(
        &self,
        text: &str,
        at: Place,
        size: i32,
        colour: RGBColor,
    ) -> Result<(), PlotError> {
        let style = letters(size).pos(Pos::new(HPos::Center, VPos::Center)).color(&colour);
        let drawn = self.sheet.draw_text(text, &style, at);
        self.check(drawn)
    }

    /// An upright line in ink.
    pub(super) fn zero_line(&self, x: i32, down: Range<i32>) -> Result<(), PlotError> {
        self.put(&PathElement::new(vec![(x, down.start), (x, down.end)], INK.stroke_width(3)))
    }

    /// Draws axes and grid in the space left between `top` and `bottom`, right of `left`, and
    /// returns where the values are.
    pub(super) fn axes(&self, left: i32, x: Axes<'_>, y: Axes<'_>) -> Result<Plot, PlotError> {
        let mut builder = ChartBuilder::on(&self.sheet);
        builder
            .margin_top(self.top)
            .margin_bottom(HEIGHT_UNITS as i32 - self.bottom)
            .margin_left(MARGIN)
            .margin_right(MARGIN + 30)
            .x_label_area_size(2 * LINE_HEIGHT + 14)
            .y_label_area_size(left);
        let built = builder.build_cartesian_2d(x.ruler.clone(), y.ruler.clone());
        let mut chart = self.check(built)?;
        let mut mesh = chart.configure_mesh();
        mesh.light_line_style(TRANSPARENT)
            .bold_line_style(INK.mix(0.15).stroke_width(2))
            .axis_style(INK.mix(0.7).stroke_width(2))
            .label_style(letters(TEXT))
            .axis_desc_style(letters(TEXT))
            .set_all_tick_mark_size(8);
        mesh.x_desc(x.label);
        if y.label.is_empty() {
            mesh.disable_y_mesh();
        } else {
            mesh.y_desc(y.label);
        }
        let drawn = mesh.draw();
        self.check(drawn)?;
        let (across, down) = chart.plotting_area().get_pixel_range();
        Ok(Plot { x: x.ruler.clone(), y: y.ruler.clone(), across, down })
    }
}

/// An axis to draw: its ruler and its text.
#[derive(Clone, Copy)]
pub(super) struct Axes<'a> {
    pub(super) ruler: &'a Ruler,
    pub(super) label: &'a str,
}

/// The area of the data on the sheet.
pub(super) struct Plot {
    x: Ruler,
    y: Ruler,
    pub(super) across: Range<i32>,
    pub(super) down: Range<i32>,
}

impl Plot {
    /// Where a point is on the sheet; points outside the axes are held at their ends.
    pub(super) fn place(&self, x: f64, y: f64) -> Place {
        let (across, down) = (&self.across, &self.down);
        (
            self.x.map(&self.x.place(x), (across.start, across.end - 1)),
            self.y.map(&self.y.place(y), (down.end - 1, down.start)),
        )
    }
}

/// The font. The library writes `size / 1.24` into the SVG.
fn letters(size: i32) -> TextStyle<'static> {
    ("sans-serif", f64::from(size) * 1.24).into_font().color(&INK)
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
