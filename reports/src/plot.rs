//! Plots as SVG: what a figure is, and how it is drawn.
//!
//! A [`LineFigure`] or [`BarFigure`] is data with a title, axes with units and a description for
//! who cannot see it. Drawing (by the `plotters` crate) is deterministic: the same figure gives
//! the same bytes. Series differ in colour (Okabe and Ito's palette, told apart by the
//! colour-blind), dashes and markers, so no meaning hangs on colour alone. The legend stands above
//! the plot, never on the data.

mod bars;
mod canvas;
mod csv;
mod figure;
mod lines;
mod palette;
mod svg;
mod ticks;

pub use figure::{Axis, BarFigure, BarGroup, Draw, LineFigure, Point, Scale, Series};
pub(crate) use svg::escape;
pub use svg::{Page, PlotError};
