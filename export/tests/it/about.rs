//! What the comments at the top of emitted files say.

use crate::unkept::forest_and_origin;
use dropcast_export::{Target, export};

#[test]
fn only_models_with_moving_averages_speak_of_their_time_constant() {
    for (set, says) in [
        ("queue_length,occupancy", None),
        ("level4", Some("arrival rates")),
        ("paper4", Some("moving averages")),
    ] {
        let (forest, origin) = forest_and_origin(set);
        let mut commented = 0;
        for &target in Target::all() {
            for file in export(&forest, &origin, target).expect("exportable") {
                let text = String::from_utf8_lossy(&file.bytes);
                let comment: Vec<&str> = text.lines().take(12).collect();
                let comment = comment.join("\n");
                if !comment.contains("Written by dropcast") {
                    continue;
                }
                commented += 1;
                for what in ["arrival rates", "moving averages"] {
                    let has_time_constant = comment
                        .contains(&format!("Time constant of {what}, the base RTT: 32000 ns."));
                    assert_eq!(has_time_constant, says == Some(what), "{}: {comment}", file.name);
                }
                let speaks = comment.contains("oving averages have");
                assert!(!speaks, "{}: {comment}", file.name);
            }
        }
        assert!(commented > 8, "{set}: {commented}");
    }
}
