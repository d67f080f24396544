//! Commands that are killed, or fail, at each call that changes what is in a folder.

use crate::room::Room;
use std::collections::BTreeMap;
use std::process::{Command, Output};

/// What is under a folder; not what begins with a dot.
pub(crate) type Files = BTreeMap<String, Vec<u8>>;

/// Calls that change what is in a folder.
pub(crate) const CALLS: &str = "linkat,link,rename,renameat,renameat2,mkdir,unlink,unlinkat,rmdir";

/// Runs a command, with an effect at one of its calls; the calls that it made.
pub(crate) fn traced(room: &Room, typed: &str, inject: Option<&str>) -> (Output, Vec<String>) {
    let log = tempfile::NamedTempFile::new().unwrap();
    let output = Command::new("strace")
        .args(["-f", "-qq", "-e", &format!("trace={CALLS}"), "-o"])
        .arg(log.path())
        .args(inject.iter().flat_map(|inject| ["-e", inject]))
        .arg(crate::program(typed.split(' ').next().unwrap()))
        .args(typed.split_whitespace())
        .current_dir(room.path("."))
        .output()
        .expect("strace is installed");
    let log = std::fs::read_to_string(log.path()).unwrap();
    let call = |line: &str| Some(line.split_once('(')?.0.split_whitespace().nth(1)?.to_owned());
    (output, log.lines().filter_map(call).collect())
}

pub(crate) fn results(room: &Room, folder: &str) -> Files {
    let is_result = |name: &String| {
        let hidden = name.split('/').any(|part| part.starts_with('.'));
        name.starts_with(folder) && !hidden && !name.ends_with("timings.json")
    };
    room.files().into_iter().filter(|(name, _)| is_result(name)).collect()
}

/// Begins with the files of `before`, and runs a command as often as it has such calls. Each time one has
/// the effect. Returns what was in `folder` afterwards, and whether the command failed by itself.
pub(crate) fn disturbed(
    room: &Room,
    folder: &str,
    typed: &str,
    effect: &str,
) -> Vec<(Files, bool)> {
    let before = room.files();
    let begin = || {
        for entry in std::fs::read_dir(room.path(".")).unwrap() {
            let path = entry.unwrap().path();
            let removed = match path.is_dir() {
                true => std::fs::remove_dir_all(path),
                false => std::fs::remove_file(path),
            };
            removed.unwrap();
        }
        before.iter().for_each(|(name, bytes)| room.write(name, bytes));
    };
    let (output, calls) = traced(room, typed, None);
    assert!(output.status.success() && calls.len() > 2, "{calls:?}: {output:?}");
    let found = calls.iter().enumerate().map(|(at, call)| {
        begin();
        let nth = calls[..=at].iter().filter(|other| *other == call).count();
        let inject = format!("inject={call}:{effect}:when={nth}");
        let (output, _) = traced(room, typed, Some(&inject));
        (results(room, folder), output.status.code() == Some(1))
    });
    let found = found.collect();
    begin();
    found
}

pub(crate) const KILLED: &str = "signal=SIGKILL";

/// A command that writes `large` beyond the limit on a file's size fails, and leaves no file.
pub(crate) fn leaves_nothing_beyond_a_limit(room: &Room, typed: &str) {
    let before = room.files();
    let program = crate::program(typed.split(' ').next().unwrap());
    let limited = format!("ulimit -f 4 && exec {} {typed}", program.display());
    let output =
        Command::new("sh").args(["-c", &limited]).current_dir(room.path(".")).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{typed}: {said}");
    assert!(said.contains("cannot be written"), "{typed}: {said}");
    assert!(room.files() == before && !room.path("large").exists());
}
