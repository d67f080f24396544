//! Tables whose numbers carry their exact values.

use crate::numbers;
use crate::plot::escape;

/// What stands in a cell.
pub(super) enum Cell {
    Text(String),
    Count(Option<u64>),
    /// With so many decimals.
    Ratio(Option<f64>, usize),
}

impl Cell {
    pub(super) fn text(text: impl Into<String>) -> Self {
        Cell::Text(text.into())
    }

    pub(super) fn html(&self) -> String {
        match self {
            Cell::Text(text) => escape(text),
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

    fn class(&self) -> &'static str {
        if matches!(self, Cell::Text(_)) { "" } else { " class=\"number\"" }
    }
}

fn data(exact: &str, shown: &str) -> String {
    format!("<data value=\"{exact}\">{shown}</data>")
}

/// A table with a caption; the first cell of each row is its heading.
pub(super) fn table(caption: &str, heads: &[&str], rows: &[Vec<Cell>]) -> String {
    let mut html = format!("<div class=\"wide\"><table>\n<caption>{}</caption>\n", escape(caption));
    html.push_str("<thead><tr>");
    for (at, head) in heads.iter().enumerate() {
        let class = rows.first().and_then(|row| row.get(at)).map_or("", Cell::class);
        html.push_str(&format!("<th scope=\"col\"{class}>{}</th>", escape(head)));
    }
    html.push_str("</tr></thead>\n<tbody>\n");
    for row in rows {
        html.push_str("<tr>");
        for (at, cell) in row.iter().enumerate() {
            if at == 0 {
                html.push_str(&format!("<th scope=\"row\">{}</th>", cell.html()));
            } else {
                html.push_str(&format!("<td{}>{}</td>", cell.class(), cell.html()));
            }
        }
        html.push_str("</tr>\n");
    }
    html.push_str("</tbody>\n</table></div>\n");
    html
}
