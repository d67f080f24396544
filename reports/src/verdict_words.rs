//! A verdict as text: sentences, then tables.

use crate::numbers::{column_width, count, percent};
use crate::overview::overview_lines;
use crate::place_words::place_lines;
use crate::rival_words::{self, alphas as alpha_curve};
use crate::story::{Story, closing, story};
use crate::verdict_figures::switch_name;
use dropcast_data::printable_line;
use dropcast_measure::Report;
use dropcast_measure::verdict::{SwitchDrops, Verdict};
use dropcast_replay::{ReplayPolicy, Sent};
use dropcast_switch::Alphas;
use std::collections::BTreeSet;

/// The sentences of a verdict, a line each; with those of a model's report.
pub(crate) fn story_lines(verdict: &Verdict, report: Option<&Report>) -> Vec<String> {
    let Story { failed, lead, checks, drops, answers, .. } = story(verdict, report);
    let mut lines = failed;
    lines.extend([lead, String::new()]);
    lines.extend(checks);
    lines.extend(drops);
    lines.extend(place_lines(verdict));
    lines.extend(overview_lines(verdict));
    for answer in answers {
        lines.push(String::new());
        lines.extend(answer);
    }
    lines
}

/// What to deploy, a line each, behind an empty one.
pub(crate) fn closing_lines(verdict: &Verdict) -> Vec<String> {
    let lines = closing(verdict);
    if lines.is_empty() { lines } else { [vec![String::new()], lines].concat() }
}

/// The whole verdict for a terminal.
pub fn verdict_text(verdict: &Verdict) -> String {
    let mut lines = story_lines(verdict, None);
    let rows = rows(verdict);
    let wide = (column_width(rows.iter().map(|(name, _)| name)) + 2).max(40);
    lines.extend([
        String::new(),
        format!(
            "{:<wide$}{:>16}{:>10}{:>20}{:>10}",
            "transmitted", "packets", "of LQD", "bytes", "of LQD"
        ),
    ]);
    let lqd = sent(verdict, ReplayPolicy::Lqd);
    lines.extend(rows.into_iter().map(|(name, sent)| {
        format!(
            "{name:<wide$}{:>16}{:>10}{:>20}{:>10}",
            count(sent.packets),
            share(sent.packets, lqd.packets),
            count(sent.bytes),
            share(sent.bytes, lqd.bytes)
        )
    }));
    lines.extend([
        String::new(),
        format!(
            "{:<wide$}{:>16}{:>10}{:>20}{:>10}",
            "alpha", "packets", "of LQD", "bytes", "of LQD"
        ),
    ]);
    lines.extend(alpha_curve(verdict).map(|(alpha, rival)| {
        format!(
            "{alpha:<wide$}{:>16}{:>10}{:>20}{:>10}",
            count(rival.sent.packets),
            share(rival.sent.packets, lqd.packets),
            count(rival.sent.bytes),
            share(rival.sent.bytes, lqd.bytes)
        )
    }));
    lines.extend([String::new(), slack_sentence(verdict.slack_bytes)]);
    lines.extend(closing_lines(verdict));
    text_of(&lines)
}

/// The lines as text: a name of a file begins no further line.
pub(crate) fn text_of(lines: &[String]) -> String {
    lines.iter().map(|line| printable_line(line).into_owned() + "\n").collect()
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
    if verdict.dynamic_thresholds_alpha.is_some() || verdict.switches.len() > MOST_SWITCHES {
        return alpha(verdict.dynamic_thresholds_alpha.as_ref());
    }
    let of = |switch: &SwitchDrops| {
        let name = switch_name(verdict, switch.trace, switch.switch_id);
        format!("{} ({name})", switch.dynamic_thresholds_alpha)
    };
    let alphas: Vec<String> = verdict.switches.iter().map(of).collect();
    format!("alpha {}", alphas.join(", "))
}

/// The alpha of Dynamic Thresholds, in words.
pub(crate) fn alpha(common: Option<&Alphas>) -> String {
    common.map_or_else(|| "alpha of each switch".to_owned(), |alpha| format!("alpha {alpha}"))
}

fn sent(verdict: &Verdict, policy: ReplayPolicy) -> Sent {
    let section = verdict.policies.iter().find(|section| section.policy == policy);
    section.map_or_else(Sent::default, |section| section.sent)
}

fn share(part: u64, whole: u64) -> String {
    crate::numbers::optional((whole > 0).then(|| part as f64 / whole as f64), 4)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check_words::{check_sentences, failed_sentences};
    use crate::drop_words::lead;
    use crate::oracle_words::oracle_sentences;
    use dropcast_data::DropReason;
    use dropcast_measure::verdict::{
        Advice, Candidate, Check, CheckResult, CheckStatus, Conclusion, CongestionSection, Cost,
        Decision, DropCounts, EpisodeGain, Finding, FlowsTold, LevelThreshold, OccupancySection,
        OptimumSection, PauseSection, ReasonSection, RivalKind, RivalSection, RivalsSection,
        VERDICT_SCHEMA_VERSION,
    };
    use dropcast_measure::{AgreementSection, PolicySection};
    use dropcast_pipeline::wall_clock::UtcOffset;

    /// Dynamic Thresholds at 16 is better than Complete Sharing.
    fn rivals() -> RivalsSection {
        let of = |kind, alpha, policy: &str, bytes| RivalSection {
            kind,
            policy: policy.to_owned(),
            alpha,
            sent: Sent { packets: bytes / 1_000, bytes },
            bytes_to_lqd: None,
        };
        RivalsSection {
            policies: vec![
                of(RivalKind::Alpha, Some(16.0), "dt:alpha=16", 98_000),
                of(RivalKind::Alpha, None, "complete-sharing", 96_000),
            ],
            best_alpha: Some(0),
            class_alphas: None,
            optimum: Some(OptimumSection {
                most_bytes: 101_000,
                most_bytes_to_lqd: Some(1.01),
                found: Sent { packets: 100, bytes: 100_400 },
            }),
        }
    }

    fn verdict(conclusion: Conclusion, threshold_bytes: u64) -> Verdict {
        let sent = |bytes| Sent { packets: bytes / 1_000, bytes };
        let section = |(policy, bytes)| PolicySection {
            policy,
            sent: sent(bytes),
            packets_to_lqd: None,
            bytes_to_lqd: None,
        };
        let policies = [(ReplayPolicy::Lqd, 100_000), (ReplayPolicy::FollowLqd, 98_000)];
        Verdict {
            schema_version: VERDICT_SCHEMA_VERSION,
            traces: vec!["trace.parquet".to_owned()],
            arrived: sent(110_000),
            flows: FlowsTold::default(),
            dropped: sent(10_000),
            occupancy: Some(OccupancySection { p50: 0.1, p90: 0.2, p99: 0.3, peak: 0.314 }),
            congestion: CongestionSection { episodes: 1, most_drops: 10, longest_ns: 2_500 },
            dynamic_thresholds_alpha: Alphas::try_from(0.5).ok(),
            alpha_is_assumed: true,
            own_policy: Some("complete-sharing".to_owned()),
            slack_bytes: Some(0),
            policies: policies.map(section).to_vec(),
            perfect_oracle: sent(100_000),
            perfect_oracle_packets_to_lqd: Some(1.0),
            perfect_oracle_bytes_to_lqd: Some(1.0),
            level_threshold: Some(LevelThreshold {
                feature: "level_occupancy".to_owned(),
                other_rows: None,
                threshold_permille: 995,
                sent: sent(threshold_bytes),
                packets_to_lqd: None,
                bytes_to_lqd: None,
            }),
            conclusion,
            advice: Advice::default(),
            rivals: rivals(),
            checks: Vec::new(),
            lqd_agreement: AgreementSection::default(),
            counts: DropCounts {
                real_told: None,
                arrived: sent(110_000),
                lqd: sent(10_000),
                own: sent(14_000),
                best_alpha: Some(sent(12_000)),
                real: Some(sent(30_000)),
                only_real: Some(sent(25_000)),
                only_lqd: Some(sent(5_000)),
                marked: Some(sent(7_000)),
                confusion: None,
            },
            real_reasons: vec![ReasonSection {
                reason: DropReason::Admission,
                dropped: sent(30_000),
                only_real: sent(25_000),
            }],
            pauses: Some(PauseSection { pauses: 2, total_ns: 4_500, longest_ns: 3_000 }),
            timelines: Vec::new(),
            by_trace: Vec::new(),
            hours: Vec::new(),
            utc_offset: UtcOffset::default(),
            episodes: Vec::new(),
            switches: Vec::new(),
            queues: Vec::new(),
            queues_left_out: 0,
        }
    }

    fn gain() -> Conclusion {
        let policy = "dt:alpha=16".to_owned();
        Conclusion::OracleCouldGain { policy, bytes: 2_000, share_of_lqd: 0.02 }
    }

    #[test]
    fn whether_anything_drops_is_one_sentence() {
        let of = |change: fn(&mut Verdict)| {
            let mut verdict = verdict(gain(), 99_000);
            change(&mut verdict);
            lead(&verdict, None)
        };
        assert_eq!(
            of(|_| {}),
            "The real switch drops 30 of 110 packets (27.3%) on this trace; replayed, the switch's policy (Complete \
             Sharing) drops 14; alpha 16 would drop 12, LQD 10."
        );
        assert_eq!(
            of(|verdict| verdict.counts.real = None),
            "The switch's policy (Complete Sharing) drops 14 of 110 packets (12.7%) on this trace; alpha 16 would drop \
             12, LQD 10."
        );
        assert_eq!(
            of(|verdict| {
                verdict.counts.real = None;
                verdict.own_policy = Some("dt:alpha=16".to_owned());
            }),
            "The switch's policy (Dynamic Thresholds, alpha 16) drops 14 of 110 packets (12.7%) on this trace; LQD would \
             drop 10."
        );
        assert_eq!(
            of(|verdict| {
                verdict.counts.real = None;
                verdict.own_policy = None;
                verdict.traces = vec!["a".to_owned(), "b".to_owned()];
            }),
            "Each switch's own policy drops 14 of 110 packets (12.7%) on these 2 traces; alpha 16 would drop 12, LQD 10."
        );
        let nothing = |verdict: &mut Verdict| {
            verdict.counts.own = Sent::default();
            verdict.counts.lqd = Sent::default();
            verdict.counts.real = None;
        };
        let mut verdict = verdict(Conclusion::NothingDropped, 0);
        nothing(&mut verdict);
        assert_eq!(
            lead(&verdict, None),
            "The switch's policy (Complete Sharing) drops nothing on this trace, nor does LQD: its buffer is at most 31.4% \
             full. No oracle is needed."
        );
        let found = |check, status| CheckResult {
            check,
            status,
            evidence: "there is evidence".to_owned(),
            remedy: Some("mend it".to_owned()),
        };
        verdict.checks = vec![found(Check::Backlog, CheckStatus::Doubtful)];
        assert!(lead(&verdict, None).ends_with("cannot tell whether an oracle is needed."));
        let beware = "Beware: there is evidence. What to do: mend it.";
        assert_eq!(check_sentences(&verdict), [beware, "Checks doubtful: backlog."]);
        assert!(verdict.is_trusted() && failed_sentences(&verdict).is_empty());
        // Real drops are drops, whatever the replay does.
        verdict.counts.real = Some(Sent { packets: 30, bytes: 30_000 });
        verdict.checks.push(found(Check::Drops, CheckStatus::Failed));
        assert_eq!(
            lead(&verdict, None),
            "The real switch drops 30 of 110 packets (27.3%) on this trace; replayed, the switch's policy (Complete \
             Sharing) drops 0."
        );
        let failed = "Do not trust these numbers: there is evidence. What to do: mend it.";
        assert_eq!(failed_sentences(&verdict), [failed]);
        assert!(!verdict.is_trusted() && crate::story::closing(&verdict).is_empty());
        verdict.counts.arrived = Sent::default();
        assert!(lead(&verdict, None).starts_with("No packet arrives on this trace"));
    }

    #[test]
    fn what_an_oracle_could_do_is_said_with_numbers() {
        let says = |conclusion, threshold_bytes, expected: &[&str]| {
            let mut verdict = verdict(conclusion, threshold_bytes);
            verdict.rivals.optimum = None;
            assert_eq!(oracle_sentences(&verdict, None, false), expected);
            let with_model = oracle_sentences(&verdict, None, true);
            assert_eq!(with_model, &expected[..1], "one comparison is told against the model");
        };
        let policy = || "dt:alpha=16".to_owned();
        says(
            Conclusion::NothingDropped,
            0,
            &["LQD drops nothing, so an oracle of it has nothing to predict."],
        );
        says(
            Conclusion::NoOracleNeeded { policy: policy(), more_bytes: 0 },
            0,
            &[
                "A perfect oracle adds nothing: Dynamic Thresholds, alpha 16 transmits as many bytes as Credence with one.",
                "The best oracle of one comparison (level_occupancy above 99.5% of the buffer) transmits no more than that.",
            ],
        );
        says(
            Conclusion::NoOracleNeeded { policy: policy(), more_bytes: 10 },
            101_010,
            &[
                "A perfect oracle adds nothing: Dynamic Thresholds, alpha 16 transmits 10 bytes more than Credence with one.",
                "The best oracle of one comparison (level_occupancy above 99.5% of the buffer) transmits 1,000 bytes more \
                 than that.",
            ],
        );
        says(
            gain(),
            99_000,
            &[
                "A perfect oracle saves 2,000 bytes (2% of what LQD transmits) over Dynamic Thresholds, alpha 16, the best \
                 policy without one.",
                "The best oracle of one comparison (level_occupancy above 99.5% of the buffer) transmits 1,000 bytes more \
                 than that.",
            ],
        );
    }

    #[test]
    fn a_terminal_gets_all_of_it_in_the_order_of_its_questions() {
        let text = verdict_text(&verdict(gain(), 99_000));
        let mut from = 0;
        for words in [
            "The real switch drops 30 of 110 packets (27.3%) on this trace; replayed, ",
            "110 packets arrive (110,000 bytes); Complete Sharing drops 14 (14,000 bytes), alpha 16 drops 12 (12,000 \
             bytes), LQD drops 10 (10,000 bytes).",
            "Where a switch's description has no dt_alpha, its policy is taken to be Complete Sharing.",
            "LQD's drops come in 1 episode of congestion",
            "The real switch drops 30 packets (30,000 bytes). LQD transmits 25 packets (25,000 bytes) of them, and drops \
             5 packets (5,000 bytes) that the real switch transmits.",
            "drops: 30 by admission.",
            "Of the alphas of Dynamic Thresholds 16 loses least: it transmits 2,000 bytes more than Complete Sharing, 50% of \
             what LQD gains.",
            "A perfect oracle saves 2,000 bytes",
            "No policy, even if it knows all arrivals, transmits more than 1,000 bytes (1%) more than LQD; a schedule was \
             found that transmits 400 bytes more.",
            "These are totals of an open-loop replay.",
            "Credence, level_occupancy > 99.5%",
        ] {
            let at = text[from..].find(words);
            from += at.unwrap_or_else(|| panic!("{words:?} is not there, or too early: {text}"));
        }
        assert!(
            text.lines().any(|line| line.starts_with("FollowLQD") && line.contains("0.9800")),
            "{text}"
        );
    }

    #[test]
    fn the_last_lines_say_what_to_do() {
        let gain = |bytes, better, ends: Option<(i64, i64)>| EpisodeGain {
            bytes,
            low_bytes: ends.map(|ends| ends.0),
            high_bytes: ends.map(|ends| ends.1),
            episodes: 14,
            better,
            worse: 0,
            choices: 14,
        };
        let candidate = |cost, policy: &str, alpha, gain, finding| Candidate {
            cost,
            policy: policy.to_owned(),
            alpha,
            lost_bytes: 3_000,
            now_lost_bytes: 5_000,
            gain,
            finding,
            beaten_by: None,
        };
        let text = |advice: Advice| {
            let mut verdict = verdict(Conclusion::NothingDropped, 0);
            verdict.advice = advice;
            closing_lines(&verdict).join("\n")
        };
        let sure = gain(2_000, 13, Some((500, 3_500)));
        let alpha = candidate(Cost::Setting, "dt:alpha=16", Some(16.0), sure, Finding::Better);
        let gains = gain(400, 5, None);
        let model =
            candidate(Cost::Credence, "credence:model=m", None, gains, Finding::TooFewEpisodes);
        let set = Advice {
            decision: Decision::Set,
            policy: Some("dt:alpha=16".to_owned()),
            now_lost_bytes: 5_000,
            candidates: vec![alpha, model],
            ..Advice::default()
        };
        assert_eq!(
            text(set.clone()),
            "\nSet alpha 16 (dt:alpha=16): it loses 3,000 bytes where Complete Sharing loses 5,000; better in 13 of 14 episodes, \
             worse in none (99% interval for the best of 14: 500 to 3,500 bytes saved).\nCredence with the model loses \
             3,000 bytes, 400 fewer than now: better in 5 of 14 episodes, worse in none, too few episodes to tell."
        );
        let keep = |now_lost_bytes, is_at_bound, episodes| Advice {
            decision: Decision::Keep,
            now_lost_bytes,
            is_at_bound,
            episodes,
            least_gain: 0.05,
            ..Advice::default()
        };
        assert_eq!(text(keep(0, false, 0)), "\nKeep Complete Sharing: it drops nothing.");
        let at_bound = text(keep(9, true, 1));
        assert_eq!(at_bound, "\nKeep Complete Sharing: no policy loses less of these arrivals.");
        assert!(
            text(keep(9, false, 40)).contains("nothing that was compared saves 5% of the lost")
        );
        let undecided = Advice {
            decision: Decision::Undecided,
            episodes_needed: 12,
            capture_needed_ns: Some(600_000_000),
            ..keep(9, false, 3)
        };
        assert_eq!(
            text(undecided),
            "\nUndecided, so keep Complete Sharing for now: it loses packets in 3 episodes, and alphas can be compared from 12 \
             on. A capture of 600 ms would have as many."
        );
        assert_eq!(text(Advice::default()), "");
    }
}
