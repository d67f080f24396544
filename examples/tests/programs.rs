//! Every program runs on the repository's samples, and prints what makes sense.

use std::path::Path;
use std::process::Command;

/// What a program prints in the repository's root.
fn printed(program: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("a folder");
    let output = Command::new(program).current_dir(root).output().expect("it starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// The numbers of a text, in order.
fn numbers(text: &str) -> Vec<u64> {
    let of_digits = text.split(|letter: char| !letter.is_ascii_digit());
    of_digits.filter_map(|digits| digits.parse().ok()).collect()
}

#[test]
fn a_capture_is_labelled_in_order_of_time() {
    let printed = printed(env!("CARGO_BIN_EXE_label-capture"));
    let rows: Vec<Vec<u64>> = printed.lines().skip(1).map(numbers).collect();
    assert_eq!(rows.len(), 617, "packets of the capture");
    assert!(rows.is_sorted_by_key(|row| row[0]));
    // Port 3 gets packets at twice its rate: LQD drops some, only there, and only when the buffer is full.
    let dropped: Vec<_> = rows.iter().filter(|row| row[4] == 1).collect();
    assert!((100..300).contains(&dropped.len()) && dropped.iter().all(|row| row[1] == 3));
    assert!(rows.iter().all(|row| row[2] <= row[3] && row[3] <= 14_600));
}

#[test]
fn a_forest_predicts_drops_of_rows_that_it_has_not_seen() {
    let printed = printed(env!("CARGO_BIN_EXE_train-forest"));
    let f1: f64 = printed.rsplit_once("F1 ").expect("a score").1.trim().parse().expect("a number");
    assert!(printed.starts_with("4 trees") && f1 > 0.5, "{printed}");
}

#[test]
fn lqd_transmits_more_than_a_policy_that_reserves_most_of_the_buffer() {
    let numbers = numbers(&printed(env!("CARGO_BIN_EXE_own-policy")));
    let [arrivals, eighth, lqd] = numbers[..] else { panic!("{numbers:?}") };
    assert_eq!(arrivals, 53_820);
    assert_eq!(arrivals - lqd, 764, "the drops that `dropcast collect` labels");
    assert!(eighth < lqd && eighth > arrivals / 2);
}

#[test]
fn senders_that_keep_a_small_window_lose_less_than_dctcp() {
    let printed = printed(env!("CARGO_BIN_EXE_own-transport"));
    let numbers: Vec<_> = printed.lines().map(numbers).collect();
    let [dctcp, own] = &numbers[..] else { panic!("{printed}") };
    assert_eq!((dctcp[0], own[0]), (16, 16), "all flows end: {printed}");
    assert!(dctcp[1] > own[1] && own[1] == 0, "{printed}");
}

#[test]
fn an_oracle_drops_only_where_the_buffer_is_full() {
    let printed = printed(env!("CARGO_BIN_EXE_embed-oracle"));
    let verdicts: Vec<_> = printed.lines().skip(1).collect();
    assert!(printed.starts_with("4 features"), "{printed}");
    assert!(verdicts[0].ends_with("accept") && verdicts[4].ends_with("drop"), "{printed}");
}
