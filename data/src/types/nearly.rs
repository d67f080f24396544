//! Names that are almost known.

/// The known name that a column has but for its case, hyphens and spaces; `None` if it is known itself.
pub fn nearly<'a>(column: &str, known: &[&'a str]) -> Option<&'a str> {
    let bare = |name: &str| -> String {
        name.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_ascii_lowercase()
    };
    if known.contains(&column) {
        return None;
    }
    known.iter().copied().find(|name| bare(name) == bare(column))
}
