//! How much code a folder has: lines without blank ones, comments and tests.

use crate::TidyError;
use std::fs;
use std::path::Path;

/// Folders and files of tests, of measurements and of programs that show something.
const NOT_PRODUCT: [&str; 7] =
    ["tests", "benches", "examples", "notes", "tests.rs", "proptest-regressions", "build.rs"];

/// Lines of product code in a folder and those below it.
///
/// # Errors
/// If a file cannot be read.
pub fn product_lines(folder: &Path) -> Result<usize, TidyError> {
    let failed = |source| TidyError::Read { file: folder.to_owned(), source };
    let mut lines = 0;
    for entry in fs::read_dir(folder).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if NOT_PRODUCT.contains(&name.as_str()) || name.starts_with('.') {
            continue;
        }
        if path.is_dir() {
            lines += product_lines(&path)?;
        } else if let Some(count) = counter(&path) {
            let read = |source| TidyError::Read { file: path.clone(), source };
            lines += count(&fs::read_to_string(&path).map_err(read)?);
        }
    }
    Ok(lines)
}

/// What counts the lines of a file; none for files that are no code.
fn counter(path: &Path) -> Option<fn(&str) -> usize> {
    match path.extension()?.to_str()? {
        "rs" => Some(|text| slashed(&without_test_modules(text))),
        "c" | "h" | "hpp" | "cpp" | "v" | "p4" => Some(slashed),
        "py" | "pyi" => Some(python),
        _ => None,
    }
}

/// Rust without modules of tests, which begin and end at the margin.
fn without_test_modules(text: &str) -> String {
    let mut kept = String::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if line != "#[cfg(test)]" {
            kept.push_str(line);
            kept.push('\n');
            continue;
        }
        let item = lines.next().unwrap_or_default();
        if item.ends_with('{') {
            lines.by_ref().take_while(|line| *line != "}").for_each(drop);
        }
    }
    kept
}

/// Lines of a language whose comments are `//` and `/* */`.
fn slashed(text: &str) -> usize {
    let mut is_comment = false;
    let is_code = |line: &&str| {
        let line = line.trim();
        if is_comment {
            is_comment = !line.contains("*/");
            return false;
        }
        if line.starts_with("/*") {
            is_comment = !line.contains("*/");
            return false;
        }
        !line.is_empty() && !line.starts_with("//")
    };
    text.lines().filter(is_code).count()
}

/// Lines of Python; texts that stand alone are comments.
fn python(text: &str) -> usize {
    const TEXT: &str = "\"\"\"";
    let mut is_comment = false;
    let is_code = |line: &&str| {
        let line = line.trim();
        if is_comment {
            is_comment = !line.ends_with(TEXT);
            return false;
        }
        if let Some(rest) = line.trim_start_matches('r').strip_prefix(TEXT) {
            is_comment = !rest.ends_with(TEXT);
            return false;
        }
        !line.is_empty() && !line.starts_with('#')
    };
    text.lines().filter(is_code).count()
}

#[cfg(test)]
mod tests {
    use super::{python, slashed, without_test_modules};

    #[test]
    fn comments_blank_lines_and_tests_do_not_count() {
        let rust = "//! A\nuse b;\n\n/* c\nd */\nfn e() {} // f\n#[cfg(test)]\nmod tests {\n    fn g() {}\n}\nfn h() {}\n";
        assert_eq!(slashed(&without_test_modules(rust)), 3);
        assert_eq!(slashed(&without_test_modules("#[cfg(test)]\nmod tests;\nfn a() {}\n")), 1);
        let text =
            "\"\"\"A.\n\nB.\"\"\"\nimport c\n# d\n\ndef e():\n    \"\"\"F.\"\"\"\n    return 1\n";
        assert_eq!(python(text), 3);
    }
}
