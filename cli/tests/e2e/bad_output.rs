//! Outputs that cannot be written are refused before the work.

use crate::room::{Room, refuse, skipped};

#[test]
fn outputs_that_cannot_be() {
    let room = Room::with_a_run();
    room.write("events.parquet", room.read("runs/small/events.parquet"));
    room.write("trace.parquet", room.read("runs/small/trace.parquet"));
    room.write("model.json", room.read("runs/small/model.json"));
    let mut transcript = String::new();
    for typed in [
        "collect --events events.parquet -o nowhere/out.parquet",
        "collect --events events.parquet -o model.json/out.parquet",
        "collect --events events.parquet -o runs",
        "collect --events events.parquet -o ./events.parquet",
        "collect --events events.parquet --switch runs/small/switch.toml -o runs/small/switch.toml",
        "train --data trace.parquet -o nowhere/model.json",
        "train --data runs/small/trace.parquet trace.parquet -o trace.parquet",
        "export model.json --target dct -o model.json",
        "export model.json --target dct -o model.json/tables",
        "report --model model.json --data trace.parquet -o nowhere/report.txt",
        "report --model model.json --data trace.parquet -o model.json",
        "report --model model.json --data trace.parquet -o trace.parquet",
        "simulate --workload small.toml -o small.toml",
        "simulate -o nowhere/events.parquet",
        "simulate -o events.csv",
        "collect --events events.parquet -o trace.CSV",
        "run --runs model.json --config small.toml",
        "run --events runs/small/trace.parquet --name small",
    ] {
        transcript.push_str(&refuse(&room, typed));
    }
    insta::assert_snapshot!(transcript);
}

#[cfg(unix)]
#[test]
fn a_folder_that_may_not_be_written_to() {
    use std::os::unix::fs::PermissionsExt;
    let room = Room::with_a_run();
    room.write("closed/x", "");
    let set_mode = |mode| {
        let permissions = std::fs::Permissions::from_mode(mode);
        std::fs::set_permissions(room.path("closed"), permissions).unwrap();
    };
    set_mode(0o555);
    // The superuser may write anywhere.
    if std::fs::write(room.path("closed/y"), "").is_ok() {
        skipped("this user may write to a folder without write permission");
        return;
    }
    let said = refuse(&room, "collect --events runs/small/events.parquet -o closed/out.parquet");
    set_mode(0o755);
    assert!(said.contains("closed/out.parquet: cannot be created: permission denied"), "{said}");
}

/// Outputs replace files, never a device or a pipe; symlinks are followed.
#[cfg(unix)]
#[test]
fn only_files_are_replaced() {
    use std::os::unix::fs::{FileTypeExt, symlink};
    let room = Room::with_a_run();
    room.write("model.json", room.read("runs/small/model.json"));
    let make = std::process::Command::new("mkfifo").arg(room.path("pipe")).status();
    assert!(make.unwrap().success());
    symlink("pipe", room.path("to-pipe")).unwrap();
    symlink("none", room.path("to-none")).unwrap();
    std::fs::create_dir(room.path("tables")).unwrap();
    symlink("../pipe", room.path("tables/model.dct")).unwrap();
    symlink("../pipe", room.path("tables/sweep.json")).unwrap();
    room.write("sweep.toml", "data = ['runs/small/trace.parquet']");
    std::fs::create_dir(room.path("runs/piped")).unwrap();
    symlink("../../pipe", room.path("runs/piped/model.json")).unwrap();
    for typed in [
        "collect --events runs/small/events.parquet -o pipe",
        "train --data runs/small/trace.parquet -o pipe",
        "train --data runs/small/trace.parquet -o to-pipe",
        "rescale model.json --buffer-bytes 1000000 -o pipe",
        "report --model model.json --data runs/small/trace.parquet -o pipe",
        "simulate -o pipe",
        "export model.json --target dct -o tables",
        "sweep sweep.toml -o tables",
        "sweep sweep.toml -o tables --resume",
        "run --config small.toml --name piped",
    ] {
        let said = refuse(&room, typed);
        assert!(said.contains(": is not a regular file; "), "{said}");
    }
    let said = refuse(&room, "train --data runs/small/trace.parquet -o to-none");
    assert!(said.contains("to-none: is a dangling symlink; "), "{said}");
    assert!(std::fs::metadata(room.path("to-pipe")).unwrap().file_type().is_fifo());

    symlink("../model.json", room.path("runs/link.json")).unwrap();
    room.good("rescale model.json --buffer-bytes 1000000 -o other.json");
    room.good("rescale runs/small/model.json --buffer-bytes 1000000 -o runs/link.json");
    assert!(room.path("runs/link.json").is_symlink());
    assert!(room.read("model.json") == room.read("other.json"));
    symlink("../../model.json", room.path("runs/piped/link")).unwrap();
    std::fs::rename(room.path("runs/piped/link"), room.path("runs/piped/model.json")).unwrap();
    room.good("run --config small.toml --name piped");
    assert!(room.path("runs/piped/model.json").is_symlink());
    assert!(room.read("model.json") == room.read("runs/small/model.json"));
}
