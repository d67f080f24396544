//! Fields of CSV, as RFC 4180 has them.

/// A field, in quotes where it needs them.
pub fn field(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) { quoted(text) } else { text.to_owned() }
}

/// A field in quotes.
pub fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('"', "\"\""))
}
