//! Drawing a [`HeatFigure`].

use super::canvas::{Axes, Canvas, Plot, paint};
use super::figure::HeatFigure;
use super::palette::{on_tile, ramp};
use super::svg::{Anchor, Page, TEXT, WIDTH_UNITS, width};
use super::ticks::Ruler;
use crate::numbers;

/// Gap between a row's name and its cells, and between cells, units.
const GAP: i32 = 18;
const SEAM: i32 = 2;
/// Height of a row, and of all of them at most.
const ROW: usize = 84;
const MOST_HIGH: usize = 700;
/// Colours of the scale, and the width of each.
const SCALE_STEPS: i32 = 7;
const SCALE_TILE: i32 = 40;
/// The smallest text that is written, units.
const LEGIBLE: i32 = 14;

impl HeatFigure {
    /// The figure as SVG.
    pub fn to_svg(&self, page: Page) -> String {
        paint(&self.title, &self.description, page, |canvas| self.draw(canvas))
    }

    fn draw(&self, canvas: &mut Canvas) {
        canvas.notes(&self.notes);
        let (columns, rows) = (self.columns.len().max(1), self.rows.len().max(1));
        let names = self.rows.iter().map(|name| width(name, TEXT)).max().unwrap_or(0);
        canvas.text(&self.y.label, (28, canvas.top + TEXT / 2), Anchor::Start);
        self.draw_scale(canvas);
        canvas.top += TEXT + GAP;
        canvas.fit((rows * ROW).min(MOST_HIGH), true);
        let axis = |ruler, label: &str| Axes { ruler, label: label.to_owned(), has_grid: false };
        // Names that would overlap are left out.
        let room = (1_300 - names) / columns as i32;
        let widest = self.columns.iter().map(|name| width(name, TEXT)).max().unwrap_or(0) + GAP;
        let every = usize::try_from(widest / room.max(1)).unwrap_or(0) + 1;
        let mut named = Ruler::named(&self.columns);
        named.ticks = named.ticks.into_iter().step_by(every).collect();
        let across = axis(named, &self.x.label);
        let down = axis(Ruler::bare(0.0, rows as f64), "");
        let plot = canvas.axes(names + 3 * GAP, across, down);
        let size = self.text_size(&plot, columns);
        for (row, name) in self.rows.iter().enumerate() {
            let (_, middle) = plot.place(0.0, (rows - row) as f64 - 0.5);
            canvas.text(name, (plot.across.start - GAP, middle), Anchor::End);
            canvas.marks.begin(format!("{} {name}", self.y.label).trim());
            for column in 0..self.columns.len() {
                self.draw_cell(canvas, &plot, (row, column), size);
            }
        }
    }

    /// What the colours are, from the lowest value to the highest.
    fn draw_scale(&self, canvas: &mut Canvas) {
        let (low, high) = self.ends();
        if !(low.is_finite() && high > low) {
            return;
        }
        let unit = self.value.label.split(" (").next().unwrap_or_default();
        let [first, last] =
            [low, high].map(|value| numbers::short(value * self.value.unit.factor()));
        let (middle, last) = (canvas.top + TEXT / 2, format!("{last} {unit}"));
        let mut right = WIDTH_UNITS - 2 * GAP - width(&last, TEXT);
        canvas.text(&last, (right + GAP / 2, middle), Anchor::Start);
        for step in (0..SCALE_STEPS).rev() {
            let fill = ramp(f64::from(step) / f64::from(SCALE_STEPS - 1));
            let from = (right - SCALE_TILE, middle - TEXT / 2);
            canvas.tile(from, (right, middle + TEXT / 2), fill, "", (TEXT, fill));
            right -= SCALE_TILE;
        }
        canvas.text(&first, (right - GAP / 2, middle), Anchor::End);
    }

    fn draw_cell(
        &self,
        canvas: &mut Canvas,
        plot: &Plot,
        (row, column): (usize, usize),
        size: i32,
    ) {
        let top = (self.rows.len() - row) as f64;
        let (left, upper) = plot.place(column as f64, top);
        let (right, lower) = plot.place(column as f64 + 1.0, top - 1.0);
        let Some(value) = self.value_at(row, column) else {
            let middle = ((left + right) / 2, (upper + lower) / 2);
            if size >= LEGIBLE {
                canvas.text("\u{2013}", middle, Anchor::Middle);
            }
            return;
        };
        let (from, to) = ((left + SEAM, upper + SEAM), (right - SEAM, lower - SEAM));
        let fill = ramp(self.depth_of(value));
        let text = match size {
            LEGIBLE.. => self.cell_text(row, column, value),
            _ => String::new(),
        };
        canvas.tile(from, to, fill, &text, (size, on_tile(fill)));
        let (x, y) = (&self.columns[column], &self.rows[row]);
        let (x_label, y_label) = (&self.x.label, &self.y.label);
        let reading = self.value.reading(value);
        let row = format!("{y_label} {y}");
        let text = format!("{x_label} {x}, {}: {reading}", row.trim());
        canvas.marks.area(from, to, x, value, text);
    }

    /// The value of a cell, if it has one.
    pub(super) fn value_at(&self, row: usize, column: usize) -> Option<f64> {
        let value = self.cells.get(row).and_then(|cells| cells.get(column)).copied().flatten();
        value.filter(|value| value.is_finite())
    }

    /// What is written in a cell of this value.
    pub(super) fn cell_text(&self, row: usize, column: usize, value: f64) -> String {
        let is_starred = self.starred.get(row).and_then(|stars| stars.get(column)) == Some(&true);
        self.written(value) + if is_starred { "*" } else { "" }
    }

    fn written(&self, value: f64) -> String {
        numbers::ratio(value * self.value.unit.factor(), self.decimals)
    }

    /// The colour intensity of a value, from 0 for the lowest to 1 for the highest; of the given range, below 0 for those below it.
    pub(super) fn depth_of(&self, value: f64) -> f64 {
        let (low, high) = self.ends();
        if high > low { (value - low) / (high - low) } else { 0.5 }
    }

    /// The values of the lightest and the darkest cell.
    fn ends(&self) -> (f64, f64) {
        let values = || self.cells.iter().flatten().flatten().copied().filter(|v| v.is_finite());
        self.value.range.unwrap_or_else(|| {
            (values().fold(f64::INFINITY, f64::min), values().fold(f64::NEG_INFINITY, f64::max))
        })
    }

    /// The largest size at which every value fits its cell. Smaller than [`LEGIBLE`] none is written.
    fn text_size(&self, plot: &Plot, columns: usize) -> i32 {
        let cell = (plot.across.end - plot.across.start) / columns as i32 - 5;
        let values = self.cells.iter().flatten().flatten();
        let widest = values.map(|&value| width(&self.written(value), TEXT)).max().unwrap_or(1);
        (TEXT * cell / widest.max(1)).min(TEXT)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plot::Axis;

    #[test]
    fn every_cell_has_its_value() {
        let figure = HeatFigure {
            title: "F1".to_owned(),
            x: Axis::new("trees"),
            y: Axis::new("depth"),
            value: Axis::new("F1"),
            decimals: 3,
            columns: ["1", "2"].map(str::to_owned).to_vec(),
            rows: ["4", "8"].map(str::to_owned).to_vec(),
            cells: vec![vec![Some(0.25), Some(0.75)], vec![None, Some(0.5)]],
            ..HeatFigure::default()
        };
        let svg = figure.to_svg(Page::Inline);
        for text in [">0.250<", ">0.750<", ">0.500<", ">\u{2013}<", "trees 2, depth 8: F1 0.5<"] {
            assert!(svg.contains(text), "{text} is not in\n{svg}");
        }
        assert_eq!(svg.matches("data-y=").count(), 3);
    }

    #[test]
    fn values_below_the_range_have_another_hue() {
        let fills = [-6.0, -0.5, 0.0, 0.5, 2.0].map(|value| {
            let value_axis = Axis::new("gain").range(0.0, 1.0);
            ramp(HeatFigure { value: value_axis, ..HeatFigure::default() }.depth_of(value))
        });
        assert_eq!(fills, [-1.0, -0.5, 0.0, 0.5, 1.0].map(ramp));
        let as_if_above = [1.0, 0.5].map(ramp);
        assert!(!fills[..3].iter().any(|fill| as_if_above.contains(fill)));
    }
}
