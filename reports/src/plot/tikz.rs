//! Heat maps for LaTeX.

use super::figure::HeatFigure;
use super::palette::{on_tile, ramp};
use super::pgfplots::escaped;
use std::fmt::Write as _;

impl HeatFigure {
    /// The figure as a `tikzpicture` without title and notes: its user's document has captions, and they are a comment here.
    pub fn to_tikz(&self) -> String {
        let mut out = "% Needs \\usepackage{tikz}\n".to_owned();
        for line in std::iter::once(&self.title).chain(&self.notes) {
            let _ = writeln!(out, "% {}", escaped(line));
        }
        out.push_str("\\begin{tikzpicture}[x=1.3cm, y=0.6cm, font=\\small]\n");
        let (columns, rows) = (self.columns.len(), self.rows.len());
        for row in 0..rows {
            for column in 0..columns {
                self.add_cell(&mut out, row, column);
            }
        }
        for (column, name) in self.columns.iter().enumerate() {
            let (x, y) = (column as f64 + 0.5, 0.0 - rows as f64);
            let _ = writeln!(out, "\\node[below] at ({x},{y}) {{{}}};", escaped(name));
        }
        for (row, name) in self.rows.iter().enumerate() {
            let y = 0.0 - row as f64 - 0.5;
            let _ = writeln!(out, "\\node[left] at (0,{y}) {{{}}};", escaped(name));
        }
        let (middle, below) = (columns as f64 / 2.0, 0.0 - rows as f64 - 0.8);
        let _ =
            writeln!(out, "\\node[below] at ({middle},{below}) {{{}}};", escaped(&self.x.label));
        let _ = writeln!(out, "\\node[above left] at (0,0) {{{}}};", escaped(&self.y.label));
        out.push_str("\\end{tikzpicture}\n");
        out
    }

    fn add_cell(&self, out: &mut String, row: usize, column: usize) {
        let (left, top) = (column as f64, 0.0 - row as f64);
        let (right, bottom) = (left + 1.0, top - 1.0);
        let at = format!("({},{})", left + 0.5, top - 0.5);
        let Some(value) = self.value_at(row, column) else {
            let _ = writeln!(out, "\\node at {at} {{--}};");
            return;
        };
        let fill = ramp(self.depth_of(value));
        for (name, colour) in [("tile", fill), ("letter", on_tile(fill))] {
            let colour = colour.to_string();
            let colour = colour.trim_start_matches('#');
            let _ = writeln!(out, "\\definecolor{{{name}}}{{HTML}}{{{colour}}}");
        }
        let text = escaped(&self.cell_text(row, column, value));
        let _ = writeln!(
            out,
            "\\fill[tile, draw=white] ({left},{top}) rectangle ({right},{bottom});\n\\node[letter] at {at} {{{text}}};"
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plot::Axis;

    #[test]
    fn cells_are_tiles_with_their_values() {
        let figure = HeatFigure {
            title: "A title".to_owned(),
            x: Axis::new("load, %"),
            y: Axis::new("burst"),
            value: Axis::new("gain").range(0.0, 1.0),
            decimals: 1,
            columns: ["0.4", "0.7"].map(str::to_owned).to_vec(),
            rows: vec!["a_b".to_owned()],
            cells: vec![vec![Some(0.5), None]],
            starred: vec![vec![true, false]],
            ..HeatFigure::default()
        };
        let tex = figure.to_tikz();
        let colour = ramp(0.5).to_string();
        for part in [
            "% A title\n",
            "\\fill[tile, draw=white] (0,0) rectangle (1,-1);\n\\node[letter] at (0.5,-0.5) {0.5*};",
            "\\node at (1.5,-0.5) {--};",
            "\\node[below] at (1.5,-1) {0.7};",
            "\\node[left] at (0,-0.5) {a\\_b};",
            "{load, \\%}",
            &format!("\\definecolor{{tile}}{{HTML}}{{{}}}", &colour[1..]),
        ] {
            assert!(tex.contains(part), "{part} is not in\n{tex}");
        }
    }
}
