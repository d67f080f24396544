//! Killed at each call that changes what is in a folder, a command leaves the old results or the new ones.

use crate::room::{Room, SMALL};
use std::collections::BTreeMap;
use std::process::{Command, Output};
use std::time::{Duration, Instant};

/// What is under a folder; not what begins with a dot.
type Files = BTreeMap<String, Vec<u8>>;

/// Calls that change what is in a folder.
const CALLS: &str = "linkat,link,rename,renameat,renameat2,mkdir,unlink,unlinkat,rmdir";

/// Runs a command, with an effect at one of its calls; the calls that it made.
fn traced(room: &Room, typed: &str, inject: Option<&str>) -> (Output, Vec<String>) {
    let log = tempfile::NamedTempFile::new().unwrap();
    let output = Command::new("strace")
        .args(["-f", "-qq", "-e", &format!("trace={CALLS}"), "-o"])
        .arg(log.path())
        .args(inject.iter().flat_map(|inject| ["-e", inject]))
        .arg(env!("CARGO_BIN_EXE_dropcast"))
        .args(typed.split_whitespace())
        .current_dir(room.path("."))
        .output()
        .expect("strace is installed");
    let log = std::fs::read_to_string(log.path()).unwrap();
    let call = |line: &str| Some(line.split_once('(')?.0.split_whitespace().nth(1)?.to_owned());
    (output, log.lines().filter_map(call).collect())
}

fn results(room: &Room, folder: &str) -> Files {
    let is_result = |name: &String| {
        let hidden = name.split('/').any(|part| part.starts_with('.'));
        name.starts_with(folder) && !hidden && !name.ends_with("timings.json")
    };
    room.files().into_iter().filter(|(name, _)| is_result(name)).collect()
}

/// Begins with the files of `before`, and runs a command as often as it has such calls. Each time one has
/// the effect. Returns what was in `folder` afterwards, and whether the command failed by itself.
fn disturbed(room: &Room, folder: &str, typed: &str, effect: &str) -> Vec<(Files, bool)> {
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

const KILLED: &str = "signal=SIGKILL";

#[test]
fn a_killed_export_leaves_one_set_of_files() {
    let room = Room::with_a_run();
    let other = SMALL.replace("seed = 7", "seed = 8").replace("'small'", "'other'");
    room.write("other.toml", other);
    room.good("run --config other.toml");
    let export = |run: &str| format!("export runs/{run}/model.json --target c cpp p4 -o out");
    room.write("out/notes.txt", "mine");
    room.good(&export("other"));
    let new = results(&room, "out/");
    room.good(&export("small"));
    let old = results(&room, "out/");
    assert!(old != new && old.keys().eq(new.keys()));
    for (files, _) in disturbed(&room, "out/", &export("other"), KILLED) {
        assert!(files == old || files == new, "{:?}", files.keys());
    }
    // A folder of the user's is not moved: no file of one set is beside one of the other.
    room.write("out/mine/notes.txt", "mine too");
    let is_of = |set: &Files, (name, bytes): (&String, &Vec<u8>)| {
        set.get(name).is_none_or(|of_set| of_set == bytes)
    };
    let export = export("other");
    for (files, _) in disturbed(&room, "out/", &export, KILLED) {
        let of = |set| files.iter().all(|file| is_of(set, file));
        assert!(of(&old) || of(&new), "{:?}", files.keys());
    }
    let results_of = |set: &Files| {
        let mut set = set.clone();
        set.insert("out/mine/notes.txt".to_owned(), b"mine too".to_vec());
        set
    };
    for (files, failed) in disturbed(&room, "out/", &export, "error=EIO") {
        assert!(files == results_of(if failed { &old } else { &new }), "{:?}", files.keys());
    }
}

#[test]
fn a_killed_run_leaves_one_run_and_folders_of_the_users() {
    let room = Room::with_a_run();
    let run = "run --config other.toml --replace";
    room.write("runs/small/mine/notes.txt", "mine");
    let old = results(&room, "runs/small/");
    room.write("other.toml", SMALL.replace("seed = 7", "seed = 8"));
    let config = |files: &Files| files["runs/small/config.toml"].clone();
    let (mut kept, mut replaced) = (0, 0);
    let mut new: Option<Files> = None;
    let mine = "runs/small/mine/notes.txt";
    for (files, _) in disturbed(&room, "runs/", run, KILLED) {
        let mut whole = files.clone();
        whole.insert(mine.to_owned(), b"mine".to_vec());
        if config(&files) == config(&old) {
            assert!(whole == old, "{:?}", files.keys());
            kept += 1;
        } else {
            assert!(*new.get_or_insert_with(|| whole.clone()) == whole, "{:?}", files.keys());
            replaced += 1;
        }
    }
    assert!(kept > 0 && replaced > 0);
    // Killed while its folder is in neither run's place: the next run puts it back.
    std::fs::create_dir(room.path("runs/.small.partial")).unwrap();
    std::fs::rename(room.path("runs/small/mine"), room.path("runs/.small.partial/mine")).unwrap();
    room.good(run);
    assert_eq!(room.read(mine), b"mine");
    assert!(results(&room, "runs/") == new.unwrap());
}

#[test]
fn a_killed_sweep_names_no_model_of_another() {
    let room = Room::with_a_run();
    let settings = |trees: &str| {
        format!(
            "data = ['runs/small/trace.parquet']\n[axes]\ntrees = {trees}\nmax_depth = [1, 2]\n\
             votes = 'f1'\n"
        )
    };
    let sweep = "sweep sweep.toml -o out --resume";
    let is_found = |files: Files| -> Files {
        files.into_iter().filter(|(name, _)| !name.starts_with("out/parts/")).collect()
    };
    // Both sweeps' parts are there: only results are written.
    room.write("sweep.toml", settings("[2, 3]"));
    room.good(sweep);
    let new = is_found(results(&room, "out/"));
    room.write("sweep.toml", settings("1"));
    room.good(sweep);
    let old = is_found(results(&room, "out/"));
    room.write("sweep.toml", settings("[2, 3]"));
    for (files, _) in disturbed(&room, "out/", sweep, KILLED) {
        let files = is_found(files);
        let has = |name: &str| files.contains_key(name);
        if has("out/sweep.json") {
            assert!(files == old || files == new, "{:?}", files.keys());
        }
        // The old page may be there as long as all of its models are.
        let models = |files: &Files| -> Files {
            let is_model = |(name, _): &(&String, &Vec<u8>)| name.starts_with("out/models/");
            files
                .iter()
                .filter(is_model)
                .map(|(name, bytes)| (name.clone(), bytes.clone()))
                .collect()
        };
        if has("out/report.html") && files["out/report.html"] == old["out/report.html"] {
            assert!(models(&files) == models(&old), "{:?}", files.keys());
        }
    }
}

#[test]
fn a_run_that_is_asked_to_end_leaves_nothing() {
    let room = Room::new();
    room.write("long.toml", SMALL.replace("20_000_000", "20_000_000_000"));
    for signal in ["TERM", "HUP", "INT"] {
        // The tests may run where signals are ignored: under nohup, or in the background of a script.
        let mut child = Command::new("env")
            .args(["--default-signal=HUP,INT,TERM", env!("CARGO_BIN_EXE_dropcast")])
            .args(["run", "--config", "long.toml"])
            .current_dir(room.path("."))
            .spawn()
            .unwrap();
        let wait_for = |mut is_so: Box<dyn FnMut() -> bool>| {
            let began = Instant::now();
            while !is_so() {
                if began.elapsed().as_secs() > 60 {
                    return false;
                }
                std::thread::sleep(Duration::from_millis(5));
            }
            true
        };
        let config = room.path("runs/.small.partial/config.toml");
        assert!(wait_for(Box::new(move || config.exists())));
        let id = child.id().to_string();
        assert!(Command::new("kill").args(["-s", signal, &id]).status().unwrap().success());
        // Ended by the signal, as without us.
        let has_ended = wait_for(Box::new(|| child.try_wait().unwrap().is_some()));
        if !has_ended {
            child.kill().unwrap();
        }
        assert_eq!((has_ended, child.wait().unwrap().code()), (true, None), "{signal}");
        assert_eq!(std::fs::read_dir(room.path("runs")).unwrap().count(), 0, "{signal}");
    }
}
