//! `export` in a layout that models share.

use crate::room::Room;

#[test]
fn retrained_models_are_entries_only() {
    let room = Room::with_a_run();
    room.good_with_notes(
        "train --data runs/small/trace.parquet --n-estimators 2 --max-depth 3 -o other.json",
    );
    for (model, folder) in [("runs/small/model.json", "one"), ("other.json", "other")] {
        room.good(&format!("export {model} --target p4:trees=8,depth=6 -o {folder}"));
    }
    for program in ["dropcast_oracle.p4", "dropcast_v1model.p4"] {
        let [one, other] = ["one", "other"].map(|folder| room.read(&format!("{folder}/{program}")));
        assert!(one == other && !one.is_empty(), "{program}");
    }
    assert_ne!(room.read("one/model_cli.txt"), room.read("other/other_cli.txt"));
}

#[test]
fn layouts_that_are_none_or_too_small_are_refused() {
    let room = Room::with_a_run();
    for (targets, says) in [
        ("p4:trees=4", "depth is missing, as in trees=4,depth=4"),
        ("p4:trees=0,depth=4", "trees is \"0\", expected 1 to 2048"),
        ("dct:trees=4,depth=4", "dct has no layouts; p4 has"),
        ("p4:trees=4,depth=4,bits=1", "thresholds of"),
        ("p4:trees=8,depth=6 p4:trees=8,depth=5", "write different files dropcast_oracle.p4"),
    ] {
        let said =
            room.dropcast(&format!("export runs/small/model.json -o tables --target {targets}"));
        assert_ne!(said.code, Some(0), "{targets}");
        assert!(said.stderr.contains(says), "{}", said.stderr);
    }
}
