//! What an oracle could be worth on a trace, in sentences and as text.

use crate::numbers::{count, duration, ratio};
use crate::place_words::place_lines;
use crate::rival_words::{self, alphas as alpha_curve, asked_sentences, name_of, rival_sentences};
use crate::verdict_figures::switch_name;
use dropcast_data::DropReason;
use dropcast_pipeline::collect::note_words;
use dropcast_pipeline::report::verdict::{Conclusion, DropCounts, SwitchDrops, Verdict};
use dropcast_replay::{ReplayPolicy, Sent};
use dropcast_switch::Alphas;

/// The verdict on whole traces in one sentence.
pub fn verdict_sentence(verdict: &Verdict) -> String {
    sentence_of(verdict, None)
}

/// The verdict in one sentence, which names the `rows` that it is of, if these are not whole traces:
/// "the test rows".
pub(crate) fn sentence_of(verdict: &Verdict, rows: Option<&str>) -> String {
    let on_rows = rows.map_or_else(String::new, |rows| format!(" on {rows}"));
    let place = rows.unwrap_or("this trace");
    match verdict.conclusion {
        Conclusion::NothingDropped if verdict.arrived.packets == 0 => {
            format!("No packet arrives on {place}, so there is nothing to judge.")
        }
        Conclusion::NothingDropped if verdict.cautions.contains_key("no-backlog") => {
            format!(
                "LQD drops nothing on {place}, but the trace was probably captured behind the buffer: \
                 then it cannot tell whether an oracle is needed."
            )
        }
        Conclusion::NothingDropped => {
            let peak = verdict.occupancy.map_or_else(String::new, |occupancy| {
                format!(": its buffer is at most {} full", percent(occupancy.peak))
            });
            match rows {
                None => format!("LQD drops nothing on this trace{peak}. No oracle is needed."),
                Some(rows) => format!(
                    "LQD drops nothing on {rows}{peak}. Whether an oracle is worth it, other rows have \
                     to tell."
                ),
            }
        }
        Conclusion::NoOracleNeeded { ref policy, more_bytes } => {
            let more = match more_bytes {
                0 => "as many bytes as".to_owned(),
                more => format!("{} bytes more than", count(more)),
            };
            let name = name_of(verdict, policy);
            let what = format!("{name} transmits {more} Credence with a perfect oracle");
            match threshold_gain(verdict, verdict.perfect_oracle.bytes + more_bytes) {
                Some((threshold, gained)) => format!(
                    "A perfect oracle gains nothing in throughput{on_rows}: {what}. But one threshold on \
                     {threshold} transmits {} bytes more than that.",
                    count(gained),
                ),
                None => format!("No oracle is needed for throughput{on_rows}: {what}."),
            }
        }
        Conclusion::OracleCouldGain { ref policy, bytes, share_of_lqd } => {
            let threshold = match threshold_gain(verdict, verdict.perfect_oracle.bytes - bytes) {
                Some((threshold, gained)) => format!(
                    " One threshold on {threshold} gets {} of that gain.",
                    percent(gained as f64 / bytes as f64)
                ),
                None if verdict.level_threshold.is_none() => String::new(),
                None => " No single threshold on a level gets any of that gain.".to_owned(),
            };
            format!(
                "A perfect oracle saves {} bytes{on_rows} ({} of what LQD transmits) over {}, the best policy \
                 without one.{threshold}",
                count(bytes),
                percent(share_of_lqd),
                name_of(verdict, policy)
            )
        }
    }
}

/// The best threshold, in words, and the bytes that Credence with it transmits more than the best policy
/// without an oracle, if any.
fn threshold_gain(verdict: &Verdict, best_bytes: u64) -> Option<(String, u64)> {
    let threshold = verdict.level_threshold.as_ref()?;
    let gained = threshold.sent.bytes.checked_sub(best_bytes)?;
    let share = percent(f64::from(threshold.threshold_permille) / 1_000.0);
    (gained > 0).then(|| (format!("{} ({share} of the buffer)", threshold.feature), gained))
}

/// Why the numbers of a verdict may be wrong.
pub(crate) fn cautions(verdict: &Verdict) -> Vec<String> {
    let notes = verdict.cautions.iter();
    let mut sentences: Vec<String> =
        notes.map(|(note, &rows)| format!("Beware: {}.", note_words(note, rows))).collect();
    let agreement = &verdict.lqd_agreement.confusion;
    if agreement.fp + agreement.fn_ > 0 {
        sentences.push(format!(
            "Beware: by the labels LQD drops {} packets; drained at line rate it drops {}, and not all are the same \
             packets. Labels follow the trace's own departures; the policies below are drained at line rate.",
            count(agreement.tp + agreement.fn_),
            count(agreement.tp + agreement.fp)
        ));
    }
    if let Some(told) = verdict.counts.real_told.filter(|told| *told != verdict.counts.arrived) {
        sentences.push(format!(
            "Beware: of {} packets alone the traces tell whether the real switch dropped them.",
            count(told.packets)
        ));
    }
    sentences
}

/// What the trace is like: drops, occupancy, congestion.
pub fn trace_sentences(verdict: &Verdict) -> Vec<String> {
    let Verdict { arrived, dropped, occupancy, congestion, .. } = verdict;
    let mut sentences = vec![format!(
        "{} packets arrive ({} bytes); LQD drops {} of them ({} bytes).",
        count(arrived.packets),
        count(arrived.bytes),
        count(dropped.packets),
        count(dropped.bytes)
    )];
    if let Some(occupancy) = occupancy {
        sentences.push(format!(
            "LQD's buffer when packets arrive: median {} full, 90th percentile {}, 99th percentile \
             {}, peak {}.",
            percent(occupancy.p50),
            percent(occupancy.p90),
            percent(occupancy.p99),
            percent(occupancy.peak)
        ));
    }
    if congestion.episodes > 0 {
        let episodes = if congestion.episodes == 1 { "episode" } else { "episodes" };
        sentences.push(format!(
            "Drops come in {} {episodes} of congestion; the longest lasts {}, the worst drops {} \
             packets.",
            count(congestion.episodes),
            duration(congestion.longest_ns),
            count(congestion.most_drops)
        ));
    }
    sentences.extend(real_drop_sentences(verdict));
    if let Some(marked) = verdict.counts.marked {
        sentences.push(format!(
            "The real switch marks {} packets ({} bytes) with congestion experienced (ECN).",
            count(marked.packets),
            count(marked.bytes)
        ));
    }
    if let Some(pauses) = verdict.pauses {
        sentences.push(format!(
            "Queues are paused (PFC) {}; {} in all, the longest {}.",
            times(pauses.pauses),
            duration(pauses.total_ns),
            duration(pauses.longest_ns)
        ));
    }
    sentences.push(CAVEAT.to_owned());
    sentences
}

fn times(number: u64) -> String {
    match number {
        1 => "once".to_owned(),
        number => format!("{} times", count(number)),
    }
}

/// What the real switch dropped against LQD. Nothing if the traces tell of no real drops.
fn real_drop_sentences(verdict: &Verdict) -> Vec<String> {
    let DropCounts { real, only_real, only_lqd, .. } = verdict.counts;
    let (Some(real), Some(only_real), Some(only_lqd)) = (real, only_real, only_lqd) else {
        return Vec::new();
    };
    let amount =
        |sent: Sent| format!("{} packets ({} bytes)", count(sent.packets), count(sent.bytes));
    let mut sentences = vec![format!(
        "The real switch drops {}. LQD transmits {} of them, and drops {} that the real switch \
         transmits.",
        amount(real),
        amount(only_real),
        amount(only_lqd)
    )];
    let reasons = verdict.real_reasons.iter().map(|of| {
        let reason = match of.reason {
            DropReason::Unstated => "for a reason that is not stated",
            DropReason::Admission => "by admission",
            DropReason::PushOut => "by push-out",
            DropReason::Policy => "by policy",
        };
        format!("{} {reason}", count(of.dropped.packets))
    });
    let reasons: Vec<String> = reasons.collect();
    if verdict.real_reasons.iter().any(|of| of.reason != DropReason::Unstated) {
        sentences.push(format!("Packets that the real switch drops: {}.", reasons.join(", ")));
    }
    sentences
}

const CAVEAT: &str = "These are totals of an open-loop replay. Which packets are dropped matters to flows, \
                      too: `dropcast simulate` shows that with senders that react.";

/// The whole verdict for a terminal.
pub fn verdict_text(verdict: &Verdict) -> String {
    let mut lines = vec![verdict_sentence(verdict), String::new()];
    lines.extend(cautions(verdict));
    lines.extend(rival_sentences(verdict, None));
    lines.extend(asked_sentences(verdict));
    lines.extend(trace_sentences(verdict));
    lines.extend(place_lines(verdict));
    let rows = rows(verdict);
    let wide = rows.iter().map(|(name, _)| name.chars().count() + 2).max().unwrap_or(0).max(40);
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
    lines.join("\n") + "\n"
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

fn percent(share: f64) -> String {
    let text = ratio(share * 100.0, 1);
    format!("{}%", text.strip_suffix(".0").unwrap_or(&text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use dropcast_pipeline::report::verdict::{
        CongestionSection, LevelThreshold, OccupancySection, OptimumSection, PauseSection,
        ReasonSection, RivalKind, RivalSection, RivalsSection, VERDICT_SCHEMA_VERSION,
    };
    use dropcast_pipeline::report::{AgreementSection, PolicySection};
    use std::collections::BTreeMap;

    /// Dynamic Thresholds at 16 is better than Complete Sharing, the untrained rule over it better than both.
    fn rivals() -> RivalsSection {
        let of = |kind, alpha, policy: &str, bytes| RivalSection {
            kind,
            policy: policy.to_owned(),
            alpha,
            sent: Sent { packets: bytes / 1_000, bytes },
            bytes_to_lqd: None,
            other_rows: None,
        };
        RivalsSection {
            policies: vec![
                of(RivalKind::Alpha, Some(16.0), "dt:alpha=16", 98_000),
                of(RivalKind::Alpha, None, "complete-sharing", 96_000),
                of(RivalKind::UntrainedRule, Some(16.0), "oracle:base=dt:alpha=16", 98_500),
            ],
            chosen_on_other_rows: false,
            best_alpha: Some(0),
            best_rule: Some(2),
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
            dropped: sent(10_000),
            occupancy: Some(OccupancySection { p50: 0.1, p90: 0.2, p99: 0.3, peak: 0.314 }),
            congestion: CongestionSection { episodes: 1, most_drops: 10, longest_ns: 2_500 },
            dynamic_thresholds_alpha: Alphas::try_from(0.5).ok(),
            alpha_is_assumed: true,
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
            rivals: rivals(),
            cautions: BTreeMap::new(),
            lqd_agreement: AgreementSection::default(),
            counts: DropCounts {
                real_told: None,
                arrived: sent(110_000),
                lqd: sent(10_000),
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
            episodes: Vec::new(),
            switches: Vec::new(),
            queues: Vec::new(),
            queues_left_out: 0,
        }
    }

    #[test]
    fn each_conclusion_is_one_sentence_with_numbers() {
        let says = |conclusion, threshold_bytes, expected: &str| {
            assert_eq!(verdict_sentence(&verdict(conclusion, threshold_bytes)), expected);
        };
        says(
            Conclusion::NothingDropped,
            0,
            "LQD drops nothing on this trace: its buffer is at most 31.4% full. No oracle is needed.",
        );
        let policy = || "dt:alpha=16".to_owned();
        says(
            Conclusion::NoOracleNeeded { policy: policy(), more_bytes: 0 },
            0,
            "No oracle is needed for throughput: Dynamic Thresholds, alpha 16 transmits as many bytes as Credence with \
             a perfect oracle.",
        );
        says(
            Conclusion::NoOracleNeeded { policy: policy(), more_bytes: 10 },
            101_010,
            "A perfect oracle gains nothing in throughput: Dynamic Thresholds, alpha 16 transmits 10 bytes more than Credence \
             with a perfect oracle. But one threshold on level_occupancy (99.5% of the buffer) transmits \
             1,000 bytes more than that.",
        );
        let gain =
            || Conclusion::OracleCouldGain { policy: policy(), bytes: 2_000, share_of_lqd: 0.02 };
        says(
            gain(),
            99_000,
            "A perfect oracle saves 2,000 bytes (2% of what LQD transmits) over Dynamic Thresholds, alpha 16, the best \
             policy without one. One threshold on level_occupancy (99.5% of the buffer) gets \
             50% of that gain.",
        );
        says(
            gain(),
            97_000,
            "A perfect oracle saves 2,000 bytes (2% of what LQD transmits) over Dynamic Thresholds, alpha 16, the best \
             policy without one. No single threshold on a level gets any of that gain.",
        );
    }

    #[test]
    fn a_terminal_gets_all_of_it() {
        let conclusion = Conclusion::OracleCouldGain {
            policy: "dt:alpha=16".to_owned(),
            bytes: 2_000,
            share_of_lqd: 0.02,
        };
        let text = verdict_text(&verdict(conclusion, 99_000));
        assert!(text.contains("Drops come in 1 episode of congestion"), "{text}");
        assert!(text.contains("Credence, level_occupancy > 99.5%"), "{text}");
        for sentence in [
            "Set alpha to 16: Dynamic Thresholds then transmits 2,000 bytes more than Complete Sharing, 50% of what LQD \
             gains. It needs no oracle.",
            "The untrained rule (oracle:base=dt:alpha=16) transmits 500 bytes more than that alpha; it needs no training and no \
             table.",
            "Alpha and rule were chosen on these very rows.",
            "No policy, even if it knows all arrivals, transmits more than 1,000 bytes (1%) more than LQD; a schedule was \
             found that transmits 400 bytes more.",
        ] {
            assert!(text.contains(sentence), "{text}");
        }
        let real = "The real switch drops 30 packets (30,000 bytes). LQD transmits 25 packets (25,000 \
                    bytes) of them, and drops 5 packets (5,000 bytes) that the real switch transmits.";
        assert!(text.contains(real) && text.contains("drops: 30 by admission."), "{text}");
        assert!(
            text.lines().any(|line| line.starts_with("FollowLQD") && line.contains("0.9800")),
            "{text}"
        );
    }
}
