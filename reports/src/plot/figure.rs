//! What a figure is made of.

use crate::numbers;
use dropcast_pipeline::wall_clock::UtcOffset;

/// How numbers are laid out along an axis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AxisScale {
    /// Evenly.
    #[default]
    Linear,
    /// Powers of two at even distances.
    Log2,
    /// Powers of ten at even distances.
    Log10,
}

/// The unit in which values are written; the figure's data are not changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unit {
    /// As they are.
    #[default]
    One,
    /// In thousands.
    Kilo,
    /// In millions.
    Mega,
    /// In percent.
    Percent,
}

impl Unit {
    /// The factor applied to a value before it is written.
    pub(super) fn factor(self) -> f64 {
        match self {
            Unit::One => 1.0,
            Unit::Kilo => 1e-3,
            Unit::Mega => 1e-6,
            Unit::Percent => 100.0,
        }
    }
}

/// An axis.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Axis {
    /// What it measures, then after a comma its unit, then in parentheses an explanation.
    pub label: String,
    /// How its values are written.
    pub unit: Unit,
    /// How it is laid out. Values that a logarithmic scale cannot show are drawn at its lower end.
    pub scale: AxisScale,
    /// Whether a logarithmic scale has a place for 0, a step below its lowest value.
    pub has_zero: bool,
    /// Lowest and highest value; by default what the data needs.
    pub range: Option<(f64, f64)>,
    /// Whether all values are whole numbers.
    pub whole: bool,
    /// Ticks are times of day by this clock.
    pub clock: Option<Clock>,
}

/// How values of an axis are times of day.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Clock {
    /// The time of 0, nanoseconds since 1970.
    pub begin_ns: u64,
    /// A value of 1, nanoseconds.
    pub unit_ns: f64,
    /// How much the clock is ahead of UTC.
    pub offset: UtcOffset,
}

impl Clock {
    /// The time of day of a value, to the millisecond.
    fn time_of_day(&self, value: f64) -> String {
        let after_ns = (value * self.unit_ns).round() as i64;
        let (_, time) = self.offset.date_and_time(self.begin_ns.saturating_add_signed(after_ns));
        time[..12].to_owned()
    }
}

impl Axis {
    /// A linear axis that is as long as the data needs.
    pub fn new(label: impl Into<String>) -> Self {
        Axis { label: label.into(), ..Axis::default() }
    }

    /// The same axis with another scale.
    #[must_use]
    pub fn scale(self, scale: AxisScale) -> Self {
        Axis { scale, ..self }
    }

    /// The same axis with a place for 0 on a logarithmic scale.
    #[must_use]
    pub fn with_zero(self) -> Self {
        Axis { has_zero: true, ..self }
    }

    /// The same axis with values written in `unit`.
    #[must_use]
    pub fn unit(self, unit: Unit) -> Self {
        Axis { unit, ..self }
    }

    /// The same axis with ticks at whole numbers only.
    #[must_use]
    pub fn whole(self) -> Self {
        Axis { whole: true, ..self }
    }

    /// The same linear axis with times of day.
    #[must_use]
    pub fn clock(self, clock: Clock) -> Self {
        Axis { clock: Some(clock), ..self }
    }

    /// A value as text, with the axis' name and unit.
    pub(super) fn reading(&self, value: f64) -> String {
        if let Some(clock) = &self.clock {
            return clock.time_of_day(value);
        }
        let label = self.label.split(" (").next().unwrap_or_default();
        let (name, unit) = label.rsplit_once(", ").unwrap_or((label, ""));
        format!("{name} {} {unit}", numbers::short(value * self.unit.factor())).trim().to_owned()
    }

    /// The same axis from `low` to `high`.
    #[must_use]
    pub fn range(self, low: f64, high: f64) -> Self {
        Axis { range: Some((low, high)), ..self }
    }
}

/// A point of a series. A point that is not finite is a gap.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Point {
    /// Where along the horizontal axis.
    pub x: f64,
    /// Where along the vertical axis.
    pub y: f64,
    /// An interval around `y` (say, over seeds), drawn as a bar.
    pub interval: Option<(f64, f64)>,
    /// A range of `x` (say, over runs). The ranges of a series are drawn as a band.
    pub range: Option<(f64, f64)>,
    /// The expected value and its source; for the CSV.
    pub expectation: Option<String>,
    /// A label of the point, in addition to its values.
    pub label: Option<String>,
}

impl Point {
    /// A point without interval or expectation.
    pub fn new(x: f64, y: f64) -> Self {
        Point { x, y, ..Point::default() }
    }
}

/// How a series is drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Draw {
    /// Points joined by a line.
    #[default]
    Line,
    /// A value holds until the next point.
    Steps,
    /// Large markers, not joined.
    Marks,
    /// Small markers, not joined.
    Dots,
    /// A thin dotted line without markers, for reference.
    Rule,
}

/// Where the labels of points are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Labels {
    /// Nowhere; the pointer shows them.
    #[default]
    Unwritten,
    /// Above, to the right.
    AboveRight,
    /// Above, to the left.
    AboveLeft,
    /// Below, to the left.
    BelowLeft,
}

/// A named sequence of points.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Series {
    /// Its name in the legend.
    pub name: String,
    /// The points, in drawing order.
    pub points: Vec<Point>,
    /// How it is drawn.
    pub draw: Draw,
    /// Where the labels of its points are written.
    pub labels: Labels,
}

impl Series {
    /// A series of `(x, y)` pairs.
    pub fn new(
        name: impl Into<String>,
        draw: Draw,
        points: impl IntoIterator<Item = (f64, f64)>,
    ) -> Self {
        let points = points.into_iter().map(|(x, y)| Point::new(x, y)).collect();
        Series { name: name.into(), points, draw, labels: Labels::Unwritten }
    }
}

/// A line chart.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LineFigure {
    /// The title; empty for none, as for a paper with captions.
    pub title: String,
    /// A text description, for screen readers.
    pub description: String,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// The series, in drawing order.
    pub series: Vec<Series>,
    /// Lines of text below the plot, such as what a paper expects.
    pub notes: Vec<String>,
}

/// One of the plots of a [`PanelFigure`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Panel {
    /// Its vertical axis.
    pub y: Axis,
    /// Its series, in drawing order. Hit areas are where a value is not 0.
    pub series: Vec<Series>,
    /// Its height, relative to that of the other panels.
    pub height: u32,
}

/// Plots under one another that share their horizontal axis.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PanelFigure {
    /// The title.
    pub title: String,
    /// A text description, for screen readers.
    pub description: String,
    /// The horizontal axis.
    pub x: Axis,
    /// The plots, top to bottom.
    pub panels: Vec<Panel>,
    /// Lines of text below the plot.
    pub notes: Vec<String>,
}

/// Bars of one kind, one for each category of a [`BarFigure`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BarGroup {
    /// Its name in the legend.
    pub name: String,
    /// Length of each bar; `None` for no bar.
    pub values: Vec<Option<f64>>,
    /// The text beside each bar.
    pub labels: Vec<String>,
    /// A range around the length of each bar (say, over runs), drawn as a line across its end. Empty for none.
    pub ranges: Vec<Option<(f64, f64)>>,
}

/// How bars are drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BarLook {
    /// In a picture as high as other figures.
    #[default]
    Usual,
    /// In a picture as high as the bars need, without an axis: their texts have the values.
    Flat,
    /// Dots at their ends, with ranges around them, and the texts in a column.
    Dots,
}

/// A chart of horizontal bars from zero.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BarFigure {
    /// The title; empty for none, as for a paper with captions.
    pub title: String,
    /// A text description, for screen readers.
    pub description: String,
    /// The horizontal axis; always linear and as long as the data needs.
    pub value: Axis,
    /// Names of the bars, top to bottom.
    pub categories: Vec<String>,
    /// The bars of each category, top to bottom.
    pub groups: Vec<BarGroup>,
    /// How they are drawn.
    pub look: BarLook,
    /// Lines of text below the plot.
    pub notes: Vec<String>,
}

/// A table of coloured cells, each with its value in it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct HeatFigure {
    /// The title.
    pub title: String,
    /// A text description, for screen readers.
    pub description: String,
    /// The horizontal axis; only its label counts.
    pub x: Axis,
    /// The vertical axis; only its label counts.
    pub y: Axis,
    /// What a cell's value is; only label, unit and range count. Colours span the range, or the data; what is below
    /// the range has another hue.
    pub value: Axis,
    /// Decimals of the values in the cells.
    pub decimals: usize,
    /// Names of the columns, left to right.
    pub columns: Vec<String>,
    /// Names of the rows, top to bottom.
    pub rows: Vec<String>,
    /// By row, then column; `None` for an empty cell.
    pub cells: Vec<Vec<Option<f64>>>,
    /// By row, then column: whether a star follows the value. Empty for none.
    pub starred: Vec<Vec<bool>>,
    /// Lines of text below the plot.
    pub notes: Vec<String>,
}
