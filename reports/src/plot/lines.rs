//! Drawing a [`LineFigure`].

use super::canvas::{Axes, Canvas, Plot, Sample, paint};
use super::figure::{Axis, Draw, Labels, LineFigure, Point, Series};
use super::palette::{Look, look};
use super::svg::{Anchor, Page, Position, TEXT, width};
use super::ticks::Ruler;
use crate::numbers;

/// Gap between a point and its label, units.
const BESIDE: i32 = 14;
/// Series with more points than this have markers on some points only.
const MARKED: usize = 32;

impl LineFigure {
    /// The figure as SVG.
    pub fn to_svg(&self, page: Page) -> String {
        paint(&self.title, &self.description, page, |canvas| self.draw(canvas))
    }

    fn draw(&self, canvas: &mut Canvas) {
        let series = self.looks();
        let legend: Vec<_> = series
            .iter()
            .map(|(series, look)| (Sample::Line(series.draw, *look), series.name.as_str()))
            .collect();
        if legend.len() > 1 {
            canvas.legend(&legend);
        }
        canvas.notes(&self.notes);

        let points = || self.series.iter().flat_map(|series| &series.points);
        let x = Ruler::across(&self.x, points().flat_map(widths));
        let y = Ruler::new(&self.y, points().flat_map(heights), 6);
        let widest = y.ticks.iter().map(|tick| width(&tick.1, TEXT)).max().unwrap_or(0);
        let axis = |ruler, label: &str| Axes { ruler, label: label.to_owned(), has_grid: true };
        let plot = canvas.axes(widest + 64, axis(x, &self.x.label), axis(y, &self.y.label));
        series.iter().for_each(|(series, look)| draw_band(canvas, &plot, series, *look));
        for (series, look) in &series {
            draw_series(canvas, &plot, series, *look);
            if series.draw != Draw::Rule {
                mark(canvas, &plot, (&self.x, &self.y), series);
            }
        }
        // On top of everything.
        self.series.iter().for_each(|series| draw_labels(canvas, &plot, series));
    }

    /// Each series with its look. Rules do not use up a look.
    pub(super) fn looks(&self) -> Vec<(&Series, Look)> {
        let mut next = 0;
        let mut with_look = Vec::new();
        for series in &self.series {
            with_look.push((series, look(next)));
            next += usize::from(series.draw != Draw::Rule);
        }
        with_look
    }
}

/// Hit areas of a series.
pub(super) fn mark(canvas: &mut Canvas, plot: &Plot, (x, y): (&Axis, &Axis), series: &Series) {
    canvas.marks.begin(&series.name);
    for point in shown(series) {
        let mut text = format!("{}: {}, {}", series.name, x.reading(point.x), y.reading(point.y));
        if let Some((low, high)) = point.interval {
            let ends = [low, high].map(|end| numbers::short(end * y.unit.factor()));
            text.push_str(&format!(" ({} to {})", ends[0], ends[1]));
        }
        if let Some(label) = &point.label {
            text.push_str(&format!("; {label}"));
        }
        canvas.marks.point(plot.place(point.x, point.y), (point.x, point.y), text);
    }
}

fn widths(point: &Point) -> impl Iterator<Item = f64> {
    let (low, high) = point.range.unwrap_or((point.x, point.x));
    [point.x, low, high].into_iter()
}

fn heights(point: &Point) -> impl Iterator<Item = f64> {
    let (low, high) = point.interval.unwrap_or((point.y, point.y));
    [point.y, low, high].into_iter()
}

/// Whether a range of a series is wider than a point.
pub(super) fn has_band(series: &Series) -> bool {
    shown(series).filter_map(|point| point.range).any(|(low, high)| low < high)
}

fn draw_band(canvas: &mut Canvas, plot: &Plot, series: &Series, look: Look) {
    if !has_band(series) {
        return;
    }
    let ranges = || shown(series).filter_map(|point| Some((point.y, point.range?)));
    let lows = ranges().map(|(y, (low, _))| plot.place(low, y));
    let highs: Vec<_> = ranges().map(|(y, (_, high))| plot.place(high, y)).collect();
    let corners: Vec<_> = lows.chain(highs.into_iter().rev()).collect();
    canvas.band(&corners, look);
}

fn draw_series(canvas: &mut Canvas, plot: &Plot, series: &Series, look: Look) {
    let shown: Vec<&Point> = shown(series).collect();
    let places: Vec<_> = shown.iter().map(|point| plot.place(point.x, point.y)).collect();
    for point in &shown {
        if let Some((low, high)) = point.interval {
            canvas.interval(plot.place(point.x, low), plot.place(point.x, high), look);
        }
    }
    let joined = !matches!(series.draw, Draw::Marks | Draw::Dots);
    if joined {
        draw_lines(canvas, plot, series, look);
    }
    if series.draw == Draw::Rule {
        return;
    }
    let every =
        if !joined || places.len() <= MARKED { 1 } else { places.len().div_ceil(MARKED * 3 / 8) };
    for (at, (point, place)) in shown.iter().zip(places).enumerate() {
        if plot.is_above(point.y) {
            canvas.arrow_up(place, look);
        } else if at % every == 0 {
            canvas.marker(place, series.draw, look);
        }
    }
}

/// Draws the line of a series, with gaps where its points have no place.
fn draw_lines(canvas: &mut Canvas, plot: &Plot, series: &Series, look: Look) {
    for points in series.points.split(|point| !has_place(point)) {
        let places: Vec<_> = points.iter().map(|point| plot.place(point.x, point.y)).collect();
        if places.len() > 1 {
            canvas.line(&path(&places, series.draw), series.draw, look);
        }
    }
}

/// Draws the line of a series, and markers where its value is highest among its neighbours.
pub(super) fn draw_peaks(canvas: &mut Canvas, plot: &Plot, series: &Series, look: Look) {
    let places: Vec<_> = shown(series).map(|point| plot.place(point.x, point.y)).collect();
    draw_lines(canvas, plot, series, look);
    for near in places.chunks((places.len() / 8).max(1)) {
        // Lower on the canvas is a higher number.
        if let Some(&peak) = near.iter().min_by_key(|place| place.1).filter(|p| p.1 < plot.down.end)
        {
            canvas.marker(peak, series.draw, look);
        }
    }
}

/// Labels beside their points. Labels that would overlap another are left out.
fn draw_labels(canvas: &mut Canvas, plot: &Plot, series: &Series) {
    let (rightwards, down) = match series.labels {
        Labels::Unwritten => return,
        Labels::AboveRight => (true, false),
        Labels::AboveLeft => (false, false),
        Labels::BelowLeft => (false, true),
    };
    let mut taken: Vec<(i32, i32, i32)> = Vec::new();
    for point in shown(series) {
        let Some(label) = &point.label else { continue };
        let ((x, y), wide) = (plot.place(point.x, point.y), width(label, TEXT));
        let to_right = match rightwards {
            true => x + BESIDE + wide <= plot.across.end,
            false => x - BESIDE - wide < plot.across.start,
        };
        // All of the text stays clear of the frame.
        let far = TEXT + TEXT / 2;
        let is_low = if down { y + far < plot.down.end } else { y - far < plot.down.start };
        let y = if is_low { y + TEXT } else { y - TEXT };
        let (at, anchor, from) = if to_right {
            (x + BESIDE, Anchor::Start, x + BESIDE)
        } else {
            (x - BESIDE, Anchor::End, x - BESIDE - wide)
        };
        let is_free = |&(left, right, other): &(i32, i32, i32)| {
            from > right || from + wide < left || (y - other).abs() > TEXT
        };
        if taken.iter().all(is_free) {
            canvas.text(label, (at, y), anchor);
            taken.push((from, from + wide, y));
        }
    }
}

/// The points that can be shown.
pub(super) fn shown(series: &Series) -> impl Iterator<Item = &Point> {
    series.points.iter().filter(|point| has_place(point))
}

fn has_place(point: &Point) -> bool {
    point.x.is_finite() && point.y.is_finite()
}

/// The corners of the line through `places`, without those that round to the one before.
fn path(places: &[Position], draw: Draw) -> Vec<Position> {
    let mut path: Vec<Position> = Vec::with_capacity(places.len());
    for &(x, y) in places {
        if let (Draw::Steps, Some(&(_, before))) = (draw, path.last()) {
            path.push((x, before));
        }
        path.push((x, y));
    }
    path.dedup();
    path
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plot::AxisScale;

    fn figure() -> LineFigure {
        LineFigure {
            title: "Ratio <against> flips & more".to_owned(),
            description: "A \"test\" figure.".to_owned(),
            x: Axis::new("Trees").scale(AxisScale::Log2),
            y: Axis::new("Ratio"),
            series: vec![
                Series::new("Credence", Draw::Line, [(1.0, 1.0), (2.0, 1.3), (128.0, 2.9)]),
                Series::new("DT", Draw::Line, [(1.0, 1.5), (2.0, f64::NAN), (128.0, 1.5)]),
                Series::new("LQD", Draw::Rule, [(1.0, 1.0), (128.0, 1.0)]),
            ],
            notes: vec!["The paper expects 2.9 at 128.".to_owned()],
        }
    }

    #[test]
    fn an_svg_names_itself_and_shows_every_text() {
        let svg = figure().to_svg(Page::Alone);
        for text in [
            "role=\"img\"",
            "<title>Ratio &lt;against&gt; flips &amp; more</title>",
            "<desc>A &quot;test&quot; figure.</desc>",
            ">Trees<",
            ">Ratio<",
            ">Credence<",
            ">128<",
            ">The paper expects 2.9 at 128.<",
        ] {
            assert!(svg.contains(text), "{text} is not in\n{svg}");
        }
        assert!(!svg.contains("NaN") && !svg.contains("inf"));
    }

    #[test]
    fn the_same_figure_gives_the_same_bytes() {
        assert_eq!(figure().to_svg(Page::Inline), figure().to_svg(Page::Inline));
    }

    #[test]
    fn a_long_last_tick_stays_inside() {
        let series = Series::new("LQD", Draw::Line, [(0.0, 1.0), (10_000_000.0, 2.0)]);
        let svg = LineFigure { series: vec![series], ..figure() };
        let svg = LineFigure { x: Axis::new("Packets"), ..svg }.to_svg(Page::Alone);
        let last = svg.lines().find(|line| line.ends_with(">10,000,000</text>")).unwrap();
        let x = last.strip_prefix("<text x=\"").unwrap().split('"').next().unwrap();
        // Ten letters at 18 units, the width of digits in Helvetica: a half is 90.
        assert!((1_300..=1_440 - 90).contains(&x.parse().unwrap()), "{last}");
    }

    #[test]
    fn a_line_has_a_gap_where_a_point_has_no_place() {
        let lines = |points: [(f64, f64); 5]| {
            let series = vec![Series::new("LQD", Draw::Line, points)];
            let svg = LineFigure { series, ..figure() }.to_svg(Page::Alone);
            // Lines of series are the thick ones.
            svg.matches("stroke-width=\"5\"").count()
        };
        let whole = [(1.0, 1.0), (2.0, 2.0), (4.0, 4.0), (8.0, 2.0), (16.0, 1.0)];
        let mut gap = whole;
        gap[2].1 = f64::NAN;
        assert_eq!((lines(whole), lines(gap)), (1, 2));
    }

    #[test]
    fn ranges_are_a_band_below_the_lines() {
        let ranged = |range| {
            let point = |(x, y)| Point { range: Some((x - range, x + range)), ..Point::new(x, y) };
            let points = [(10.0, 0.0), (20.0, 1.0)].map(point).to_vec();
            let series = vec![Series { name: "DT".to_owned(), points, ..Series::default() }];
            let axis = Axis::new("us").range(0.0, 32.0);
            let figure = LineFigure { x: axis, series, ..LineFigure::default() };
            figure.to_svg(Page::Alone)
        };
        let svg = ranged(2.0);
        let band = svg.find("<polygon").unwrap();
        assert!(band < svg.find("stroke-width=\"5\"").unwrap(), "{svg}");
        let corners = svg[band..].split('"').nth(1).unwrap().split(' ');
        let corners: Vec<(i32, i32)> = corners
            .map(|corner| corner.split_once(',').unwrap())
            .map(|(x, y)| (x.parse().unwrap(), y.parse().unwrap()))
            .collect();
        let [(low, bottom), (lower, top), (higher, _), (high, _)] = corners[..] else {
            panic!("{corners:?}")
        };
        assert!(low < high && low < lower && high < higher && top < bottom, "{corners:?}");
        assert!(!ranged(0.0).contains("<polygon"), "one run has no range");
    }

    #[test]
    fn what_lies_above_the_axis_is_an_arrow() {
        let svg = |y: f64| {
            let series = vec![Series::new("DT", Draw::Dots, [(1.0, 1.0), (2.0, y)])];
            let y = Axis::new("ratio").range(1.0, 1.5);
            LineFigure { y, series, ..LineFigure::default() }.to_svg(Page::Alone)
        };
        let count =
            |svg: String| (svg.matches("<circle").count(), svg.matches("width=\"5\"").count());
        assert_eq!((count(svg(1.5)), count(svg(9.0))), ((2, 0), (1, 2)));
    }

    #[test]
    fn empty_figures_are_drawn() {
        let empty = LineFigure { title: "Nothing".to_owned(), ..LineFigure::default() };
        assert!(empty.to_svg(Page::Alone).contains("Nothing"));
    }

    #[test]
    fn steps_hold_until_the_next_point() {
        assert_eq!(path(&[(0, 5), (4, 1)], Draw::Steps), [(0, 5), (4, 5), (4, 1)]);
        assert_eq!(path(&[(0, 5), (0, 5), (4, 1)], Draw::Line), [(0, 5), (4, 1)]);
    }
}
