//! Drawing a [`BarFigure`].

use super::canvas::{Axes, Canvas, Plot, Sample, paint};
use super::figure::{Axis, AxisScale, BarFigure, BarGroup, BarLook, Draw};
use super::palette::look;
use super::svg::{Anchor, Page, Position, TEXT, WIDTH_UNITS, width};
use super::ticks::Ruler;
use std::borrow::Cow;

/// Minimum width of a bar's hit area, units.
const SHORT: i32 = 24;
/// Gap between a bar and the text beside it.
const GAP: i32 = 10;
/// Room for the text beside a bar: a figure of many bars is as high as they need.
const BAR_UNITS: usize = 38;
/// Room for each bar or dot of a picture that is only as high as they need.
const ROW_UNITS: usize = 54;
/// Bars that the usual height has room for, with the ends of ranges.
const USUAL_BARS: usize = 16;
/// The same without ranges, a little closer.
const MOST_USUAL_BARS: usize = 24;
/// Names beside the bars take two fifths of the width at most.
const MOST_NAME: i32 = WIDTH_UNITS * 2 / 5;

impl BarFigure {
    /// The figure as SVG.
    pub fn to_svg(&self, page: Page) -> String {
        paint(&self.title, &self.description, page, |canvas| self.draw(canvas))
    }

    fn draw(&self, canvas: &mut Canvas) {
        let legend: Vec<_> = self
            .groups
            .iter()
            .enumerate()
            .map(|(at, group)| (Sample::Bar(look(at)), group.name.as_str()))
            .collect();
        if legend.len() > 1 {
            canvas.legend(&legend);
        }
        let has_ranges = self.groups.iter().any(|group| !group.ranges.is_empty());
        let usual = if has_ranges { USUAL_BARS } else { MOST_USUAL_BARS };
        let bars = self.categories.len() * (self.groups.len() + 1);
        match self.look {
            BarLook::Usual => canvas.heighten(bars.saturating_sub(usual) * BAR_UNITS),
            look => canvas.fit(self.categories.len() * ROW_UNITS, look == BarLook::Dots),
        }
        canvas.notes(&self.notes);

        let names = self.categories.iter().map(|name| width(&shortened(name), TEXT));
        let names = names.max().unwrap_or(0);
        let (low, high) = self.range(names);
        let axis =
            Axis { range: Some((low, high)), scale: AxisScale::Linear, ..self.value.clone() };
        let x = match self.look {
            BarLook::Flat => Ruler::bare(low, high),
            _ => Ruler::new(&axis, std::iter::empty(), 7),
        };
        let rows = self.categories.len().max(1) as f64;
        let y = Ruler::bare(0.0, rows);
        let label = match self.look {
            BarLook::Flat => String::new(),
            _ => self.value.label.clone(),
        };
        let across = Axes { ruler: x, label, has_grid: true };
        let down = Axes { ruler: y, label: String::new(), has_grid: false };
        let plot = canvas.axes(names + 2 * GAP + 8, across, down);
        self.draw_bars(canvas, &plot);
    }

    /// Ends of the value axis: zero, every bar, and room for the text beside the bars.
    fn range(&self, names: i32) -> (f64, f64) {
        let ends = |group: &BarGroup| {
            let ranges = group.ranges.iter().flatten().flat_map(|&(low, high)| [low, high]);
            group.values.iter().flatten().copied().chain(ranges).collect::<Vec<f64>>()
        };
        let values = || self.groups.iter().flat_map(ends);
        let low = values().filter(|v| v.is_finite()).fold(0.0, f64::min);
        let high = values().filter(|v| v.is_finite()).fold(0.0, f64::max);
        let spread = if high > low { high - low } else { 1.0 };
        let labels = self.groups.iter().flat_map(|group| &group.labels);
        let label = labels.map(|label| width(label, TEXT)).max().unwrap_or(0) + 3 * GAP;
        let plot = f64::from(WIDTH_UNITS - names - 120);
        let share = (f64::from(label) / plot).min(0.35);
        let has_left_labels = low < 0.0 && self.look != BarLook::Dots;
        let sides = if has_left_labels { 2.0 } else { 1.0 };
        let pad = spread * share / (1.0 - sides * share);
        match () {
            () if self.look == BarLook::Dots => (low - spread * 0.04, high + pad),
            () if has_left_labels => (low - pad, high + pad),
            () => (0.0, high + pad),
        }
    }

    fn draw_bars(&self, canvas: &mut Canvas, plot: &Plot) {
        let rows = self.categories.len() as f64;
        for (row, name) in self.categories.iter().enumerate() {
            let top = rows - row as f64;
            let (_, middle) = plot.place(0.0, top - 0.5);
            canvas.text(&shortened(name), (plot.across.start - GAP - 8, middle), Anchor::End);
            for (at, group) in self.groups.iter().enumerate() {
                let Some(value) = group.values.get(row).copied().flatten() else { continue };
                let (from, to) = self.corners(plot, row, at, value);
                match self.look {
                    BarLook::Dots => {
                        let middle = (to.0, (from.1 + to.1) / 2);
                        canvas.marker(middle, Draw::Marks, look(at));
                    }
                    _ => canvas.bar(from, to, look(at)),
                }
                let label = group.labels.get(row).map_or("", String::as_str);
                let middle = (from.1 + to.1) / 2;
                let mut to = to;
                if let Some((low, high)) = group.ranges.get(row).copied().flatten() {
                    let ends = [low, high].map(|end| plot.place(end, 0.0).0);
                    canvas.range((ends[0], ends[1]), middle);
                    to.0 = if value < 0.0 { to.0.min(ends[0]) } else { to.0.max(ends[1]) };
                }
                let (x, anchor) = match self.look {
                    BarLook::Dots => (plot.across.end, Anchor::End),
                    _ if value < 0.0 => (to.0 - GAP, Anchor::End),
                    _ => (to.0 + GAP, Anchor::Start),
                };
                canvas.text(label, (x, middle), anchor);
            }
        }
        self.mark(canvas, plot);
        let zero = plot.place(0.0, 0.0).0;
        canvas.zero_line(zero, plot.down.clone());
    }

    /// Opposite corners of the bar of group `at` in a row.
    fn corners(&self, plot: &Plot, row: usize, at: usize, value: f64) -> (Position, Position) {
        let band = 1.0 / (self.groups.len() as f64 + 0.6);
        let top = self.categories.len() as f64 - row as f64;
        let upper = top - (0.3 + at as f64 + 0.08) * band;
        let lower = top - (0.3 + at as f64 + 0.92) * band;
        (plot.place(0.0, upper), plot.place(value, lower))
    }

    /// Hit areas: each bar, widened if it is short.
    fn mark(&self, canvas: &mut Canvas, plot: &Plot) {
        for (at, group) in self.groups.iter().enumerate() {
            canvas.marks.begin(&group.name);
            for (row, category) in self.categories.iter().enumerate() {
                let Some(value) = group.values.get(row).copied().flatten() else { continue };
                let (mut from, mut to) = self.corners(plot, row, at, value);
                if self.look == BarLook::Dots {
                    (from.0, to.0) = (to.0 - SHORT, to.0 + SHORT);
                }
                if (to.0 - from.0).abs() < SHORT {
                    to.0 = from.0 + if value < 0.0 { -SHORT } else { SHORT };
                }
                let reading = group.labels.get(row).map_or("", String::as_str);
                let text = format!("{category}, {}: {reading}", group.name);
                canvas.marks.area(from, to, category, value, text);
            }
        }
    }
}

/// The name, or its beginning and its end where it is too long, such as that of an expression.
fn shortened(name: &str) -> Cow<'_, str> {
    if width(name, TEXT) <= MOST_NAME {
        return name.into();
    }
    let letters: Vec<char> = name.chars().collect();
    let ends = |kept: usize| {
        let (first, last) = (kept.div_ceil(2), kept / 2);
        let last = &letters[letters.len() - last..];
        letters[..first].iter().chain(&['\u{2026}']).chain(last).collect::<String>()
    };
    let fits = |text: &String| width(text, TEXT) <= MOST_NAME;
    (0..letters.len()).rev().map(ends).find(fits).unwrap_or_default().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_names_leave_room_for_the_bars() {
        let name = "expression:accept=queue < alpha / sqrt(active) * (buffer - occupancy),alpha=16";
        let short = shortened(name);
        assert!(width(&short, TEXT) <= MOST_NAME && short.chars().count() > 20, "{short}");
        assert!(short.starts_with("expression:") && short.ends_with("alpha=16"), "{short}");
        assert_eq!(shortened("dt:alpha=8"), "dt:alpha=8");
    }

    #[test]
    fn every_bar_has_its_name_and_label() {
        let group = |name: &str, values: [Option<f64>; 3]| BarGroup {
            name: name.to_owned(),
            values: values.to_vec(),
            labels: values.iter().map(|v| v.map_or(String::new(), |v| format!("{v} %"))).collect(),
            ranges: Vec::new(),
        };
        let figure = BarFigure {
            title: "Lost against LQD".to_owned(),
            value: Axis::new("Percent"),
            categories: ["Credence", "DT", "Harmonic"].map(str::to_owned).to_vec(),
            groups: vec![
                group("packets", [Some(-0.25), Some(1.5), None]),
                group("bytes", [Some(0.0), Some(2.5), Some(0.125)]),
            ],
            ..BarFigure::default()
        };
        let svg = figure.to_svg(Page::Alone);
        for text in ["Credence", "DT", "Harmonic", "packets", "bytes", "-0.25 %", "1.5 %", "2.5 %"]
        {
            assert!(svg.contains(&format!(">{text}<")), "{text} is not in\n{svg}");
        }
        let (low, high) = figure.range(100);
        assert!(low < -0.25 && high > 2.5);
    }

    #[test]
    fn a_bar_has_its_range_and_the_picture_room_for_it() {
        let group = |ranges| BarGroup {
            name: "p99".to_owned(),
            values: vec![Some(2.0); 20],
            labels: vec!["2".to_owned(); 20],
            ranges,
        };
        let figure = |ranges| BarFigure {
            value: Axis::new("slowdown"),
            categories: (0..20).map(|at| format!("policy {at}")).collect(),
            groups: vec![group(ranges)],
            ..BarFigure::default()
        };
        let (plain, ranged) = (figure(Vec::new()), figure(vec![Some((1.0, 9.0)); 20]));
        assert!(ranged.range(100).1 > 9.0 && plain.range(100).1 < 9.0);
        let height = |figure: &BarFigure| {
            let svg = figure.to_svg(Page::Alone);
            let after = svg.split(" height=\"").nth(1).expect("a height");
            after.split('"').next().expect("its end").parse::<u32>().expect("a number")
        };
        assert!(height(&ranged) > height(&plain));
    }
}
