//! Broken exports are detected and reported.

use crate::agreement::missing;
use crate::damage::Damage;
use crate::forests::{example, exported};
use dropcast_export::EmittedFile;
use dropcast_verify::{Built, Tool, VerifyError};

/// A mistake in the example's header.
fn header<'a>(from: &'a str, to: &'a str) -> Damage<'a> {
    Damage { target: "c", file: ".h", from, to }
}

#[test]
fn any_change_of_a_header_is_noticed_in_the_form_that_has_it() {
    let (forest, _) = example();
    for (from, to, form) in [
        ("{ 30000u,", "{ 30001u,", "tables"),
        ("230 }", "231 }", "tables"),
        ("<= 900000u", "<= 899999u", "branches"),
        ("<= 900000u", "< 900000u", "branches"),
        ("return 120u", "return 121u", "branches"),
        ("> EXAMPLE_VOTE_THRESHOLD", ">= EXAMPLE_VOTE_THRESHOLD", ""),
    ] {
        for (name, comparison) in header(from, to).compared(0) {
            let differs = name.starts_with(form);
            assert_eq!(comparison.mismatches > 0, differs, "{to}: {name}");
            assert_eq!(comparison.first.is_empty(), !differs);
            for mismatch in comparison.first {
                assert_eq!(mismatch.expected_score, forest.score(&mismatch.row));
                let decision = Some(mismatch.expected_drop);
                assert!(
                    mismatch.score != Some(mismatch.expected_score) || mismatch.drop != decision
                );
            }
        }
    }
}

#[test]
fn what_does_not_compile_is_shown() {
    let damage = header("static const uint8_t example_columns", "static const uint9_t columns");
    match damage.built().map(|_| ()) {
        Err(error @ VerifyError::MissingTool { .. }) => _ = missing(&error),
        Err(error @ VerifyError::ToolFailed { .. }) => {
            let text = error.to_string();
            assert!(text.contains("example.h:") && text.contains("uint9_t"), "{text}");
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_damaged_table_is_refused() {
    let (forest, origin) = example();
    let mut bytes = exported(&forest, &origin, "dct");
    bytes[40] ^= 1;
    let files = [EmittedFile { name: "example.dct".to_owned(), bytes }];
    let error = Built::from_files(&files, 2, "dct".parse().expect("a target")).map(|_| ());
    let error = error.expect_err("it is damaged").to_string();
    assert!(error.contains("example.dct: damaged .dct table"), "{error}");
    let error = Built::from_files(&[], 2, "dct".parse().expect("a target")).map(|_| ());
    assert_eq!(error.expect_err("it is not there").to_string(), "*.dct: was not emitted");
}

#[test]
fn a_missing_tool_is_named_with_its_package() {
    let tool = |command| Tool { command, version_arguments: &["--version"], package: "nothing" };
    let error = Tool::find_any(&[tool("no-such-cc"), tool("no-such-dd")]).expect_err("neither is");
    let expected =
        "no-such-cc or no-such-dd is not installed; on Debian: apt-get install nothing or nothing";
    assert_eq!(error.to_string(), expected);
}
