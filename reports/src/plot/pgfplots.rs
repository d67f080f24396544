//! Figures for LaTeX.

use super::figure::{Axis, AxisScale, BarFigure, BarGroup, LineFigure, Point, Series};
use super::lines::{has_band, shown};
use super::palette::{Look, look};
use std::fmt::Write as _;

/// The columns of a series' table: where its points are, and the ends of their ranges.
const COLUMNS: &str = "x y low high";

impl LineFigure {
    /// The figure as a `tikzpicture` of pgfplots (1.16 or later) with its library fillbetween, without title and notes: its user's document
    /// has captions. Every series is a line; values are in the units of the axes.
    pub fn to_pgfplots(&self) -> String {
        let series = self.looks();
        let mut out = "% Needs \\usepackage{pgfplots} \\usepgfplotslibrary{fillbetween} \\pgfplotsset{compat=1.16}\n\
                       \\begin{tikzpicture}\n"
            .to_owned();
        for (at, (_, look)) in series.iter().enumerate() {
            let colour = look.colour.to_string();
            let _ = writeln!(
                out,
                "\\definecolor{{series{at}}}{{HTML}}{{{}}}",
                colour.trim_start_matches('#')
            );
        }
        let (x, y) = (axis("x", &self.x), axis("y", &self.y));
        let _ = writeln!(
            out,
            "\\begin{{axis}}[\n  {x},\n  {y},\n  grid=major, legend columns=3, legend cell align=left,\n  \
             legend style={{at={{(0.5,1.03)}}, anchor=south, draw=none, font=\\small}},\n]"
        );
        for (at, (series, look)) in series.iter().enumerate() {
            self.add_series(&mut out, at, series, *look);
        }
        out.push_str("\\end{axis}\n\\end{tikzpicture}\n");
        out
    }

    fn add_series(&self, out: &mut String, at: usize, series: &Series, look: Look) {
        let _ = writeln!(out, "\\pgfplotstableread[row sep=\\\\]{{\n{COLUMNS}\\\\");
        let (across, up) = (self.x.unit.factor(), self.y.unit.factor());
        for point in shown(series) {
            let &Point { x, y, range, .. } = point;
            let (low, high) = range.unwrap_or((x, x));
            let [x, low, high] = [x, low, high].map(|value| value * across);
            let y = y * up;
            let _ = writeln!(out, "{x:.6e} {y:.6e} {low:.6e} {high:.6e}\\\\");
        }
        out.push_str("}\\series\n");
        if has_band(series) {
            for end in ["low", "high"] {
                let _ = writeln!(
                    out,
                    "\\addplot[name path={end}, draw=none, forget plot] table[x={end}, y=y]{{\\series}};"
                );
            }
            let _ = writeln!(
                out,
                "\\addplot[series{at}, fill opacity=0.15, forget plot] fill between[of=low and high];"
            );
        }
        let dash = look.dash.map_or_else(String::new, |(dash, gap)| {
            // Six units of the SVG are about a point of text.
            let [dash, gap] = [dash, gap].map(|units| f64::from(units) / 6.0);
            format!(", dash pattern=on {dash:.1}pt off {gap:.1}pt")
        });
        let _ = writeln!(
            out,
            "\\addplot[series{at}, thick{dash}] table[x=x, y=y]{{\\series}};\n\\addlegendentry{{{}}}",
            escaped(&series.name)
        );
    }
}

impl BarFigure {
    /// The figure as a `tikzpicture` of pgfplots (1.16 or later), without title, notes and labels: its user's document has captions.
    /// Values are in the units of the axis.
    pub fn to_pgfplots(&self) -> String {
        let mut out =
            "% Needs \\usepackage{pgfplots} \\pgfplotsset{compat=1.16}\n\\begin{tikzpicture}\n"
                .to_owned();
        for at in 0..self.groups.len() {
            let colour = look(at).colour.to_string();
            let _ = writeln!(
                out,
                "\\definecolor{{series{at}}}{{HTML}}{{{}}}",
                colour.trim_start_matches('#')
            );
        }
        let places: Vec<String> = (0..self.categories.len()).map(|at| at.to_string()).collect();
        let names: Vec<String> =
            self.categories.iter().map(|name| format!("{{{}}}", escaped(name))).collect();
        // As far as the bars need, in the units of text.
        let height = self.categories.len() * (self.groups.len() + 1) * 7 + 70;
        let _ = writeln!(
            out,
            "\\begin{{axis}}[\n  xbar, bar width=5pt, height={height}pt, {},\n  xmin=0, enlarge x limits={{value=0.08, upper}}, \
             y dir=reverse, ytick={{{}}}, ytick style={{draw=none}}, yticklabels={{{}}},\n  ymin=-0.6, ymax={}, grid=major, ymajorgrids=false, legend columns=3, \
             legend cell align=left,\n  legend style={{at={{(0.5,1.03)}}, anchor=south, draw=none, font=\\small}},\n]",
            axis("x", &self.value),
            places.join(","),
            names.join(","),
            self.categories.len() as f64 - 0.4,
        );
        for (at, group) in self.groups.iter().enumerate() {
            self.add_group(&mut out, at, group);
        }
        out.push_str("\\end{axis}\n\\end{tikzpicture}\n");
        out
    }

    fn add_group(&self, out: &mut String, at: usize, group: &BarGroup) {
        // The first on top, whichever way the axis runs.
        let shift = ((self.groups.len() - 1) as f64 / 2.0 - at as f64) * 6.0;
        let _ = writeln!(
            out,
            "\\addplot[draw=series{at}, fill=series{at}, bar shift={shift}pt, error bars/.cd, x dir=both, x explicit, error bar style={{black}}]\n  \
             table[x=x, y=y, x error plus=plus, x error minus=minus, row sep=\\\\]{{\nx y plus minus\\\\"
        );
        let factor = self.value.unit.factor();
        for (row, value) in group.values.iter().enumerate() {
            let Some(value) = value.filter(|value| value.is_finite()) else { continue };
            let (low, high) = group.ranges.get(row).copied().flatten().unwrap_or((value, value));
            let [value, plus, minus] = [value, high - value, value - low].map(|own| own * factor);
            let _ = writeln!(out, "{value:.6e} {row} {plus:.6e} {minus:.6e}\\\\");
        }
        let _ = writeln!(out, "}};\n\\addlegendentry{{{}}}", escaped(&group.name));
    }
}

/// The options of an axis.
fn axis(name: &str, axis: &Axis) -> String {
    let mut options = format!("{name}label={{{}}}", escaped(&axis.label));
    match axis.scale {
        AxisScale::Linear => {}
        AxisScale::Log2 => {
            let _ = write!(options, ", {name}mode=log, log basis {name}=2");
        }
        AxisScale::Log10 => {
            let _ = write!(options, ", {name}mode=log");
        }
    }
    if let Some((low, high)) = axis.range {
        let [low, high] = [low, high].map(|end| end * axis.unit.factor());
        let _ = write!(options, ", {name}min={low}, {name}max={high}");
    }
    options
}

/// A text as LaTeX prints it.
pub(super) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '#' | '$' | '%' | '&' | '_' | '{' | '}' => out.extend(['\\', letter]),
            '\\' => out.push_str("\\textbackslash{}"),
            '^' => out.push_str("\\textasciicircum{}"),
            '~' => out.push_str("\\textasciitilde{}"),
            '<' => out.push_str("\\textless{}"),
            '>' => out.push_str("\\textgreater{}"),
            '|' => out.push_str("\\textbar{}"),
            '"' => out.push_str("''"),
            letter if letter.is_control() => out.push(' '),
            letter => out.push(letter),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plot::Unit;

    #[test]
    fn series_are_tables_in_the_units_of_the_axes() {
        let point = Point { range: Some((10.0, 30.0)), ..Point::new(20.0, 0.5) };
        let figure = LineFigure {
            title: "A title".to_owned(),
            x: Axis::new("time, us").scale(AxisScale::Log10),
            y: Axis::new("share, %").unit(Unit::Percent).range(0.0, 1.0),
            series: vec![
                Series { name: "a_b:{x < 2}".to_owned(), points: vec![point], ..Series::default() },
                Series { points: vec![Point::new(1.0, 1.0)], ..Series::default() },
            ],
            ..LineFigure::default()
        };
        let tex = figure.to_pgfplots();
        for part in [
            "xlabel={time, us}, xmode=log,",
            "ylabel={share, \\%}, ymin=0, ymax=100,",
            "x y low high\\\\\n2.000000e1 5.000000e1 1.000000e1 3.000000e1\\\\\n}",
            "\\addlegendentry{a\\_b:\\{x \\textless{} 2\\}}",
        ] {
            assert!(tex.contains(part), "{part} is not in\n{tex}");
        }
        assert!(!tex.contains("A title"));
        let bars = BarFigure {
            value: Axis::new("time, us"),
            categories: vec!["a_b".to_owned(), "c".to_owned(), "d".to_owned()],
            groups: vec![BarGroup {
                name: "p99".to_owned(),
                values: vec![Some(20.0), None, Some(5.0)],
                ranges: vec![Some((10.0, 50.0)), None, None],
                ..BarGroup::default()
            }],
            ..BarFigure::default()
        };
        let bars = bars.to_pgfplots();
        for part in [
            "xlabel={time, us}",
            "yticklabels={{a\\_b},{c},{d}}",
            "\n2.000000e1 0 3.000000e1 1.000000e1\\\\\n5.000000e0 2 0.000000e0 0.000000e0\\\\\n};",
            "\\addlegendentry{p99}",
        ] {
            assert!(bars.contains(part), "{part} is not in\n{bars}");
        }
        assert_eq!(tex.matches("fill between").count(), 1, "one point has a range");
    }
}
