//! What a terminal gets.

use std::borrow::Cow;

/// Text without what a terminal would obey: names of files may hold anything.
pub(crate) fn printable(text: &str) -> Cow<'_, str> {
    let is_obeyed = |letter: char| letter.is_control() && !matches!(letter, '\n' | '\t');
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
