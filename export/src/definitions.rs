//! Macros of C that configure a header which is the same for every model.

use std::fmt::Display;

/// Macros, in the order in which they were defined.
#[derive(Clone, Debug, Default)]
pub(crate) struct Definitions(Vec<(String, String)>);

impl Definitions {
    /// Defines a macro, whose name has the prefix `DROPCAST_`.
    pub(crate) fn define(&mut self, name: impl Display, value: impl Display) {
        self.0.push((name.to_string(), value.to_string()));
    }

    /// Defines an unsigned number.
    pub(crate) fn number(&mut self, name: &str, value: impl Display) {
        self.define(name, format!("{value}u"));
    }

    /// Defines a macro that says something by being defined.
    pub(crate) fn flag(&mut self, name: &str, is_set: bool) {
        if is_set {
            self.define(name, "");
        }
    }

    /// Defines the values of an array, eight to a line.
    pub(crate) fn array(&mut self, name: &str, values: &[String]) {
        let lines: Vec<String> = values.chunks(8).map(|line| line.join(", ")).collect();
        self.define(name, format!("{{{}}}", lines.join(", \\\n    ")));
    }

    /// Takes all back, so that the code of another model may follow.
    pub(crate) fn undefined(&self) -> String {
        let name = |(name, _): &(String, String)| {
            let end = name.find('(').unwrap_or(name.len());
            format!("#undef DROPCAST_{}\n", &name[..end])
        };
        self.0.iter().map(name).collect()
    }

    /// As C.
    pub(crate) fn text(&self) -> String {
        let line = |(name, value): &(String, String)| {
            let gap = if value.is_empty() { "" } else { " " };
            format!("#define DROPCAST_{name}{gap}{value}\n")
        };
        self.0.iter().map(line).collect()
    }
}
