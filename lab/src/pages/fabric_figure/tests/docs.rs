//! The marked tables and the pictures of lab/notes/figures-PAGE.md, as lab/benches/figures.py makes them, against what figures print.

use super::super::{page, panels};
use crate::reproduce::fabric::MeasuredFigure;

/// A table between `<!-- SCALE FIGURE: title; without NAME; NAME -->` and `<!-- end -->`.
struct Marked<'a> {
    scale: &'a str,
    figure: &'a str,
    title: &'a str,
    without: Vec<&'a str>,
    table: Vec<Vec<&'a str>>,
}

/// The cells of a table's lines, without the line below its heading.
fn cells<'a>(lines: impl Iterator<Item = &'a str>) -> Vec<Vec<&'a str>> {
    let rows = lines.filter(|line| line.starts_with('|') && !line.starts_with("|---"));
    rows.map(|line| line.trim_matches('|').split('|').map(str::trim).collect()).collect()
}

fn marked(text: &str) -> Vec<Marked<'_>> {
    let blocks = text.split("<!-- ").skip(1).filter(|block| !block.starts_with("end -->"));
    blocks.map(Marked::read).collect()
}

impl<'a> Marked<'a> {
    fn read(block: &'a str) -> Self {
        let (mark, rest) = block.split_once(" -->").expect("a mark that ends");
        let (whose, title) = mark.split_once(": ").expect("a mark with a title");
        let (scale, figure) = whose.split_once(' ').expect("a scale and a figure");
        let (title, without) = match title.split_once("; without ") {
            Some((title, names)) => (title, names.split("; ").collect()),
            None => (title, Vec::new()),
        };
        Marked { scale, figure, title, without, table: cells(rest.lines()) }
    }

    /// Whether it is a table of what the figure prints, less the rows and columns that it leaves out.
    fn check(&self, place: &str, printed: &str) {
        let heading = format!("| {} |", self.title);
        let found: Vec<&str> =
            printed.split("\n\n").filter(|part| part.starts_with(&heading)).collect();
        assert_eq!(found.len(), 1, "{place}: tables with this title");
        let all = cells(found[0].lines());
        let first_of_each = |table: &[Vec<&str>]| -> Vec<String> {
            table.iter().skip(1).map(|row| row[0].to_owned()).collect()
        };
        let heads: Vec<String> = all[0].iter().map(|&head| head.to_owned()).collect();
        let rows = first_of_each(&all);
        let is_there = |name: &&&str| heads.iter().chain(&rows).any(|other| other == **name);
        let unknown = self.without.iter().find(|name| !is_there(name));
        assert_eq!(unknown, None, "{place}: left out, and not there");
        let kept = |names: Vec<String>| -> Vec<String> {
            names.into_iter().filter(|name| !self.without.contains(&name.as_str())).collect()
        };
        assert_eq!(self.table[0], kept(heads), "{place}: columns");
        assert_eq!(first_of_each(&self.table), kept(rows), "{place}: rows");
    }
}

/// Fails if a marked table of the page is no table of these figures, less the rows and columns that it leaves out, numbers
/// apart; or if the page shows a picture that they do not draw.
pub(super) fn tables_are_those_of(name: &str, scales: &[&str], figures: &[MeasuredFigure]) {
    let path = format!("{}/notes/figures-{name}.md", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).expect("a page of docs");
    let all = marked(&text);
    assert!(!all.is_empty(), "{path}: no marked table");
    for one in all {
        let place = format!("{path}, {} {}: {}", one.scale, one.figure, one.title);
        assert!(scales.contains(&one.scale), "{place}: scales are {scales:?}");
        let measured = figures.iter().find(|measured| measured.figure.name == one.figure);
        one.check(&place, &page(measured.unwrap_or_else(|| panic!("{place}: no such figure"))));
    }
    let drawn: Vec<String> =
        figures.iter().flat_map(panels).map(|(name, _)| format!("{name}.svg)")).collect();
    for picture in text.split("](figures/").skip(1) {
        let (scale, file) = picture.split_once('/').expect("a picture of a scale");
        let is_drawn = drawn.iter().any(|name| file.starts_with(name.as_str()));
        let start: String = file.chars().take(60).collect();
        assert!(scales.contains(&scale) && is_drawn, "{path}: no figure draws {start}");
    }
}
