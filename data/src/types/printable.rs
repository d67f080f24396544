//! Text that a terminal shows and does not obey.

use std::borrow::Cow;

/// Text without what a terminal would obey: names of files may hold anything, also marks that turn the
/// direction of writing, so that a name looks like another.
pub fn printable(text: &str) -> Cow<'_, str> {
    let is_obeyed = |letter: char| {
        letter.is_control() && !matches!(letter, '\n' | '\t') || turns_writing(letter)
    };
    if !text.contains(is_obeyed) {
        return text.into();
    }
    let mut shown = String::new();
    for letter in text.chars() {
        match is_obeyed(letter) {
            true => shown.extend(letter.escape_default()),
            false => shown.push(letter),
        }
    }
    shown.into()
}

/// Text of one line, [printable]: where a name is part of a line, it does not begin another.
pub fn printable_line(text: &str) -> Cow<'_, str> {
    match printable(text) {
        text if text.contains('\n') => text.replace('\n', "\\n").into(),
        text => text,
    }
}

/// Whether a character is one of Unicode's bidirectional controls, or ends a line in some terminals.
fn turns_writing(letter: char) -> bool {
    matches!(
        letter,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{2028}' | '\u{2029}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_obeyed() {
        assert_eq!(printable("a\tb\n\u{e9}"), "a\tb\n\u{e9}");
        assert_eq!(printable("\u{1b}[31m"), "\\u{1b}[31m");
        assert_eq!(printable("gpj.\u{202e}exe\u{2066}"), "gpj.\\u{202e}exe\\u{2066}");
        assert_eq!(printable_line("a\nerror: b"), "a\\nerror: b");
    }
}
