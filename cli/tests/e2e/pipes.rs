//! A reader that closes our output early is not an error.

use crate::room::Room;
use std::process::Stdio;

/// The reader closes before anything is written.
#[test]
fn a_broken_pipe_is_success() {
    let room = Room::with_a_run();
    let check = |typed: &str| {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let mut command = room.command(typed.split_whitespace());
        let output = command.stdout(writer).stderr(Stdio::piped()).output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!((output.status.code(), stderr.as_str()), (Some(0), ""), "{typed}");
    };
    check("inspect runs/small/trace.parquet");
    check("inspect runs/small/model.json --format json");
    check("report --model runs/small/model.json --data runs/small/trace.parquet --format html");
    check("train --data runs/small/trace.parquet --split none --vote f1 -o model.json");
    check("--help");
    check("train --help");
    check("--version");
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_named() {
    let room = Room::with_a_run();
    let check = |typed: &str| {
        let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
        let mut command = room.command(typed.split_whitespace());
        let output = command.stdout(full).stderr(Stdio::piped()).output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        let expected = "error: standard output: cannot be written; files that the command writes are \
                        complete: No space left on device (os error 28)\n";
        assert_eq!((output.status.code(), stderr.as_str()), (Some(1), expected), "{typed}");
    };
    check("inspect runs/small/trace.parquet");
    check("report --model runs/small/model.json --data runs/small/trace.parquet");
    check("--help");
    // What is printed last is not all that there is: the model was written, whole.
    check("train --data runs/small/trace.parquet --split none --vote f1 -o trained.json");
    room.good("inspect trained.json");
}
