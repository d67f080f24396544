//! The body of a page: sections, tables and figures.
//!
//! This is not a template (`askama`) because a page is mostly tables and figures, each made by one function. `maud` writes
//! no line ends between elements: pages would be one line, which cannot be compared.
//! What comes from outside goes through [`escape`].

use super::table::{Cell, data_table, table};
use crate::plot::{BarFigure, HeatFigure, LineFigure, Page, PanelFigure, escape};

/// The sections of a page so far.
#[derive(Default)]
pub(super) struct Body {
    pub(super) html: String,
    /// Identifier and title of each section.
    pub(super) sections: Vec<(&'static str, String)>,
    figures: usize,
    is_open: bool,
    is_folded: bool,
}

/// A figure of any kind.
pub(super) trait Drawn {
    fn title(&self) -> &str;
    fn svg(&self) -> String;
}

/// The numbers of a figure, as a table in groups of rows.
pub(super) struct Data<'a> {
    pub(super) heads: &'a [&'a str],
    /// Each with a name, which may be empty.
    pub(super) groups: Vec<(&'a str, Vec<Vec<Cell>>)>,
}

impl Body {
    /// Begins the page with its answer, in one line.
    pub(super) fn answer(&mut self, text: &str, is_trusted: bool) {
        self.is_open = true;
        let (text, class) = (escape(text), if is_trusted { "lead" } else { "lead warning" });
        self.html.push_str(&format!(
            "<section aria-labelledby=\"verdict\">\n<h2 id=\"verdict\" class=\"{class}\">{text}</h2>\n"
        ));
    }

    /// A fact behind its name, if it is known.
    pub(super) fn fact(&mut self, label: &str, text: Option<&str>) {
        if let Some(text) = text.map(escape) {
            self.html.push_str(&format!("<p class=\"fact\"><b>{label}</b> {text}.</p>\n"));
        }
    }

    /// Begins a section, and ends the one before.
    pub(super) fn section(&mut self, id: &'static str, title: &str) {
        self.end_section();
        self.is_open = true;
        self.sections.push((id, title.to_owned()));
        let title = escape(title);
        self.html.push_str(&format!(
            "<section aria-labelledby=\"{id}\">\n<h2 id=\"{id}\">{title}</h2>\n"
        ));
    }

    /// Begins a section that is folded away until it is opened, and ends the one before.
    pub(super) fn folded_section(&mut self, id: &'static str, title: &str) {
        self.end_section();
        (self.is_open, self.is_folded) = (true, true);
        self.sections.push((id, title.to_owned()));
        let title = escape(title);
        self.html.push_str(&format!(
            "<section aria-labelledby=\"{id}\">\n<details class=\"more\">\
             <summary><h2 id=\"{id}\">{title}</h2></summary>\n"
        ));
    }

    /// A heading within a section.
    pub(super) fn heading(&mut self, title: &str) {
        self.html.push_str(&format!("<h3>{}</h3>\n", escape(title)));
    }

    /// Begins what is folded away under a line of text, until [`end_fold`](Self::end_fold).
    pub(super) fn fold(&mut self, summary: &str) {
        let summary = escape(summary);
        self.html.push_str(&format!("<details class=\"more\"><summary>{summary}</summary>\n"));
    }

    pub(super) fn end_fold(&mut self) {
        self.html.push_str("</details>\n");
    }

    pub(super) fn end_section(&mut self) {
        if std::mem::take(&mut self.is_folded) {
            self.end_fold();
        }
        if std::mem::take(&mut self.is_open) {
            self.html.push_str("</section>\n");
        }
    }

    pub(super) fn paragraph(&mut self, text: &str) {
        self.html.push_str(&format!("<p>{}</p>\n", escape(text)));
    }

    /// What the section comes to.
    pub(super) fn lead(&mut self, text: &str) {
        self.html.push_str(&format!("<p class=\"lead\">{}</p>\n", escape(text)));
    }

    pub(super) fn warning(&mut self, text: &str) {
        self.html.push_str(&format!("<p class=\"warning\">{}</p>\n", escape(text)));
    }

    pub(super) fn table(&mut self, caption: &str, heads: &[&str], rows: &[Vec<Cell>]) {
        self.html.push_str(&table(caption, heads, rows));
    }

    /// Key numbers.
    pub(super) fn cards(&mut self, cards: &[(&str, Cell)]) {
        self.html.push_str("<ul class=\"cards\">\n");
        for (name, value) in cards {
            let (name, value) = (escape(name), value.html());
            self.html.push_str(&format!("<li><b>{value}</b>{name}</li>\n"));
        }
        self.html.push_str("</ul>\n");
    }

    /// Opens a container; its contents stand side by side if there is room.
    pub(super) fn open(&mut self, class: &str) {
        self.html.push_str(&format!("<div class=\"{class}\">\n"));
    }

    pub(super) fn close(&mut self) {
        self.html.push_str("</div>\n");
    }

    /// A figure with its caption and, folded away, its numbers.
    pub(super) fn figure(&mut self, figure: &dyn Drawn, caption: &str, data: &Data<'_>) {
        self.figure_of_class("", figure, caption, data);
    }

    /// A figure as wide as the page.
    pub(super) fn wide_figure(&mut self, figure: &dyn Drawn, caption: &str, data: &Data<'_>) {
        self.figure_of_class(" class=\"full\"", figure, caption, data);
    }

    fn figure_of_class(&mut self, class: &str, figure: &dyn Drawn, caption: &str, data: &Data<'_>) {
        self.figures += 1;
        let (id, title, svg) = (self.figures, escape(figure.title()), figure.svg());
        let caption = escape(caption);
        let numbers = data_table(figure.title(), data.heads, &data.groups);
        self.html.push_str(&format!(
            "<figure{class} aria-label=\"{title}\" aria-describedby=\"caption-{id}\">\n\
             <div class=\"plot\">\n{svg}</div>\n\
             <figcaption id=\"caption-{id}\">{caption}</figcaption>\n\
             <details class=\"numbers\"><summary>Show the data<span class=\"hidden\"> of {title}</span></summary>\n\
             {numbers}</details>\n</figure>\n"
        ));
    }
}

macro_rules! drawn {
    ($($figure:ty),*) => {$(
        impl Drawn for $figure {
            fn title(&self) -> &str {
                &self.title
            }

            fn svg(&self) -> String {
                self.to_svg(Page::Inline)
            }
        }
    )*};
}

drawn!(LineFigure, BarFigure, HeatFigure, PanelFigure);
