//! Plots as SVG: what a figure is, and how it is drawn.
//!
//! A [`LineFigure`], [`BarFigure`] or [`HeatFigure`] is data with a title, axes with units and a description for
//! who cannot see it. Drawing (by the `plotters` crate) is deterministic: the same figure gives
//! the same bytes. Series differ in colour (a palette that the colour-blind can tell
//! apart, which is tested), dashes and markers, so no meaning hangs on colour alone. The legend stands above
//! the plot, never on the data. On a page, points can be pointed at ([`Page::Inline`]).

mod bars;
mod canvas;
mod csv;
mod figure;
mod heat;
mod lines;
mod marks;
mod palette;
mod svg;
mod ticks;

pub use figure::{
    Axis, BarFigure, BarGroup, Draw, HeatFigure, Labels, LineFigure, Point, Scale, Series, Unit,
};
pub(crate) use svg::escape;
pub use svg::{Page, PlotError};
