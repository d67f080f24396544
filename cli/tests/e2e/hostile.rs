//! Pipes without a writer, devices without an end, names that a terminal obeys, and jobs at the same
//! time.

use crate::room::{Room, SMALL, refuse};
use std::fs::File;
use std::process::Command;

#[test]
fn pipes_and_devices_are_refused_where_files_are_needed() {
    let room = Room::with_a_run();
    let made = Command::new("mkfifo").arg(room.path("pipe")).status().unwrap();
    assert!(made.success());
    let mut transcript = String::new();
    for typed in [
        "train --data pipe -o model.json",
        "report --data pipe",
        "report --model pipe --data runs/small/trace.parquet",
        "inspect pipe",
        "sweep pipe -o swept",
        "export pipe --target c -o tables",
        "import pipe -o model.json",
        "collect --events runs/small/events.parquet --switch pipe -o trace.parquet",
        "collect --events runs/small/events.parquet --switch /dev/zero -o trace.parquet",
        "export /dev/zero --target c -o tables",
        "train --data /dev/zero -o model.json",
        "run --events pipe --switch runs/small/switch.toml --name piped",
    ] {
        transcript.push_str(&refuse(&room, typed));
    }
    insta::assert_snapshot!(transcript);
}

#[test]
fn a_lock_that_is_a_pipe_is_refused() {
    let room = Room::with_a_run();
    room.write("events/log.csv", "time_ns,port,size_bytes\n0,0,1500\n");
    std::fs::create_dir(room.path("traces")).unwrap();
    let made = Command::new("mkfifo").arg(room.path("traces/.lock")).status().unwrap();
    assert!(made.success());
    let said = refuse(&room, "collect --events events --switch runs/small/switch.toml -o traces");
    assert!(said.contains("traces/.lock: is no file, so that no job can lock it; "), "{said}");
}

#[test]
fn a_pipe_among_events_is_refused() {
    let room = Room::with_a_run();
    room.write("events/log.csv", "time_ns,port,size_bytes\n0,0,1500\n");
    let made = Command::new("mkfifo").arg(room.path("events/more.csv")).status().unwrap();
    assert!(made.success());
    for typed in ["collect --events events -o traces", "inspect --check events"] {
        let said = refuse(&room, &format!("{typed} --switch runs/small/switch.toml"));
        assert!(said.contains("events/more.csv: is a pipe, socket or device, "), "{said}");
    }
}

#[test]
fn no_output_replaces_what_it_is_made_of() {
    let room = Room::with_a_run();
    for name in ["m.h", "swept/rows.parquet", "ex5/small.h", "again/tables/trace.csv"] {
        room.write(name, "");
    }
    room.write("m.h", room.read("runs/small/model.json"));
    room.write("small.json", room.read("runs/small/model.json"));
    room.write("ex5/small.h", room.read("runs/small/switch.toml"));
    room.write("swept/rows.parquet", room.read("runs/small/trace.parquet"));
    room.write("swept/s.toml", "data = ['swept/rows.parquet']\n[axes]\nvotes = 'f1'\n");
    let sweep = "data = ['runs/small/trace.parquet']\n[axes]\nvotes = 'f1'\n";
    room.write("sd/sweep.json", sweep);
    let events = room.read("runs/small/events.parquet");
    room.write("runs/z/report.json", &events);
    room.write("runs/y/tables/events.parquet", &events);
    room.write("runs/mapped/map.json", "{}");
    let before = room.files();
    for (typed, output) in [
        ("export m.h --target c -o .", "m.h"),
        ("export small.json --switch ex5/small.h --target c -o ex5", "ex5/small.h"),
        ("sweep swept/s.toml -o swept --resume", "swept/rows.parquet"),
        ("sweep sd/sweep.json -o sd --resume", "sd/sweep.json"),
        ("run --events runs/z/report.json --name z --replace", "runs/z/report.json"),
    ] {
        let said = refuse(&room, typed);
        assert!(said.contains(&format!("{output}: would replace the input ")), "{said}");
    }
    let said = refuse(&room, "run --events runs/y/tables/events.parquet --name y --replace");
    assert!(said.contains("runs/y/tables: holds the input "), "{said}");
    let said = refuse(&room, "run --name mapped --replace");
    assert!(said.contains("runs/mapped: holds the results of another command"), "{said}");
    assert!(room.files() == before);
}

#[test]
fn a_terminal_obeys_no_name() {
    let room = Room::new();
    let name = "red\u{1b}[31m.toml";
    room.write(name, "nothing = 1");
    let output = room.command(["sweep", name, "-o", "swept"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("red\\u{1b}[31m.toml") && !said.contains('\u{1b}'), "{said:?}");
    // Later lines of a message, here of the TOML parser, look like no message of their own.
    let [first, later @ ..] = &Vec::from_iter(said.lines())[..] else { panic!("{said:?}") };
    assert!(first.starts_with("error: ") && !later.is_empty(), "{said:?}");
    assert!(later.iter().all(|line| line.starts_with("  ")), "{said:?}");
    // Neither does a name.
    for typed in [["sweep", "x\nerror: y"], ["inspect", "x\nerror: y"]] {
        let output = room.command(typed).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(said.starts_with("error: x\\nerror: y: ") && said.lines().count() == 1, "{said:?}");
    }
    // Nor in what is said of success.
    room.write("red.csv", "time_ns,port,size_bytes\n0,0,1500\n");
    room.write("red.toml", Room::with_a_run().read("runs/small/switch.toml"));
    let output = "red\u{1b}[31m\n.parquet";
    let collect = ["collect", "--events", "red.csv", "--switch", "red.toml", "-o", output];
    let said = room.command(collect).output().unwrap();
    let said = String::from_utf8(said.stdout).unwrap();
    assert!(said.contains("red\\u{1b}[31m\\n.parquet") && !said.contains('\u{1b}'), "{said:?}");
    assert!(room.path(output).exists());
    // Nor in a report, whether printed or in a file.
    let trace = "x\nDeploy: nothing.parquet";
    room.write(trace, Room::with_a_run().read("runs/small/trace.parquet"));
    room.write("m\nerror: y.json", Room::with_a_run().read("runs/small/model.json"));
    let report = ["report", "--rows", "all", "--model", "m\nerror: y.json", "--data", trace];
    let printed = room.command(report).output().unwrap();
    room.command(report.into_iter().chain(["-o", "r.txt"])).status().unwrap();
    for said in [printed.stdout, room.read("r.txt")] {
        let said = String::from_utf8(said).unwrap();
        assert!(said.contains("x\\nDeploy: nothing.parquet"), "{said}");
        assert!(!said.lines().any(|line| line.starts_with("Deploy: nothing")), "{said}");
    }
}

#[test]
fn a_terminal_obeys_no_note() {
    let room = Room::with_a_run();
    let name = "x\u{1b}]0;mine\u{7}\nerror: \u{202e}y";
    let mut csv = b"time_ns,port,size_bytes\n".to_vec();
    csv.extend(b"0,0,1500\n1,0,1500,9\n");
    room.write(&format!("{name}.csv"), csv);
    let events = format!("{name}.csv");
    let collect = ["collect", "--on-bad-row", "skip", "--events", &events];
    let rest = ["--switch", "runs/small/switch.toml", "-o", "t.parquet"];
    let said = room.command(collect.into_iter().chain(rest)).output().unwrap();
    let said = String::from_utf8(said.stderr).unwrap();
    assert!(!said.contains(['\u{1b}', '\u{7}', '\u{202e}']), "{said:?}");
    assert!(!said.contains("\nerror: "), "{said:?}");
}

#[test]
fn refused_settings_leave_no_folders() {
    let room = Room::with_a_run();
    let before = room.folders();
    for typed in [
        "run --events none.parquet --runs new --name a",
        "train --data runs/small/trace.parquet --model-per role -o new/model.json",
    ] {
        assert_eq!(room.dropcast(typed).code, Some(1), "{typed}");
        assert_eq!(room.folders(), before, "{typed}");
    }
}

#[test]
fn a_forest_has_at_most_2048_trees() {
    let room = Room::with_a_run();
    let model = String::from_utf8(room.read("runs/small/model.json")).unwrap();
    let mut model: serde_json::Value = serde_json::from_str(&model).unwrap();
    let tree = model["forest"]["trees"][0].clone();
    // They are of the trees that were trained.
    model.as_object_mut().unwrap().remove("leaf_rows");
    for trees in [2_048, 2_049] {
        model["forest"]["trees"] = vec![tree.clone(); trees].into();
        room.write("many.json", model.to_string());
        let said = room.dropcast("export many.json --target json -o tables");
        assert_eq!(said.code, Some(i32::from(trees > 2_048)), "{said}");
        assert!(trees <= 2_048 || said.stderr.contains("at most 2048 are allowed"), "{said}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn too_few_open_files_for_an_output_is_an_error() {
    let room = Room::new();
    let refused: Vec<String> = (4..12)
        .filter_map(|files| {
            let dropcast = env!("CARGO_BIN_EXE_dropcast");
            let typed = "simulate --duration-ms 1 -o events.parquet";
            let limited = format!("ulimit -n {files} && exec {dropcast} {typed}");
            let mut command = Command::new("sh");
            let output =
                command.args(["-c", &limited]).current_dir(room.path(".")).output().unwrap();
            (output.status.code() == Some(1)).then(|| String::from_utf8(output.stderr).unwrap())
        })
        .collect();
    assert!(!refused.is_empty() && refused.len() < 8, "{refused:?}");
    let hint = "; allow more open files (ulimit -n), or give fewer files at a time: Too many open files \
                (os error 24)\n";
    for said in refused {
        assert!(
            said.starts_with("error: events.parquet: cannot be ") && said.ends_with(hint),
            "{said}"
        );
    }
    // Nor is a lock left.
    let room = Room::with_a_run();
    for files in 4..12 {
        let typed = format!(
            "ulimit -n {files} && exec {} export runs/small/model.json --target c json -o tables",
            env!("CARGO_BIN_EXE_dropcast")
        );
        Command::new("sh").args(["-c", &typed]).current_dir(room.path(".")).output().unwrap();
        let names = room.files().into_keys().chain(room.folders());
        assert_eq!(
            names.filter(|name| name.starts_with('.')).collect::<Vec<_>>(),
            [""; 0],
            "{files}"
        );
    }
}

#[cfg(target_os = "linux")]
#[test]
fn what_the_system_refuses_is_no_damage() {
    let room = Room::with_a_run();
    let typed = "report --data runs/small/trace.parquet";
    // From too few open files for anything to enough.
    let refused: Vec<String> = (5..16)
        .filter_map(|files| {
            let dropcast = env!("CARGO_BIN_EXE_dropcast");
            let limited = format!("ulimit -n {files} && exec {dropcast} {typed}");
            let mut command = Command::new("sh");
            let output =
                command.args(["-c", &limited]).current_dir(room.path(".")).output().unwrap();
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(matches!(output.status.code(), Some(0 | 1)), "{files}: {said}");
            (!output.status.success()).then_some(said)
        })
        .collect();
    assert!(!refused.is_empty() && refused.len() < 11, "{refused:?}");
    for said in refused {
        assert!(
            said.contains("runs/small/trace.parquet: cannot be ")
                && said.contains(": Too many open files"),
            "{said}"
        );
    }
    let output = Command::new("strace")
        .args(["-f", "-qq", "-o", "/dev/null", "-e", "trace=clone,clone3"])
        .args(["-e", "inject=clone,clone3:error=EAGAIN", env!("CARGO_BIN_EXE_dropcast")])
        .args(["report", "--data", "runs/small/trace.parquet"])
        .current_dir(room.path("."))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[cfg(target_os = "linux")]
#[test]
fn where_no_thread_can_begin_nothing_panics() {
    let room = Room::with_a_run();
    room.write("log.csv", "time_ns,port,size_bytes\n0,0,1500\n");
    room.write("drops.csv", "time_ns,source_ip,destination_ip,protocol,reason\n");
    room.write("c.pcap", std::fs::read(corpus("capture/ethernet.pcap")).unwrap());
    for typed in [
        "collect --events log.csv --switch runs/small/switch.toml -o t.parquet",
        "collect --events log.csv --drops drops.csv --switch runs/small/switch.toml -o t.parquet",
        "switch c.pcap --base-rtt-ns 8000 --rate-bps 1000000000 --buffer-bytes 100000",
        "inspect log.csv --check",
    ] {
        let output = Command::new("strace")
            .args(["-f", "-qq", "-o", "/dev/null", "-e", "trace=clone,clone3"])
            .args(["-e", "inject=clone,clone3:error=EAGAIN", env!("CARGO_BIN_EXE_dropcast")])
            .args(typed.split(' '))
            .current_dir(room.path("."))
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{typed}: {said}");
        assert!(said.contains("; allow more threads (ulimit -u), or end "), "{typed}: {said}");
    }
}

/// With a GiB of address space.
#[test]
fn what_would_take_all_memory_is_refused_first() {
    let room = Room::with_a_run();
    let expression = format!("expression:accept=queue<{}1", "0".repeat(70_000));
    for (typed, problem) in [
        ("report --data runs/small/trace.parquet --policy smartbuf:known_bursts=4294967295", None),
        (
            "verify runs/small/model.json --target json --rows 4294967295",
            Some("rows: is 4294967295, expected at most 4000000"),
        ),
        (
            &*format!("report --data runs/small/trace.parquet --policy {expression}"),
            Some("bytes long, expected at most 4096"),
        ),
    ] {
        let output = Command::new("sh")
            .args(["-c", "ulimit -v 1048576 && exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_dropcast")])
            .args(typed.split(' '))
            .current_dir(room.path("."))
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(i32::from(problem.is_some())), "{said}");
        assert!(problem.is_none_or(|problem| said.contains(problem)), "{said}");
    }
}

/// With a GiB of address space: files of few bytes that claim or repeat much.
#[cfg(target_os = "linux")]
#[test]
fn a_gibibyte_is_enough_for_every_file_of_the_corpus() {
    let room = Room::with_a_run();
    for kind in ["arrow", "capture", "csv", "ns3", "parquet", "trace"] {
        for file in std::fs::read_dir(corpus(kind)).unwrap() {
            let file = file.unwrap().path();
            let typed = format!(
                "ulimit -v 1048576 && exec {} inspect --check --switch runs/small/switch.toml {}",
                env!("CARGO_BIN_EXE_dropcast"),
                file.display()
            );
            let mut command = Command::new("sh");
            let output = command.args(["-c", &typed]).current_dir(room.path(".")).output().unwrap();
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(matches!(output.status.code(), Some(0 | 1)), "{}: {said}", file.display());
            assert!(!said.contains("memory"), "{}: {said}", file.display());
        }
    }
}

#[test]
fn two_jobs_never_share_a_folder() {
    let room = Room::with_a_run();
    room.write("sweep.toml", "data = ['runs/small/trace.parquet']\n[axes]\nvotes = 'f1'");
    std::fs::create_dir_all(room.path("swept")).unwrap();
    let lock = |path: &str| {
        let file = File::create(room.path(path)).unwrap();
        file.try_lock().unwrap();
        file
    };
    let held = [lock("runs/.small.lock"), lock("swept/.lock")];
    insta::assert_snapshot!(
        refuse(&room, "run --config small.toml --replace")
            + &refuse(&room, "sweep sweep.toml -o swept")
    );
    drop(held);
    // A killed job's lock is free, and what it left is removed.
    room.write("runs/.small.partial/half", "");
    room.write("runs/.small.lock", "[]");
    room.good("run --config small.toml --replace");
    room.good("sweep sweep.toml -o swept");
    assert!(
        !room.folders().iter().any(|folder| folder.contains("partial")),
        "{:?}",
        room.folders()
    );
    assert!(!room.files().keys().any(|name| name.contains("lock") || name.contains("half")));
}

#[test]
fn a_run_is_replaced_as_a_whole() {
    let room = Room::with_a_run();
    room.write("runs/small/notes.txt", "mine");
    room.write("runs/small/mine/notes.txt", "mine too");
    room.write("runs/small/tables/stale.h", "of another target");
    room.write("other.toml", format!("{SMALL}[train]\nn_estimators = 2\n"));
    room.good("run --config other.toml --replace");
    assert_eq!(room.read("runs/small/notes.txt"), b"mine");
    assert_eq!(room.read("runs/small/mine/notes.txt"), b"mine too");
    assert!(!room.files().contains_key("runs/small/tables/stale.h"));
    let config = String::from_utf8(room.read("runs/small/config.toml")).unwrap();
    assert!(config.contains("n_estimators = 2"), "{config}");
}

fn corpus(name: &str) -> std::path::PathBuf {
    std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../dev/fuzz/corpus").join(name)
}

/// With a GiB of address space, and so of memory: what does not fit is refused in words, not aborted.
#[cfg(target_os = "linux")]
#[test]
#[ignore = "slow"]
fn a_gibibyte_is_enough_for_every_hostile_file() {
    let room = Room::with_a_run();
    let switch = |ports: u32, queues: u32| {
        format!(
            "ports = {ports}\nqueues_per_port = {queues}\nline_rate_bps = 10_000_000_000\n\
             buffer_bytes = 60_000\nbase_rtt_ns = 32_000\n"
        )
    };
    let many = |number: u32, ports: u32, queues: u32| -> String {
        (0..number).map(|id| format!("[[switch]]\nid = {id}\n{}", switch(ports, queues))).collect()
    };
    room.write("queues.toml", switch(65_535, 255));
    room.write("switches.toml", many(4_000, 65_535, 255));
    room.write("most.toml", many(4, 256, 255));
    let rows: String =
        (0..4_000).map(|row| format!("{row},{},{},1500\n", row % 4, row / 4 % 256)).collect();
    room.write("events.csv", format!("time_ns,switch_id,port,size_bytes\n{rows}"));
    File::create(room.path("sparse.json")).unwrap().set_len(6 << 30).unwrap();
    for (typed, code) in [
        ("collect --events events.csv --switch queues.toml -o refused.parquet", 1),
        ("collect --events events.csv --switch switches.toml -o refused.parquet", 1),
        ("collect --events events.csv --switch sparse.json -o refused.parquet", 1),
        ("export sparse.json --target c -o tables", 1),
        ("report --model sparse.json --data runs/small/trace.parquet", 1),
        ("inspect sparse.json", 1),
        // As many queues as there may be.
        ("collect --events events.csv --switch most.toml -o most.parquet", 0),
        ("report --data most.parquet --format html -o most.html", 0),
    ] {
        let limited =
            format!("ulimit -v 1048576 && exec {} {typed}", env!("CARGO_BIN_EXE_dropcast"));
        let output =
            Command::new("sh").args(["-c", &limited]).current_dir(room.path(".")).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{typed}: {said}");
    }
}
