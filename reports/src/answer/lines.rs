//! Lines for terminals.

use crate::numbers::{count, grouped};

/// Columns of a line, at most.
pub(crate) const COLUMNS: usize = 100;

/// The text in at most so many columns.
pub(crate) fn cut(text: &str, columns: usize) -> String {
    if text.chars().count() <= columns {
        return text.to_owned();
    }
    text.chars().take(columns.saturating_sub(3)).chain("...".chars()).collect()
}

/// The text in lines behind a label, at most so many; the last one says so where text is left out.
pub(crate) fn joined(label: &str, text: &str, most: usize) -> Vec<String> {
    let indent = label.chars().count();
    let mut lines = vec![label.to_owned()];
    let mut is_empty = true;
    for word in text.split_whitespace() {
        let long = lines[lines.len() - 1].chars().count() + usize::from(!is_empty);
        if !is_empty && long + word.chars().count() > COLUMNS {
            if lines.len() == most {
                let last = lines.pop().unwrap_or_default();
                let kept: String = last.chars().take(COLUMNS - 3).collect();
                lines.push(format!("{}...", kept.trim_end()));
                return lines;
            }
            lines.push(" ".repeat(indent));
            is_empty = true;
        }
        let line = lines.last_mut().expect("there is one");
        if !is_empty {
            line.push(' ');
        }
        line.push_str(&cut(word, COLUMNS - indent));
        is_empty = false;
    }
    lines
}

/// Bytes in a unit that people read.
pub(crate) fn megabytes(bytes: u64) -> String {
    match bytes {
        0..1_000 => format!("{bytes} bytes"),
        1_000..1_000_000 => format!("{:.1} kB", bytes as f64 / 1e3),
        1_000_000..1_000_000_000 => format!("{:.2} MB", bytes as f64 / 1e6),
        _ => format!("{} MB", count(bytes / 1_000_000)),
    }
}

/// The unit of lost bytes in a list.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Loss {
    pub(crate) name: &'static str,
    bytes: f64,
    decimals: usize,
}

impl Loss {
    /// That of a list with so many bytes at most.
    pub(crate) fn of(most_bytes: u64) -> Self {
        let (name, bytes, decimals) = match most_bytes {
            0..10_000 => ("bytes", 1.0, 0),
            10_000..10_000_000 => ("kB", 1e3, 1),
            10_000_000..100_000_000_000 => ("kB", 1e3, 0),
            _ => ("MB", 1e6, 0),
        };
        Loss { name, bytes, decimals }
    }

    /// A number of it.
    pub(crate) fn shown(self, bytes: i64) -> String {
        if bytes == 0 {
            return "0".to_owned();
        }
        let text = format!("{:.*}", self.decimals, bytes.unsigned_abs() as f64 / self.bytes);
        let (whole, decimals) = text.split_at(text.find('.').unwrap_or(text.len()));
        let sign = if bytes < 0 { "-" } else { "" };
        format!("{sign}{}{decimals}", grouped(whole))
    }

    /// A difference, with its sign.
    pub(crate) fn signed(self, bytes: i64) -> String {
        let sign = if bytes > 0 { "+" } else { "" };
        format!("{sign}{}", self.shown(bytes))
    }
}
