//! What a terminal shows: short, the advice first, its numbers those of the JSON.

#[path = "../measure/tests/tiny/mod.rs"]
mod tiny;
#[path = "../measure/tests/worlds/mod.rs"]
mod worlds;

use dropcast_data::RowOrder;
use dropcast_measure::Report;
use dropcast_measure::measures::ReportOrVerdict;
use dropcast_measure::verdict::{AdviceDecision, Check, CheckResult, CheckStatus, Needs, Verdict};
use dropcast_reports::{Exporter, ReportFormat, Text, next_command, verdict_in};
use serde_json::Value;
use worlds::{Episode, fitting_burst, hog, judged, large_burst, pair, small_burst, trace};

/// Commands add two lines.
const MOST_LINES: usize = 22;
const MOST_COLUMNS: usize = 100;

/// Words that readers stumbled over.
const NOT_SAID: [&str; 10] = [
    "tell",
    "told",
    "of which",
    "that are",
    "what is held",
    "beside",
    "the same of",
    "Those of",
    "0.9999",
    "NaN",
];

fn text_of(verdict: &Verdict) -> String {
    verdict_in(verdict, ReportFormat::Text).expect("text")
}

fn check(text: &str) {
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines.len() <= MOST_LINES, "{} lines: {text}", lines.len());
    for line in &lines {
        assert!(line.chars().count() <= MOST_COLUMNS, "{line}");
    }
    let has_advice = |line: &&&str| {
        ["KEEP ", "SET ", "DO NOT TRUST ", "NO ADVICE"].iter().any(|word| line.starts_with(word))
    };
    assert_eq!(lines.iter().take(3).filter(has_advice).count(), 1, "{text}");
    for words in NOT_SAID {
        assert!(!text.contains(words), "{words:?} in {text}");
    }
}

/// Numbers of the JSON.
fn numbers_of(value: &Value, numbers: &mut Vec<f64>) {
    match value {
        Value::Number(number) => numbers.extend(number.as_f64()),
        Value::Array(all) => all.iter().for_each(|of| numbers_of(of, numbers)),
        Value::Object(all) => all.values().for_each(|of| numbers_of(of, numbers)),
        _ => {}
    }
}

/// The rows of the table, and the unit of its numbers in bytes.
fn table(text: &str) -> (f64, Vec<&str>) {
    let mut lines = text.lines().skip_while(|line| !line.contains("against now"));
    let head = lines.next().expect("a head");
    let unit = [("lost kB", 1e3), ("lost MB", 1e6), ("lost bytes", 1.0)];
    let (_, unit) = unit.into_iter().find(|(name, _)| head.contains(name)).expect("a unit");
    (unit, lines.take_while(|line| !line.is_empty()).collect())
}

fn check_numbers(text: &str, json: &Value) {
    let mut known = Vec::new();
    numbers_of(&json["against_now"], &mut known);
    let (unit, rows) = table(text);
    assert!((2..=9).contains(&rows.len()), "{text}");
    assert_eq!(rows.iter().filter(|row| row.starts_with("> ")).count(), 1, "{text}");
    for row in rows {
        // Names and needs may have numbers, too: those have no two spaces before them.
        let (_, cells) = row[2..].split_once("  ").expect("cells");
        let (numbers, _) = cells.trim_start().rsplit_once("  ").expect("what it needs");
        for shown in numbers.split(&[' '][..]).filter(|word| !word.is_empty() && *word != "to") {
            let decimals = shown.split_once('.').map_or(0, |(_, decimals)| decimals.len());
            let step = unit / 10_f64.powi(decimals as i32);
            let shown: f64 = shown.replace([',', '+'], "").parse().expect(row);
            let is_it = |known: &&f64| (*known - shown * unit).abs() <= step * 0.501;
            assert!(known.iter().any(|known| is_it(&known)), "{shown} of {row} is not in the JSON");
        }
    }
}

#[test]
fn every_world_has_a_short_answer_whose_numbers_are_in_the_json() {
    for (alpha, episodes, said) in [
        (Some(0.5), vec![small_burst as Episode; 20], Some("SET alpha ")),
        (
            Some(1.0),
            vec![pair as Episode; 20],
            Some("SET alpha 32 (dt:alpha=32) in place of alpha 1."),
        ),
        (
            None,
            vec![large_burst as Episode; 20],
            Some("KEEP Complete Sharing: nothing else saves 5%"),
        ),
        (Some(8.0), vec![small_burst as Episode; 20], Some("KEEP alpha 8: it drops nothing;")),
        (Some(8.0), vec![fitting_burst as Episode; 13], Some("SET alpha 16 ")),
        (Some(0.5), vec![small_burst as Episode; 6], Some("KEEP alpha 0.5 for now (undecided): ")),
        (Some(0.5), [[hog as Episode; 20], [large_burst as Episode; 20]].concat(), None),
    ] {
        for seed in 0..4 {
            let verdict = judged(&trace(alpha, seed, &episodes));
            let text = text_of(&verdict);
            check(&text);
            check_numbers(&text, &serde_json::to_value(&verdict).expect("JSON"));
            let line = text.lines().nth(1).expect("a second line");
            assert!(said.is_none_or(|said| line.starts_with(said)), "{text}");
        }
    }
}

#[test]
fn undecided_says_what_would_decide() {
    let verdict = judged(&trace(Some(0.5), 1, &[small_burst as Episode; 6]));
    assert_eq!(verdict.advice.decision, AdviceDecision::Undecided);
    let line = text_of(&verdict).lines().nth(1).expect("advice").to_owned();
    assert!(line.contains(" with losses, 12 decide: capture "), "{line}");
}

/// Losses of the arrivals that count add up, and are those that the verdict has elsewhere.
#[test]
fn what_policies_lose_is_what_they_do_not_transmit() {
    let verdict = judged(&trace(Some(1.0), 7, &[pair as Episode; 20]));
    let row =
        |needs: Needs| verdict.against_now.iter().find(|row| row.needs == needs).expect("a row");
    let now = row(Needs::Nothing);
    assert_eq!((now.lost_bytes, now.against_now_bytes), (verdict.counts.own.bytes, 0));
    assert_eq!(row(Needs::OtherChip).lost_bytes, verdict.counts.lqd.bytes);
    let best = verdict.rivals.best_alpha().expect("replayed");
    assert_eq!(row(Needs::Setting).lost_bytes, verdict.arrived.bytes - best.sent.bytes);
    let gain = &verdict.advice.candidates[0].gain;
    assert_eq!(row(Needs::Setting).against_now_bytes, -gain.bytes);
    assert_eq!(row(Needs::Setting).low_bytes, gain.high_bytes.map(|high| -high));
    assert!(verdict.against_now.is_sorted_by_key(|row| row.lost_bytes));
    assert!(row(Needs::Future).lost_bytes <= row(Needs::OtherChip).lost_bytes);
}

#[test]
fn reports_of_models_are_short_too() {
    for report in
        [tiny::report(RowOrder::Arrival), tiny::leaf::report(), tiny::report(RowOrder::Departure)]
    {
        let text = Text.export(&report).expect("text");
        check(&text);
        assert!(
            text.contains("\nForest   recall ") || text.contains("\nForest   predicts none"),
            "{text}"
        );
    }
    let report = tiny::report(RowOrder::Arrival);
    let text = Text.export(&report).expect("text");
    check_numbers(&text, &serde_json::to_value(&report.verdict).expect("JSON"));
    assert!(text.contains("does not say which rows trained it"), "{text}");
    assert!(
        Text.export(&tiny::report(RowOrder::Departure))
            .expect("text")
            .contains("NO ADVICE: nothing was replayed")
    );
}

#[test]
fn a_failed_check_comes_before_all_numbers_and_leaves_no_table() {
    let mut verdict = judged(&trace(Some(0.5), 3, &[small_burst as Episode; 20]));
    let long = "the clocks of 3 of 8 captures differ from the others', at least: ".repeat(9);
    let failed = |check, evidence: &str| CheckResult {
        check,
        status: CheckStatus::Failed,
        evidence: evidence.to_owned(),
        remedy: Some("capture with one clock, or shift these captures (docs/pcap.md)".to_owned()),
    };
    verdict.checks =
        vec![failed(Check::Clocks, &long), failed(Check::Drops, "it drops twice as much")];
    let text = text_of(&verdict);
    check(&text);
    assert!(
        text.lines().nth(1).expect("a line").starts_with("DO NOT TRUST these numbers: the clocks")
    );
    assert!(
        text.contains("What to do: capture with one clock") && text.contains("Also failed: drops"),
        "{text}"
    );
    assert!(!text.contains("against now") && !text.contains("SET "), "{text}");
}

#[test]
fn the_next_command_has_the_paths() {
    let verdict = judged(&trace(Some(8.0), 1, &[small_burst as Episode; 20]));
    let next = |verdict: &Verdict, model| {
        next_command(ReportOrVerdict::Verdict(verdict), "a.parquet", model)
    };
    assert_eq!(
        next(&verdict, None),
        "dropcast report --data a.parquet --fail-if 'switch_drops > 0'"
    );
    assert_eq!(next(&verdict, Some("m.json")), "dropcast report --data a.parquet");
    let hogs = judged(&trace(Some(0.5), 1, &[hog as Episode; 20]));
    assert_eq!(next(&hogs, None), "dropcast train --data a.parquet -o model.json");
    let report: Report = tiny::report(RowOrder::Departure);
    let unreplayed = next_command(ReportOrVerdict::Report(&report), "a.parquet", Some("m.json"));
    assert_eq!(unreplayed, "dropcast inspect --check a.parquet");
}
