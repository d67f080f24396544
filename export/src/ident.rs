//! Makes outside names safe for code, comments and file names.

/// An identifier in lower case from any text: letters and digits stay, anything else becomes `_`.
/// Never empty, never starting with a digit or an underscore (reserved in C).
pub(crate) fn identifier(text: &str) -> String {
    let keep = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' };
    let kept: String = text.chars().map(keep).collect();
    let trimmed = kept.trim_matches('_');
    match trimmed.chars().next() {
        None => "model".to_owned(),
        Some(first) if first.is_ascii_digit() => format!("model_{trimmed}"),
        Some(_) => trimmed.to_owned(),
    }
}

/// Text that is safe inside a C comment or string: it does not open or end a comment, continue a
/// line, end a string or form a trigraph.
pub(crate) fn plain(text: &str) -> String {
    let keep = |c: char| match c {
        '*' | '\\' | '"' | '?' | '%' => '_',
        c if c.is_ascii_graphic() || c == ' ' => c,
        _ => '_',
    };
    text.chars().map(keep).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_are_valid_whatever_the_name() {
        for (text, expected) in [
            ("model", "model"),
            ("Leaf load-80%", "leaf_load_80"),
            ("4x4", "model_4x4"),
            ("__reserved", "reserved"),
            ("../../etc/passwd", "etc_passwd"),
            ("модель", "model"),
            ("", "model"),
        ] {
            assert_eq!(identifier(text), expected);
        }
    }

    #[test]
    fn nothing_in_a_comment_ends_it() {
        assert_eq!(plain("tau = 8 us"), "tau = 8 us");
        assert_eq!(plain("a */ b /* c \\ \n \" ??/ µ"), "a _/ b /_ c _ _ _ __/ _");
    }
}
