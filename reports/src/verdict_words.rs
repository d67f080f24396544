//! All facts of a verdict as text.

use crate::answer::answer;
use crate::check_words::{check_sentences, failed_sentences};
use crate::drop_words::{alpha_name, drop_sentences};
use crate::numbers::{column_width, count, percent};
use crate::overview::overview_lines;
use crate::place_words::place_lines;
use crate::rival_words::{self, alphas as alpha_curve, asked_sentences};
use crate::verdict_figures::switch_name;
use dropcast_data::printable_line;
use dropcast_measure::verdict::{Advice, Finding, SwitchDrops, Verdict};
use dropcast_replay::{ReplayPolicy, Sent};
use std::collections::BTreeSet;

/// What is known beyond the answer: checks, drops, places, candidates.
pub(crate) fn fact_lines(verdict: &Verdict) -> Vec<String> {
    let mut lines = failed_sentences(verdict);
    lines.extend(check_sentences(verdict));
    lines.extend(drop_sentences(verdict));
    lines.extend(asked_sentences(verdict));
    lines.extend(place_lines(verdict));
    lines.extend(overview_lines(verdict));
    lines.extend(candidate_lines(&verdict.advice));
    lines
}

/// What the advice was chosen among, of all arrivals.
fn candidate_lines(advice: &Advice) -> Vec<String> {
    if advice.candidates.is_empty() {
        return Vec::new();
    }
    let line = |policy: &str, cells: [String; 6], interval: &str| {
        let cells: String = cells.iter().map(|cell| format!("{cell:>15}")).collect();
        format!("{policy:<40}{cells}  {interval}").trim_end().to_owned()
    };
    let heads = ["lost bytes", "now", "better", "worse", "episodes", "finding"];
    let head = line(
        "candidate, of all that did not train it",
        heads.map(str::to_owned),
        "99% interval, bytes saved",
    );
    let rows = advice.candidates.iter().map(|of| {
        let finding = match (of.finding, &of.beaten_by) {
            (Finding::Better, Some(_)) => "beaten",
            (Finding::Better, None) => "better",
            (Finding::NoBetter, _) => "no better",
            (Finding::TooFewEpisodes, _) => "too few",
            (Finding::Noise, _) => "noise",
        };
        let counts =
            [of.lost_bytes, of.now_lost_bytes, of.gain.better, of.gain.worse, of.gain.episodes];
        let [lost, now, better, worse, episodes] = counts.map(count);
        let ends = of.gain.low_bytes.zip(of.gain.high_bytes);
        let ends = ends.map_or_else(String::new, |(low, high)| format!("{low} to {high}"));
        line(&of.policy, [lost, now, better, worse, episodes, finding.to_owned()], &ends)
    });
    [String::new(), head].into_iter().chain(rows).collect()
}

/// The whole verdict for a terminal.
pub fn verdict_text(verdict: &Verdict) -> String {
    let lqd = sent(verdict, ReplayPolicy::Lqd);
    let mut lines = fact_lines(verdict);
    lines.push(String::new());
    lines.extend(sent_lines("transmitted", rows(verdict), lqd));
    let alphas = alpha_curve(verdict).map(|(alpha, rival)| (alpha, rival.sent));
    lines.push(String::new());
    lines.extend(sent_lines("alpha", alphas.collect(), lqd));
    lines.extend([String::new(), slack_sentence(verdict.slack_bytes)]);
    answer(verdict, None) + "\n" + &text_of(&lines)
}

/// The lines as text: a name of a file begins no further line.
pub(crate) fn text_of(lines: &[String]) -> String {
    lines.iter().map(|line| printable_line(line).into_owned() + "\n").collect()
}

/// A table of what is transmitted.
pub(crate) fn sent_lines(title: &str, rows: Vec<(String, Sent)>, lqd: Sent) -> Vec<String> {
    let wide = (column_width(rows.iter().map(|(name, _)| name)) + 2).max(40);
    let line = |name: &str, [packets, of_packets, bytes, of_bytes]: [String; 4]| {
        format!("{name:<wide$}{packets:>16}{of_packets:>10}{bytes:>20}{of_bytes:>10}")
    };
    let head = line(title, ["packets", "of LQD", "bytes", "of LQD"].map(str::to_owned));
    let row = |(name, sent): (String, Sent)| {
        let of = [share(sent.packets, lqd.packets), share(sent.bytes, lqd.bytes)];
        let [of_packets, of_bytes] = of;
        line(&name, [count(sent.packets), of_packets, count(sent.bytes), of_bytes])
    };
    std::iter::once(head).chain(rows.into_iter().map(row)).collect()
}

/// The slack of Credence's thresholds, the same in replays and in exported decisions.
pub(crate) fn slack_sentence(common: Option<u32>) -> String {
    let by = common.map_or_else(
        || "the slack_bytes of each switch's description".to_owned(),
        |bytes| format!("{} bytes (slack_bytes of the switch's description)", count(bytes.into())),
    );
    let lag = match common {
        Some(0) => {
            " A switch whose ports are a packet behind virtual LQD's then drops more than is \
                    replayed here (docs/decision.md)."
        }
        _ => "",
    };
    format!(
        "Credence lets a queue exceed its threshold by {by}, here and as an exported decision.{lag}"
    )
}

/// Everything that was replayed, by name: LQD, oracles, then policies without one.
pub(crate) fn rows(verdict: &Verdict) -> Vec<(String, Sent)> {
    let mut rows = vec![
        (ReplayPolicy::Lqd.name().to_owned(), sent(verdict, ReplayPolicy::Lqd)),
        ("Credence, perfect oracle".to_owned(), verdict.perfect_oracle),
    ];
    if let Some(threshold) = &verdict.level_threshold {
        let share = percent(f64::from(threshold.threshold_permille) / 1_000.0);
        rows.push((format!("Credence, {} > {share}", threshold.feature), threshold.sent));
    }
    rows.extend(rival_words::rows(verdict));
    let others = verdict.policies.iter().filter(|section| section.policy != ReplayPolicy::Lqd);
    rows.extend(others.map(|section| {
        let name = match section.policy {
            ReplayPolicy::DynamicThresholds => {
                format!("{}, {}", section.policy.name(), alphas(verdict))
            }
            policy => policy.name().to_owned(),
        };
        (name, section.sent)
    }));
    // The best alpha may be one that is listed anyway.
    let mut names = BTreeSet::new();
    rows.retain(|(name, _)| names.insert(name.clone()));
    rows
}

/// The alpha of Dynamic Thresholds, or those of a few switches that differ, in words.
fn alphas(verdict: &Verdict) -> String {
    const MOST_SWITCHES: usize = 4;
    if let Some(alpha) = &verdict.dynamic_thresholds_alpha {
        return alpha_name(verdict, &alpha.to_string());
    }
    if verdict.switches.len() > MOST_SWITCHES {
        return "alpha of each switch".to_owned();
    }
    let of = |switch: &SwitchDrops| {
        let name = switch_name(verdict, switch.trace, switch.switch_id);
        format!("{} ({name})", switch.dynamic_thresholds_alpha)
    };
    let alphas: Vec<String> = verdict.switches.iter().map(of).collect();
    format!("alpha {}", alphas.join(", "))
}

fn sent(verdict: &Verdict, policy: ReplayPolicy) -> Sent {
    let section = verdict.policies.iter().find(|section| section.policy == policy);
    section.map_or_else(Sent::default, |section| section.sent)
}

fn share(part: u64, whole: u64) -> String {
    crate::numbers::optional((whole > 0).then(|| part as f64 / whole as f64), 4)
}
