//! The layout of our JSON: whatever fits on a line stays on it, so each node of a tree is one line.

/// Longest line that holds a whole array or object, in bytes.
const WIDTH: usize = 100;

/// Lays out compact JSON text (no whitespace between tokens). Ends with a newline.
pub(crate) fn lay_out(compact: &str) -> String {
    let mut text = String::with_capacity(2 * compact.len());
    write(compact, 0, &mut text);
    text.push('\n');
    text
}

/// Writes `part`, a value or a member (`"key":value`).
fn write(part: &str, indent: usize, text: &mut String) {
    let line = on_one_line(part);
    let value = value_of(part);
    let is_open = value.len() > 2 && value.starts_with(['[', '{']);
    if !is_open || indent + line.len() <= WIDTH {
        text.push_str(&line);
        return;
    }
    let key = &part[..part.len() - value.len()];
    text.push_str(key);
    if !key.is_empty() {
        text.push(' ');
    }
    let (open, close) = (&value[..1], &value[value.len() - 1..]);
    text.push_str(open);
    for (nth, element) in elements(&value[1..value.len() - 1]).into_iter().enumerate() {
        text.push_str(if nth == 0 { "\n" } else { ",\n" });
        text.push_str(&" ".repeat(indent + 2));
        write(element, indent + 2, text);
    }
    text.push('\n');
    text.push_str(&" ".repeat(indent));
    text.push_str(close);
}

/// The structural characters of JSON text (those outside strings) with their positions.
fn structure(text: &str) -> impl Iterator<Item = (usize, u8)> {
    let (mut in_string, mut escaped) = (false, false);
    text.bytes().enumerate().filter(move |&(_, byte)| {
        let was_in_string = in_string;
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            _ => {}
        }
        !was_in_string && byte != b'"'
    })
}

/// The value of a member; anything else is returned whole.
fn value_of(part: &str) -> &str {
    if !part.starts_with('"') {
        return part;
    }
    let colon = structure(part).find(|&(_, byte)| byte == b':');
    colon.map_or(part, |(at, _)| &part[at + 1..])
}

/// The items between the commas outside brackets.
fn elements(inside: &str) -> Vec<&str> {
    let mut elements = Vec::new();
    let (mut depth, mut from) = (0_usize, 0);
    for (at, byte) in structure(inside) {
        match byte {
            b'[' | b'{' => depth += 1,
            b']' | b'}' => depth -= 1,
            b',' if depth == 0 => {
                elements.push(&inside[from..at]);
                from = at + 1;
            }
            _ => {}
        }
    }
    elements.push(&inside[from..]);
    elements
}

fn on_one_line(part: &str) -> String {
    let mut line = String::with_capacity(part.len() + part.len() / 4);
    let mut from = 0;
    for (at, byte) in structure(part) {
        if matches!(byte, b',' | b':') {
            line.push_str(&part[from..=at]);
            line.push(' ');
            from = at + 1;
        }
    }
    line.push_str(&part[from..]);
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_parts_stay_on_a_line_and_long_ones_are_opened() {
        let word = "x".repeat(60);
        let compact = format!(r#"{{"a":[1,2],"b":{{"c":"{word}","d":"{word}"}},"e":[],"f":null}}"#);
        let expected = format!(
            "{{\n  \"a\": [1, 2],\n  \"b\": {{\n    \"c\": \"{word}\",\n    \"d\": \"{word}\"\n  }},\n  \"e\": [],\n  \"f\": null\n}}\n"
        );
        assert_eq!(lay_out(&compact), expected);
    }

    #[test]
    fn strings_are_left_alone() {
        let compact = r#"{"a,b":"c:\"d\",{\\","e":["[",",\\\""]}"#;
        assert_eq!(
            lay_out(compact),
            "{\"a,b\": \"c:\\\"d\\\",{\\\\\", \"e\": [\"[\", \",\\\\\\\"\"]}\n"
        );
    }
}
