//! Completions, man pages and the version.

use crate::room::Room;

#[test]
fn every_shell_has_completions() {
    let room = Room::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let text = room.good(&format!("completions {shell}"));
        for word in ["collect", "memory-limit"] {
            assert!(text.contains(word), "{shell}: {word}");
        }
    }
    room.write("complete.bash", room.good("completions bash"));
    let checked = std::process::Command::new("bash")
        .args(["-c", "source complete.bash && complete -p dropcast"])
        .current_dir(room.path(""))
        .output()
        .unwrap();
    assert!(checked.status.success(), "{checked:?}");
}

#[test]
fn every_command_has_a_man_page() {
    let room = Room::new();
    room.good("man -o man1");
    let mut names: Vec<String> = std::fs::read_dir(room.path("man1"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert!(names.len() > 15 && names.contains(&"dropcast.1".to_owned()), "{names:?}");
    let page = String::from_utf8(room.read("man1/dropcast-train.1")).unwrap();
    assert!(page.starts_with(".ie") && page.contains(".TH DROPCAST-TRAIN 1"), "{page}");
    assert!(page.contains("min\\-samples\\-leaf"), "{page}");
}
