//! Killed at each call that changes what is in a folder, a command leaves the old results or the new ones.

use crate::disturbed::{Files, KILLED, disturbed, leaves_nothing_beyond_a_limit, results};
use crate::room::{Room, SMALL};
use dropcast_data::{Event, EventReader};
use std::process::Command;
use std::time::{Duration, Instant};

#[test]
#[ignore = "slow"]
fn a_killed_export_leaves_one_set_of_files() {
    let room = Room::with_a_run();
    let other = SMALL.replace("seed = 7", "seed = 8").replace("'small'", "'other'");
    room.write("other.toml", other);
    room.good_with_notes("run --config other.toml");
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
#[ignore = "slow"]
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
    room.write("runs/.small.lock", "[\"mine\"]");
    room.good_with_notes(run);
    assert_eq!(room.read(mine), b"mine");
    assert!(results(&room, "runs/") == new.unwrap());
}

#[test]
#[ignore = "slow"]
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

/// The arrivals of the small run at two switches, as a trace.
fn two_switches(room: &Room) {
    let switch = String::from_utf8(room.read("runs/small/switch.toml")).unwrap();
    let each: String = [3, 9].map(|id| format!("[[switch]]\nid = {id}\n{switch}\n")).concat();
    room.write("each.toml", each);
    let events = EventReader::open(&room.path("runs/small/events.parquet"), Default::default());
    let mut csv = "time_ns,switch_id,port,queue,size_bytes\n".to_owned();
    for Event { time_ns, port, queue, size_bytes, .. } in
        events.unwrap().flat_map(|batch| batch.unwrap().events)
    {
        for switch_id in [3, 9] {
            csv.push_str(&format!("{time_ns},{switch_id},{port},{queue},{size_bytes}\n"));
        }
    }
    room.write("events.csv", csv);
    room.good("collect --events events.csv --switch each.toml -o both.parquet");
}

const PER_SWITCH: &str = "train --data both.parquet --model-per switch --vote f1 --split random --n-estimators 1 --threads 1";

#[test]
#[ignore = "slow"]
fn killed_models_per_switch_are_of_one_training() {
    let room = Room::with_a_run();
    two_switches(&room);
    room.write("out/notes.json", "mine");
    room.write("out/model.best.txt", "mine");
    let command = |depth| format!("{PER_SWITCH} --max-depth {depth} -o out/model.json");
    room.good(&command(2));
    let new = results(&room, "out/");
    assert_eq!(new.len(), 5);
    // A switch that the other training does not have.
    room.good(&command(1));
    room.write("out/model.switch-7.json", room.read("out/model.switch-3.json"));
    let old = results(&room, "out/");
    for effect in [KILLED, "error=EIO"] {
        for (files, failed) in disturbed(&room, "out/", &command(2), effect) {
            let is_of =
                |set: &Files| files.iter().all(|(name, bytes)| set.get(name) == Some(bytes));
            // One after the other. Where the model of all is, nothing is missing.
            let is_whole = files == old || files == new;
            let is_part = (is_of(&old) || is_of(&new)) && !files.contains_key("out/model.json");
            let is_one = is_whole || effect == KILLED && is_part;
            assert!(is_one && !(failed && files == new), "{effect}: {:?}", files.keys());
        }
    }
    room.good(&command(2));
    assert!(results(&room, "out/") == new);
    // Models of all switches are not mistaken for a switch's.
    room.write("out/model.best.json", room.read("out/model.json"));
    room.good(&command(1));
    assert!(room.path("out/model.best.json").exists());
}

#[test]
fn a_trace_that_cannot_be_read_is_no_lack_of_drops() {
    let room = Room::with_a_run();
    two_switches(&room);
    room.good(&format!("{PER_SWITCH} -o out.json"));
    let before = room.files();
    let command = |inject: &str| {
        let mut command = Command::new("strace");
        command.args(["-f", "-qq", "-o", "log", "-P", "both.parquet"]);
        command.args(["-e", "trace=read,pread64", "-e", inject]);
        command.arg(env!("CARGO_BIN_EXE_dropcast")).args(PER_SWITCH.split_whitespace());
        command.args(["-o", "out.json"]).current_dir(room.path(".")).output().unwrap()
    };
    assert!(command("inject=read:delay_enter=0").status.success());
    let reads = String::from_utf8(room.read("log")).unwrap().lines().count();
    assert!(reads > 20, "{reads}");
    for at in (1..=reads).step_by(reads / 20) {
        let output = command(&format!("inject=read,pread64:error=EIO:when={at}"));
        let said = String::from_utf8_lossy(&output.stderr);
        if !output.status.success() {
            assert!(said.contains("both.parquet: cannot be "), "{at}: {said}");
        }
        std::fs::remove_file(room.path("log")).unwrap();
        assert!(room.files() == before, "{at} of {reads}: {said}");
    }
}

#[test]
fn a_killed_report_stands_beside_its_own_decisions() {
    let room = Room::with_a_run();
    let report = |policy| {
        format!(
            "report --data runs/small/trace.parquet --policy {policy} --decisions out/d.csv -o out/r.txt"
        )
    };
    room.write("out/notes.txt", "mine");
    let set = |policy| {
        room.good(&report(policy));
        results(&room, "out/")
    };
    let [new, old] = ["dt:alpha=8", "dt:alpha=0.125"].map(set);
    assert!(new.iter().zip(&old).filter(|(new, old)| new != old).count() == 2);
    for effect in [KILLED, "error=EIO"] {
        for (files, _) in disturbed(&room, "out/", &report("dt:alpha=8"), effect) {
            let without = |set: &Files| files.contains_key("out/r.txt") && files == *set;
            let is_alone = !files.contains_key("out/r.txt");
            assert!(is_alone || without(&old) || without(&new), "{effect}: {:?}", files.keys());
        }
    }
    std::thread::scope(|scope| {
        for policy in ["dt:alpha=8", "dt:alpha=0.125", "dt:alpha=8", "dt:alpha=0.125"] {
            let (room, typed) = (&room, report(policy));
            scope.spawn(move || room.good(&typed));
        }
    });
    assert!([&new, &old].contains(&&results(&room, "out/")));
}

#[test]
fn a_file_that_grows_too_large_leaves_nothing() {
    let room = Room::with_a_run();
    leaves_nothing_beyond_a_limit(&room, "run --config small.toml --name large");
}

#[test]
fn a_run_that_is_asked_to_end_leaves_nothing() {
    let room = Room::new();
    room.write("long.toml", SMALL.replace("20_000_000", "20_000_000_000"));
    room.write("long/trace.parquet", Room::with_a_run().read("runs/small/trace.parquet"));
    let seeds = Vec::from_iter(1..500);
    let axes = format!("[axes]\ntrees = 128\nmax_depth = 8\nvotes = 'f1'\nseeds = {seeds:?}\n");
    let data = "data = ['long/trace.parquet']\n[split]\nby = 'random'\n";
    room.write("sweep.toml", format!("{data}{axes}"));
    let run = ("run --config long.toml", "runs/.small.partial/config.toml");
    let sweep = ("sweep sweep.toml -o runs/swept", "runs/swept/.lock");
    let jobs = ["TERM", "HUP", "INT", "XCPU", "USR1", "QUIT"].map(|signal| (signal, run));
    for (signal, (typed, begun)) in jobs.into_iter().chain([("TERM", sweep)]) {
        // The tests may run where signals are ignored: under nohup, or in the background of a script.
        let mut child = Command::new("env")
            .args(["--default-signal", env!("CARGO_BIN_EXE_dropcast")])
            .args(typed.split(' '))
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
        let begun = room.path(begun);
        assert!(wait_for(Box::new(move || begun.exists())), "{typed}");
        let id = child.id().to_string();
        assert!(Command::new("kill").args(["-s", signal, &id]).status().unwrap().success());
        // Ended by the signal, as without us.
        let has_ended = wait_for(Box::new(|| child.try_wait().unwrap().is_some()));
        if !has_ended {
            child.kill().unwrap();
        }
        assert_eq!((has_ended, child.wait().unwrap().code()), (true, None), "{signal}");
        assert!(!room.path("runs").exists(), "{signal}");
    }
}
