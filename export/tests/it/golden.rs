//! The emitted files for one small forest. `UPDATE_GOLDEN=1 cargo test` rewrites them. A header that is the same for every model is
//! its name here.

use crate::forests::{example, example_of, exported};
use dropcast_data::SwitchSpec;
use dropcast_export::export;
use std::path::{Path, PathBuf};

pub(crate) fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden")
}

#[test]
fn the_header_is_as_it_was() {
    let (forest, origin) = example();
    let header = String::from_utf8(exported(&forest, &origin, "c")).expect("ASCII");
    assert!(header.is_ascii());
    same_as_file("example.h", &header);
}

/// For a model with moving averages.
#[test]
fn code_that_keeps_averages_is_as_it_was() {
    let (forest, origin) = example_of("paper4,longest,rank");
    let header = String::from_utf8(exported(&forest, &origin, "c")).expect("ASCII");
    same_as_file("averages.h", &header);
    let verilog = export(&forest, &origin, "verilog".parse().expect("a target"));
    let files = verilog.expect("exportable");
    let file = files.iter().find(|file| file.name == "example_level.v").expect("emitted");
    same_as_file(&file.name, std::str::from_utf8(&file.bytes).expect("ASCII"));
}

#[test]
fn the_ebpf_files_are_as_they_were() {
    let (forest, origin) = example();
    for file in export(&forest, &origin, "ebpf".parse().expect("a target")).expect("exportable") {
        same_as_file(&file.name, &String::from_utf8(file.bytes).expect("ASCII"));
    }
}

#[test]
fn the_cpp_header_is_as_it_was() {
    let (forest, origin) = example();
    let header = String::from_utf8(exported(&forest, &origin, "cpp")).expect("ASCII");
    same_as_file("example.hpp", &header);
}

/// For the switch of docs/switch.md, with two queues at each port.
#[test]
fn the_decision_is_as_it_was() {
    let (forest, mut origin) = example();
    origin.switch = Some(SwitchSpec {
        queues_per_port: 2,
        pushable: vec![false, true],
        shared: vec![true; 2],
        wire_overhead_bytes: 33,
        ..SwitchSpec::uniform(20, 10_000_000_000, 1_000_000, 8_000)
    });
    for target in ["c", "cpp", "dct"] {
        let files = export(&forest, &origin, target.parse().expect("a target"));
        let [header, decision, driver] =
            files.expect("exportable").try_into().expect("three files");
        assert_eq!(header.bytes, exported(&forest, &example().1, target));
        for file in [decision, driver] {
            let text = String::from_utf8(file.bytes).expect("text");
            assert!(text.is_ascii());
            same_as_file(&file.name, &text);
        }
    }
}

/// The same switch: what is written beside the forest.
#[test]
fn the_decision_for_kernels_and_gates_is_as_it_was() {
    let (forest, mut origin) = example();
    origin.switch = Some(SwitchSpec::uniform(4, 10_000_000_000, 1_000_000, 8_000));
    for target in ["ebpf", "verilog"] {
        let files = export(&forest, &origin, target.parse().expect("a target"));
        for file in files.expect("exportable") {
            if file.name.starts_with("example_decision") {
                same_as_file(&file.name, &String::from_utf8(file.bytes).expect("ASCII"));
            }
        }
    }
}

#[test]
fn the_table_is_as_it_was() {
    let (forest, origin) = example();
    same_as_file("example.dct.hex", &hex_dump(&exported(&forest, &origin, "dct")));
}

#[test]
fn the_onnx_model_is_as_it_was() {
    let (forest, origin) = example();
    same_as_file("example.onnx.hex", &hex_dump(&exported(&forest, &origin, "onnx")));
}

#[test]
fn texts_of_the_other_targets_are_as_they_were() {
    let (forest, origin) = example();
    for target in ["p4", "verilog"] {
        for file in export(&forest, &origin, target.parse().expect("a target")).expect("exportable")
        {
            let text = String::from_utf8(file.bytes).expect("text");
            assert!(text.is_ascii(), "{}", file.name);
            same_as_file(&file.name, &text);
        }
    }
}

/// What exports hold as it stands, by name (`device_code.rs` compiles it).
const HEADERS: [(&str, &str); 7] = [
    ("dropcast_average.h", include_str!("../../src/tracker/dropcast_average.h")),
    ("dropcast_features.h", include_str!("../../src/tracker/dropcast_features.h")),
    ("dropcast_switch.h", include_str!("../../src/decision/dropcast_switch.h")),
    ("dropcast_length_classes.h", include_str!("../../src/decision/dropcast_length_classes.h")),
    ("dropcast_virtual_lqd.h", include_str!("../../src/decision/dropcast_virtual_lqd.h")),
    ("dropcast_decision.h", include_str!("../../src/decision/dropcast_decision.h")),
    ("dropcast_decision.bpf.c", include_str!("../../src/ebpf/dropcast_decision.bpf.c")),
];

fn same_as_file(name: &str, emitted: &str) {
    let mut shortened = emitted.to_owned();
    for (header, text) in HEADERS {
        shortened = shortened.replace(text, &format!("/* {header} */\n"));
    }
    let emitted = shortened.as_str();
    let path = folder().join(name);
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, emitted).expect("golden files are writable");
    }
    let golden = std::fs::read_to_string(&path).expect("there is a golden file");
    assert_eq!(emitted, golden, "{name} changed; if so intended, run with UPDATE_GOLDEN=1");
}

/// As `xxd -g1` prints, without the text column.
pub(crate) fn hex_dump(bytes: &[u8]) -> String {
    let line = |(at, line): (usize, &[u8])| {
        let bytes: Vec<String> = line.iter().map(|byte| format!("{byte:02x}")).collect();
        format!("{:08x}: {}\n", 16 * at, bytes.join(" "))
    };
    bytes.chunks(16).enumerate().map(line).collect()
}
