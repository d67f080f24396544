//! Drawing a [`PanelFigure`].

use super::canvas::{Axes, Canvas, Sample, paint};
use super::figure::{PanelFigure, Series};
use super::lines::{draw_peaks, mark};
use super::palette::look;
use super::svg::{Page, TEXT, width};
use super::ticks::Ruler;

/// Gap between panels, units.
const GAP: i32 = 34;
/// Height of a panel by itself.
const ONE_PANEL: usize = 300;

impl PanelFigure {
    /// The figure as SVG.
    pub fn to_svg(&self, page: Page) -> String {
        paint(&self.title, &self.description, page, |canvas| self.draw(canvas))
    }

    fn draw(&self, canvas: &mut Canvas) {
        let all = self.panels.iter().flat_map(|panel| &panel.series);
        let legend: Vec<_> = all
            .clone()
            .enumerate()
            .map(|(at, series)| (Sample::Line(series.draw, look(at)), series.name.as_str()))
            .collect();
        canvas.legend(&legend);
        if let [_] = self.panels.as_slice() {
            canvas.fit(ONE_PANEL, true);
        }
        canvas.notes(&self.notes);

        let x = Ruler::across(&self.x, all.flat_map(|series| series.points.iter().map(|p| p.x)));
        let rulers = self.panels.iter().map(|panel| {
            let values = panel.series.iter().flat_map(|series| series.points.iter().map(|p| p.y));
            Ruler::new(&panel.y, values, if panel.height > 1 { 5 } else { 3 })
        });
        let rulers: Vec<Ruler> = rulers.collect();
        let texts = rulers.iter().flat_map(|ruler| &ruler.ticks);
        let widest = texts.map(|tick| width(&tick.1, TEXT)).max().unwrap_or(0);
        let heights: Vec<u32> = self.panels.iter().map(|panel| panel.height.max(1)).collect();
        let places = canvas.stacked(&heights, GAP);
        let last = self.panels.len().saturating_sub(1);
        let mut next = 0;
        for ((at, panel), (y, down)) in
            self.panels.iter().enumerate().zip(rulers.into_iter().zip(places))
        {
            let (ruler, label) = if at == last {
                (x.clone(), self.x.label.clone())
            } else {
                let blank = |(value, _): &(f64, String)| (*value, String::new());
                (Ruler { ticks: x.ticks.iter().map(blank).collect(), ..x.clone() }, String::new())
            };
            canvas.set_down(&down);
            let across = Axes { ruler, label, has_grid: true };
            let upwards = Axes { ruler: y, label: panel.y.label.clone(), has_grid: true };
            let plot = canvas.axes(widest + 64, across, upwards);
            for series in &panel.series {
                draw_peaks(canvas, &plot, series, look(next));
                let points = series.points.iter().filter(|point| point.y != 0.0).cloned();
                let nonzero = Series { points: points.collect(), ..series.clone() };
                mark(canvas, &plot, (&self.x, &panel.y), &nonzero);
                next += 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plot::{Axis, Draw, Panel, Unit};

    #[test]
    fn panels_share_one_axis_and_have_their_own_values() {
        let panel = |label: &str, unit, name: &str, values: [f64; 3], height| Panel {
            y: Axis::new(label).unit(unit),
            series: vec![Series::new(name, Draw::Steps, (0..3).map(f64::from).zip(values))],
            height,
        };
        let figure = PanelFigure {
            title: "Over time".to_owned(),
            x: Axis::new("Time, ms"),
            panels: vec![
                panel("Full, %", Unit::Percent, "occupancy", [0.25, 0.5, 0.0], 1),
                panel("Packets", Unit::One, "drops", [0.0, 7.0, 0.0], 2),
            ],
            ..PanelFigure::default()
        };
        let svg = figure.to_svg(Page::Inline);
        for text in [">Time, ms<", ">Full, %<", ">Packets<", ">occupancy<", ">drops<"] {
            assert_eq!(svg.matches(text).count(), 1, "{text} is not once in\n{svg}");
        }
        assert!(svg.contains("data-x=\"1\" data-y=\"7\"><title>drops: Time 1 ms, Packets 7<"));
        assert_eq!(svg.matches("data-y=").count(), 3, "a value of 0 has no hit area");
        assert!(PanelFigure::default().to_svg(Page::Alone).contains("<svg"), "nothing is drawn");
    }
}
