//! Tables whose numbers carry their exact values.

use crate::numbers;
use crate::plot::{colour, escape};

/// The content of a cell.
pub(super) enum Cell {
    Text(String),
    /// A name with the colour of a series.
    Series(String, usize),
    Count(Option<u64>),
    /// With this many decimals.
    Ratio(Option<f64>, usize),
}

impl Cell {
    pub(super) fn text(text: impl Into<String>) -> Self {
        Cell::Text(text.into())
    }

    /// A number to four decimals.
    pub(super) fn number(value: f64) -> Self {
        Cell::Ratio(Some(value), 4)
    }

    /// A 32-bit count, such as scores and features.
    pub(super) fn whole(value: u32) -> Self {
        Cell::Count(Some(u64::from(value)))
    }

    pub(super) fn html(&self) -> String {
        match self {
            Cell::Text(text) => escape(text),
            Cell::Series(name, series) => format!(
                "<span class=\"key\" style=\"background:{}\"></span>{}",
                colour(*series),
                escape(name)
            ),
            Cell::Count(None) | Cell::Ratio(None, _) => {
                format!("<span class=\"none\">{}</span>", numbers::UNDEFINED)
            }
            Cell::Count(Some(count)) => data(&count.to_string(), &numbers::count(*count)),
            Cell::Ratio(Some(ratio), decimals) => {
                let shown = numbers::ratio(*ratio, *decimals);
                // Written as in JSON: the shortest text that reads back as the same number.
                data(&serde_json::json!(ratio).to_string(), &shown)
            }
        }
    }

    fn is_defined(&self) -> bool {
        !matches!(self, Cell::Count(None) | Cell::Ratio(None, _))
    }

    fn class(&self) -> &'static str {
        if matches!(self, Cell::Text(_) | Cell::Series(..)) { "" } else { " class=\"number\"" }
    }
}

/// Leaves out columns of numbers that are all undefined: the input does not have them.
pub(super) fn kept<'a>(heads: &[&'a str], rows: Vec<Vec<Cell>>) -> (Vec<&'a str>, Vec<Vec<Cell>>) {
    let has_values = |at: usize| {
        rows.is_empty() || rows.iter().any(|row| row.get(at).is_some_and(Cell::is_defined))
    };
    let keep: Vec<bool> = (0..heads.len()).map(has_values).collect();
    let is_kept = |at: usize| keep.get(at).copied().unwrap_or(true);
    let heads = heads.iter().enumerate().filter(|(at, _)| is_kept(*at)).map(|(_, head)| *head);
    let rows = rows.into_iter().map(|row| {
        let cells = row.into_iter().enumerate().filter(|(at, _)| is_kept(*at));
        cells.map(|(_, cell)| cell).collect()
    });
    (heads.collect(), rows.collect())
}

fn data(exact: &str, shown: &str) -> String {
    format!("<data value=\"{exact}\">{shown}</data>")
}

/// A table with a caption; the first cell of each row is its heading.
pub(super) fn table(caption: &str, heads: &[&str], rows: &[Vec<Cell>]) -> String {
    let caption = escape(caption);
    let mut html = format!(
        "<div class=\"wide\" tabindex=\"0\" role=\"group\" aria-label=\"{caption}\"><table>\n\
         <caption>{caption}</caption>\n<thead><tr>"
    );
    for (at, head) in heads.iter().enumerate() {
        let class = rows.first().and_then(|row| row.get(at)).map_or("", Cell::class);
        match head.is_empty() {
            true => html.push_str("<td></td>"),
            false => html.push_str(&format!("<th scope=\"col\"{class}>{}</th>", escape(head))),
        }
    }
    html.push_str("</tr></thead>\n<tbody>\n");
    for row in rows {
        html.push_str("<tr>");
        for (at, cell) in row.iter().enumerate() {
            html.push_str(&match at {
                0 => format!("<th scope=\"row\">{}</th>", cell.html()),
                _ => format!("<td{}>{}</td>", cell.class(), cell.html()),
            });
        }
        html.push_str("</tr>\n");
    }
    html + "</tbody>\n</table></div>\n"
}

/// The numbers of a figure, in named groups (a name may be empty). The table scrolls, so it takes
/// the keyboard focus.
pub(super) fn data_table(
    caption: &str,
    heads: &[&str],
    groups: &[(&str, Vec<Vec<Cell>>)],
) -> String {
    let caption = escape(caption);
    let mut html = format!(
        "<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"Data of {caption}\">\
         <table class=\"data\">\n<thead><tr>"
    );
    for head in heads {
        html.push_str(&format!("<th scope=\"col\">{}</th>", escape(head)));
    }
    html.push_str("</tr></thead>\n");
    for (name, rows) in groups {
        html.push_str("<tbody>\n");
        if !name.is_empty() {
            let (wide, name) = (heads.len(), escape(name));
            html.push_str(&format!(
                "<tr><th colspan=\"{wide}\" scope=\"rowgroup\">{name}</th></tr>\n"
            ));
        }
        for row in rows {
            html.push_str("<tr>");
            row.iter().for_each(|cell| html.push_str(&format!("<td>{}</td>", cell.html())));
            html.push_str("</tr>\n");
        }
        html.push_str("</tbody>\n");
    }
    html.push_str("</table></div>\n");
    html
}
