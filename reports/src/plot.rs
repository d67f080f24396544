//! Plots as SVG, and lines for LaTeX: what a figure is, and how it is drawn.
//!
//! A [`LineFigure`], [`BarFigure`] or [`HeatFigure`] is data with a title, axes with units and a
//! description for screen readers. The same figure gives the same bytes. Series differ in colour
//! (tested for colour-blind readers), dash and marker, so that no meaning depends on colour alone.
//! The legend is above the plot, never on the data. On a page, hit areas show the values of points
//! ([`Page::Inline`]).

mod bars;
mod canvas;
mod csv;
mod figure;
mod heat;
mod lines;
mod marks;
mod palette;
mod panels;
mod pgfplots;
mod svg;
mod ticks;
mod tikz;

pub use figure::{
    Axis, AxisScale, BarFigure, BarGroup, BarLook, Clock, Draw, HeatFigure, Labels, LineFigure,
    Panel, PanelFigure, Point, Series, Unit,
};
pub(crate) use palette::colour;
pub use svg::Page;
pub(crate) use svg::escape;
