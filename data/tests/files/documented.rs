//! What the format pages show is what the code reads and writes.

use dropcast_data::{SwitchSpecs, TraceMeta, read_switch_file};
use std::path::Path;

/// The blocks of a page in this language.
fn blocks(page: &str, language: &str) -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs").join(page);
    let text = std::fs::read_to_string(path).unwrap();
    let fence = format!("```{language}\n");
    let block = |rest: &str| rest.split("```").next().unwrap().to_owned();
    text.split(&fence).skip(1).map(block).collect()
}

#[test]
fn the_switches_on_the_page_are_valid() {
    let examples = blocks("switch.md", "toml");
    assert_eq!(examples.len(), 3);
    let leaf = SwitchSpecs::from_toml(&examples[0]).unwrap();
    assert_eq!(leaf.get(0).unwrap().queues(), 40);
    let several = SwitchSpecs::from_toml(&examples[1]).unwrap();
    assert!(several.get(0).is_some() && several.get(1).is_none());
    assert_eq!(several.get(7).unwrap().quantum_bytes, [1500, 3000, 6000]);
}

#[test]
fn the_maps_on_the_pages_are_valid() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("switch.toml");
    for (page, count) in [("ns3-ascii.md", 3), ("pcap.md", 2), ("switch.md", 3)] {
        let examples = blocks(page, "toml");
        assert_eq!(examples.len(), count, "{page}");
        for example in examples {
            // One shows a table alone.
            let switch = "ports = 1\nline_rate_bps = 1\nbuffer_bytes = 1\nbase_rtt_ns = 1\n";
            let whole = if example.contains("ports") { String::new() } else { switch.to_owned() };
            std::fs::write(&path, whole + &example).unwrap();
            read_switch_file(&path).unwrap();
        }
    }
}

#[test]
fn the_footer_on_the_page_is_what_is_written() {
    let [example] = &blocks("trace.md", "json")[..] else { panic!("one example") };
    let meta: TraceMeta = serde_json::from_str(example).unwrap();
    let shown: serde_json::Value = serde_json::from_str(example).unwrap();
    assert_eq!(serde_json::to_value(&meta).unwrap(), shown);
}

#[test]
fn the_skip_reasons_on_the_page_are_all_there_are() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/events.md");
    let page = std::fs::read_to_string(path).unwrap();
    let sources =
        [include_str!("../../src/events/check.rs"), include_str!("../../src/tables/cell.rs")];
    let body = |source: &'static str| {
        let (_, body) = source.split_once("fn reason(&self)").unwrap();
        body.split_once("\n    }\n").unwrap().0
    };
    // Every second piece stands between quotes.
    let reasons: Vec<&str> =
        sources.into_iter().flat_map(|source| body(source).split('"').skip(1).step_by(2)).collect();
    assert_eq!(reasons.len(), 15);
    for reason in reasons {
        assert!(page.contains(&format!("| `{reason}` |")), "{reason}");
    }
}
