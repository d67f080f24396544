//! Numbers and names in the evidence of checks.

/// What a sentence names, at most.
const MOST_NAMED: usize = 4;

/// The first of these, and how many more there are.
pub(super) fn named(mut names: Vec<String>, between: &str, what: &str) -> String {
    let more = names.len().saturating_sub(MOST_NAMED);
    names.truncate(MOST_NAMED);
    let listed = names.join(between);
    if more == 0 { listed } else { format!("{listed} and {more} more {what}") }
}

/// A count with commas between thousands.
pub(super) fn number(count: u64) -> String {
    let digits = count.to_string();
    let groups = digits.as_bytes().rchunks(3).rev().map(String::from_utf8_lossy);
    groups.collect::<Vec<_>>().join(",")
}

/// A share in percent.
pub(super) fn percent(part: u64, whole: u64) -> String {
    let percent = 100.0 * part as f64 / whole.max(1) as f64;
    match percent {
        10.0.. => format!("{percent:.0}%"),
        0.1.. => format!("{percent:.1}%"),
        _ => "less than 0.1%".to_owned(),
    }
}

/// A length of time, in microseconds where it is longer than one.
pub(super) fn time(ns: u64) -> String {
    if ns < 1_000 { format!("{ns} ns") } else { format!("{:.1} us", ns as f64 / 1_000.0) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_names_are_short() {
        assert_eq!([0, 999, 1_000, 12_345_678].map(number), ["0", "999", "1,000", "12,345,678"]);
        assert_eq!(
            [(1, 3), (1, 200), (1, 9_000)].map(|(part, all)| percent(part, all)),
            ["33%", "0.5%", "less than 0.1%"]
        );
        assert_eq!([900, 121_300].map(time), ["900 ns", "121.3 us"]);
        let names =
            |count: usize| named((0..count).map(|name| name.to_string()).collect(), ", ", "files");
        assert_eq!([names(2), names(6)], ["0, 1", "0, 1, 2, 3 and 2 more files"]);
    }
}
