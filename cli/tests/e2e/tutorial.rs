//! The tutorial, run: each output on the page is what the command before it prints. `UPDATE_GOLDEN=1` writes them.

use crate::room::Room;
use std::fs;
use std::path::Path;

#[test]
fn the_tutorial_shows_what_its_commands_print() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let room = Room::new();
    for file in ["linux-events.parquet", "linux.toml"] {
        let sample = fs::read(root.join("data/samples").join(file)).expect("a sample");
        fs::create_dir_all(room.path("data/samples")).expect("a folder");
        room.write(&format!("data/samples/{file}"), sample);
    }
    let page_file = root.join("docs/tutorial.md");
    let page = fs::read_to_string(&page_file).expect("the page");
    let (mut expected, mut printed, mut is_output) = (String::new(), String::new(), false);
    let mut commands = 0;
    for line in page.lines() {
        if let Some(command) = line.strip_prefix("    dropcast ") {
            printed = room.good_with_notes(command);
            commands += 1;
        }
        is_output &= line != "```";
        if !is_output {
            expected += &format!("{line}\n");
        }
        if line == "```text" {
            is_output = true;
            expected += &printed;
        }
    }
    assert_eq!(commands, 6);
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        fs::write(&page_file, &expected).expect("written");
    }
    let page = fs::read_to_string(&page_file).expect("the page");
    assert!(page == expected, "UPDATE_GOLDEN=1 writes the page anew:\n{expected}");
}
