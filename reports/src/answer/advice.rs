//! What to do, in one line, and why in another.

use super::lines::Loss;
use crate::drop_words::{dynamic_th, own_name, setting_name};
use crate::numbers::{count, percent, time_unit};
use dropcast_measure::verdict::{
    Advice, AdviceDecision, Candidate, Check, CheckResult, CheckStatus, Cost, Verdict,
};

/// What to do: the first is a line by itself, the others say why.
pub(crate) fn advice(verdict: &Verdict) -> Vec<String> {
    let own = own_name(verdict).replace("Dynamic Thresholds, ", "");
    let advice = &verdict.advice;
    if !verdict.is_trusted() {
        return untrusted(verdict);
    }
    match advice.decision {
        AdviceDecision::None if verdict.arrived.packets == 0 => {
            vec!["NO ADVICE: no packet arrives.".to_owned()]
        }
        AdviceDecision::None => vec![format!(
            "NO ADVICE: policies are not compared on switches of this size; {own} drops {} packets.",
            count(verdict.counts.own.packets)
        )],
        AdviceDecision::Keep => vec![kept(verdict, &own)],
        AdviceDecision::Undecided => vec![undecided(advice, &own)],
        AdviceDecision::Set => advice.advised().map_or_else(Vec::new, |of| set(verdict, of, &own)),
    }
}

/// The failed checks: what is wrong and what to do about it.
fn untrusted(verdict: &Verdict) -> Vec<String> {
    let failed = verdict.checks.iter().filter(|result| result.status == CheckStatus::Failed);
    let failed: Vec<&CheckResult> = failed.collect();
    let Some((first, others)) = failed.split_first() else { return Vec::new() };
    let mut lines = vec![format!("DO NOT TRUST these numbers: {}.", first.evidence)];
    lines.extend(first.remedy.as_ref().map(|remedy| format!("What to do: {remedy}.")));
    if !others.is_empty() {
        let others: Vec<&str> = others.iter().map(|result| result.check.name()).collect();
        lines.push(format!("Also failed: {} (--details has all).", others.join(", ")));
    }
    lines
}

fn kept(verdict: &Verdict, own: &str) -> String {
    let advice = &verdict.advice;
    if advice.now_lost_bytes == 0 {
        let is_late =
            |of: &CheckResult| of.check == Check::Backlog && of.status == CheckStatus::Doubtful;
        if verdict.checks.iter().any(is_late) {
            return format!(
                "KEEP {own}: it drops nothing, but this may be a capture behind the buffer."
            );
        }
        let peak = verdict.occupancy.map(|occupancy| percent(occupancy.peak));
        let peak = peak.map(|peak| format!("; LQD's buffer is at most {peak} full"));
        return format!("KEEP {own}: it drops nothing{}.", peak.unwrap_or_default());
    }
    if advice.is_at_bound {
        return format!("KEEP {own}: no policy can lose less of these arrivals.");
    }
    format!(
        "KEEP {own}: nothing else saves {} of the lost bytes beyond noise.",
        percent(advice.least_gain)
    )
}

fn undecided(advice: &Advice, own: &str) -> String {
    let keep = format!("KEEP {own} for now (undecided):");
    match advice.capture_needed_ns {
        Some(needed_ns) => format!(
            "{keep} {} with losses, {} decide: capture {}.",
            episodes(advice.episodes),
            count(advice.episodes_needed),
            rounded(needed_ns)
        ),
        None if advice.episodes == 0 => {
            format!("{keep} no whole episode with losses; capture longer.")
        }
        None => format!("{keep} the better ones differ in too few episodes; capture longer."),
    }
}

fn set(verdict: &Verdict, advised: &Candidate, own: &str) -> Vec<String> {
    let Candidate { cost, policy, lost_bytes, now_lost_bytes, gain, .. } = advised;
    let name = match cost {
        Cost::Setting => setting_name(verdict, advised.alpha),
        Cost::QueueSettings => dynamic_th(verdict, policy.trim_start_matches("dt:alpha="))
            .unwrap_or_else(|| "an alpha for each queue".to_owned()),
        Cost::Credence => "Credence with the forest".to_owned(),
        Cost::OtherChip => "LQD".to_owned(),
    };
    let worse = if gain.worse == 0 { "none".to_owned() } else { count(gain.worse) };
    let evidence = format!(
        "etter in {} of {}, worse in {worse}.",
        count(gain.better),
        episodes(gain.episodes)
    );
    // The table has what is lost of the arrivals that count.
    let why = if *now_lost_bytes == verdict.counts.own.bytes {
        format!("B{evidence}")
    } else {
        let loss = Loss::of(*now_lost_bytes);
        let (lost, now) = (loss.shown(*lost_bytes as i64), loss.shown(*now_lost_bytes as i64));
        format!("Whole trace: loses {lost} in place of {now} {}; b{evidence}", loss.name)
    };
    vec![format!("SET {name} ({policy}) in place of {own}."), why]
}

/// A length of time that is an estimate.
fn rounded(long_ns: u64) -> String {
    let unit = time_unit(long_ns);
    format!("{:.0} {}", (long_ns as f64 / unit.ns).max(1.0), unit.name)
}

fn episodes(all: u64) -> String {
    if all == 1 { "1 episode".to_owned() } else { format!("{} episodes", count(all)) }
}
