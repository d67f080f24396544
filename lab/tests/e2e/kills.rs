//! Killed at each call that changes what is in a folder, a command leaves the old results or the new ones.

use crate::disturbed::{KILLED, disturbed, leaves_nothing_beyond_a_limit, results};
use crate::room::Room;

/// Of two commands that write into `out`, killed or failing at any call, each leaves its own result whole, or
/// that of the other.
fn check_one_result(room: &Room, old: &str, new: &str) {
    room.good(new);
    let of_new = results(room, "out/");
    std::fs::remove_dir_all(room.path("out")).unwrap();
    room.good(old);
    let of_old = results(room, "out/");
    assert!(of_old != of_new && !of_old.is_empty());
    for effect in [KILLED, "error=EIO"] {
        for (files, failed) in disturbed(room, "out/", new, effect) {
            let is_old = files == of_old;
            assert!(is_old || files == of_new && !failed, "{new}, {effect}: {:?}", files.keys());
        }
    }
    room.good(new);
    assert!(results(room, "out/") == of_new);
    let hidden = room.files().into_keys().chain(room.folders());
    assert!(!hidden.into_iter().any(|name| name.contains("/.") || name.starts_with('.')));
}

const FABRIC: &str = "
[fabric]
leaves = 2
spines = 1
servers = 2
[traffic]
duration_ns = 300_000
[[traffic.flows]]
load = 0.5
[[traffic.incasts]]
burst = 1.5
fan_in = 2
per_server_hz = 3000.0
";

#[test]
#[ignore = "slow"]
fn a_killed_experiment_leaves_one_result() {
    let room = Room::new();
    room.write("a.toml", format!("policies = ['lqd', 'dt']\n{FABRIC}"));
    room.write("b.toml", format!("policies = ['lqd', 'harmonic']\nruns = 2\n{FABRIC}"));
    let command = |name| format!("simulate {name}.toml --threads 1 -o out");
    check_one_result(&room, &command("a"), &command("b"));
}

#[test]
#[ignore = "slow"]
fn a_killed_map_leaves_one_result() {
    let room = Room::new();
    for (name, measure) in [("a", "goodput_bps"), ("b", "short_slowdown_p99")] {
        let grid = format!("[[grids]]\nname = '{name}'\nload = [0.4, 0.5]\n");
        let head = format!("runs = 2\noracles = {{}}\nmeasures = ['{measure}']\n");
        room.write(&format!("{name}.toml"), format!("{head}{FABRIC}{grid}"));
    }
    check_one_result(&room, "map a.toml --threads 1 -o out", "map b.toml --threads 1 -o out");
}

#[test]
fn a_killed_figure_leaves_one_result() {
    let command = |slots| format!("reproduce fig14 --slots {slots} --repetitions 1 -o out");
    check_one_result(&Room::new(), &command(300), &command(400));
}

#[test]
fn a_killed_refinement_leaves_one_result() {
    let room = Room::with_a_run();
    room.write("a.toml", format!("policies = ['lqd']\n{FABRIC}"));
    let command = |vote: &str| {
        format!(
            "refine --experiment a.toml --runs 5 --rounds 0 --model runs/small/model.json \
             --objective {vote} --threads 1 -o out"
        )
    };
    check_one_result(&room, &command("goodput_bps"), &command("short_slowdown_p99"));
}

#[test]
fn jobs_at_the_same_time_never_mix() {
    let room = Room::new();
    room.write("a.toml", format!("policies = ['lqd', 'dt']\n{FABRIC}"));
    room.write("b.toml", format!("policies = ['lqd', 'harmonic']\n{FABRIC}"));
    let command = |name| format!("simulate {name}.toml -o out");
    let result = |name| {
        room.good(&command(name));
        results(&room, "out/")
    };
    let each = [result("a"), result("b")];
    let (room, command) = (&room, &command);
    for _ in 0..3 {
        std::thread::scope(|scope| {
            for name in ["a", "b", "a", "b"] {
                scope.spawn(move || {
                    let said = room.dropcast(&command(name));
                    assert!(
                        said.code == Some(0) || said.stderr.contains("another job is at work "),
                        "{said}"
                    );
                });
            }
        });
        let files = results(room, "out/");
        assert!(each.contains(&files), "{:?}", files.keys());
    }
}

#[test]
fn a_file_that_grows_too_large_leaves_nothing() {
    let room = Room::new();
    room.write("a.toml", format!("policies = ['lqd']\n{FABRIC}"));
    leaves_nothing_beyond_a_limit(&room, "simulate a.toml -o large");
}
