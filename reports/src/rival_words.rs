//! What a switch without an oracle could do instead, in sentences and rows.

use crate::numbers::{count, ratio};
use dropcast_measure::Report;
use dropcast_measure::verdict::{FlowsTold, RivalKind, RivalSection, Verdict};
use dropcast_replay::{ReplayPolicy, Sent};
use dropcast_switch::PolicySpec;

/// What Credence transmits with a report's model, if it was replayed.
pub(crate) fn model_sent(report: &Report) -> Option<Sent> {
    let policies = &report.replay.as_ref()?.total.policies;
    let credence = policies.iter().find(|section| section.policy == ReplayPolicy::Credence)?;
    Some(credence.sent)
}

/// The name of a policy that any switch can run, or of one that was asked for.
pub(crate) fn name(rival: &RivalSection) -> String {
    match rival.kind {
        RivalKind::Alpha => rival.alpha.map_or_else(
            || "Complete Sharing".to_owned(),
            |alpha| format!("Dynamic Thresholds, alpha {alpha}"),
        ),
        RivalKind::ClassAlphas => format!("Dynamic Thresholds, alpha {}", by_queue(rival)),
        RivalKind::Asked => rival.policy.clone(),
    }
}

/// The alphas by queue, as settings have them.
fn by_queue(rival: &RivalSection) -> &str {
    rival.policy.trim_start_matches("dt:alpha=")
}

/// The name of the policy that the registry knows by this text.
pub(crate) fn name_of(verdict: &Verdict, policy: &str) -> String {
    let rival = verdict.rivals.policies.iter().find(|rival| rival.policy == policy);
    rival.map_or_else(|| policy.to_owned(), name)
}

/// Which alpha to set, and what it saves. Nothing where neither LQD nor the switch's own policy drops.
pub(crate) fn alpha_sentences(verdict: &Verdict) -> Vec<String> {
    let rivals = &verdict.rivals;
    let Some(alpha) = rivals.best_alpha() else { return Vec::new() };
    if verdict.dropped.packets + verdict.counts.own.packets == 0 {
        return Vec::new();
    }
    let is_shared = |of: &&RivalSection| of.kind == RivalKind::Alpha && of.alpha.is_none();
    let shared = rivals.policies.iter().find(is_shared).map_or(0, |of| of.sent.bytes);
    let mut sentences = vec![alpha_sentence(alpha, shared, lqd_bytes(verdict))];
    sentences.extend(own_alpha_sentence(verdict, alpha));
    if let Some(each) = rivals.class_alphas() {
        sentences.push(format!(
            "With an alpha for each queue of a port, {}, it transmits {} that alpha.",
            by_queue(each),
            compared(each.sent.bytes, alpha.sent.bytes)
        ));
    }
    sentences
}

/// What a model adds to the best alpha under Credence, where `model` is transmitted. Nothing where LQD drops nothing.
pub(crate) fn model_sentence(verdict: &Verdict, model: Sent) -> Option<String> {
    let alpha = verdict.rivals.best_alpha().filter(|_| verdict.dropped.packets > 0)?;
    let more = compared(model.bytes, alpha.sent.bytes);
    Some(format!("Credence with this model transmits {more} {}.", that(alpha)))
}

/// What LQD transmits, bytes.
pub(crate) fn lqd_bytes(verdict: &Verdict) -> u64 {
    let section = verdict.policies.iter().find(|of| of.policy == ReplayPolicy::Lqd);
    section.map_or(0, |section| section.sent.bytes)
}

fn that(alpha: &RivalSection) -> &'static str {
    if alpha.alpha.is_some() { "that alpha" } else { "Complete Sharing" }
}

fn alpha_sentence(alpha: &RivalSection, shared: u64, lqd: u64) -> String {
    let Some(number) = alpha.alpha else {
        return format!(
            "No alpha of Dynamic Thresholds is better here than Complete Sharing, which transmits {} LQD.",
            compared(shared, lqd)
        );
    };
    let gain = match (alpha.sent.bytes.checked_sub(shared), lqd.checked_sub(shared)) {
        (Some(own), Some(of)) if of > 0 => format!(", {} of what LQD gains", percent_of(own, of)),
        _ => String::new(),
    };
    format!(
        "Of the alphas of Dynamic Thresholds {number} loses least: it transmits {} Complete Sharing{gain}.",
        compared(alpha.sent.bytes, shared)
    )
}

/// What the best alpha is worth to a switch whose own is known.
fn own_alpha_sentence(verdict: &Verdict, alpha: &RivalSection) -> Option<String> {
    let mut policies = verdict.policies.iter();
    let sent = policies.find(|of| of.policy == ReplayPolicy::DynamicThresholds)?.sent.bytes;
    let own = match (verdict.alpha_is_assumed, &verdict.dynamic_thresholds_alpha) {
        (true, _) => return None,
        (false, Some(own)) => format!("Your alpha, {own},"),
        (false, None) => "Your alphas".to_owned(),
    };
    let that = that(alpha);
    let verb = if verdict.dynamic_thresholds_alpha.is_some() { "transmits" } else { "transmit" };
    Some(format!("{own} {verb} {} {that}.", compared(sent, alpha.sent.bytes)))
}

/// How many bytes more or fewer.
fn compared(bytes: u64, other: u64) -> String {
    match bytes.cmp(&other) {
        std::cmp::Ordering::Equal => "as many bytes as".to_owned(),
        std::cmp::Ordering::Greater => format!("{} bytes more than", count(bytes - other)),
        std::cmp::Ordering::Less => format!("{} bytes fewer than", count(other - bytes)),
    }
}

/// A share in percent, with up to three decimals.
pub(crate) fn percent_of(part: u64, whole: u64) -> String {
    if whole == 0 {
        return "undefined".to_owned();
    }
    let text = ratio(part as f64 / whole as f64 * 100.0, 3);
    let text =
        if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    format!("{text}%")
}

/// Whether one comparison does as well as a report's model.
pub(crate) fn comparison_sentence(report: &Report) -> Option<String> {
    let one = report.one_comparison.as_ref()?;
    let share = percent_of(one.threshold_permille.into(), 1_000);
    let bytes = count(one.more_bytes.unsigned_abs());
    let chosen = if one.chosen_on_other_rows {
        "It was chosen on the rows that are not measured here"
    } else {
        "It was chosen on these very rows"
    };
    let text = match (one.does_as_well, one.more_bytes) {
        (true, 0) => format!(
            "One comparison, {} above {share} of the buffer, does as well as this model: Credence transmits as many bytes.",
            one.feature
        ),
        (true, _) => format!(
            "One comparison, {} above {share} of the buffer, does as well as this model: Credence transmits {bytes} \
             bytes more.",
            one.feature
        ),
        (false, _) => format!(
            "The best single comparison, {} above {share} of the buffer, does not do as well as this model: Credence \
             transmits {bytes} bytes fewer.",
            one.feature
        ),
    };
    Some(format!("{text} {chosen}."))
}

/// What a trace does not tell the policies that were asked for.
pub(crate) fn asked_sentences(verdict: &Verdict) -> Vec<String> {
    let FlowsTold { known, first_rtt } = verdict.flows;
    let sentence = |rival: &RivalSection| {
        // Policies of the user's own have names that no registry knows.
        let spec: PolicySpec = rival.policy.parse().ok()?;
        let policy = &rival.policy;
        if spec.looks_at_flows() && known == 0 {
            return Some(format!(
                "No flow of a packet is known here: to {policy} all are of one. dropcast collect --flows keeps flows, if the \
                 events tell them (docs/trace.md)."
            ));
        }
        (spec.looks_at_first_rtt() && first_rtt == 0).then(|| {
            format!(
                "No packet is known here to be of its flow's first round trip, which {policy} looks at. dropcast collect \
                 --flows keeps that, if the events tell it (docs/trace.md); or try it in the fabric (dropcast-lab simulate)."
            )
        })
    };
    verdict.rivals.asked().filter_map(sentence).collect()
}

/// Rows of the table of policies: the best alpha, one for each queue, what was asked for, the optimum.
pub(crate) fn rows(verdict: &Verdict) -> Vec<(String, Sent)> {
    let rivals = &verdict.rivals;
    let best = [rivals.best_alpha(), rivals.class_alphas()];
    let all = best.into_iter().flatten().chain(rivals.asked());
    let mut rows: Vec<(String, Sent)> = all.map(|of| (name(of), of.sent)).collect();
    if let Some(optimum) = rivals.optimum {
        rows.push(("OPT, the best schedule found, by bytes".to_owned(), optimum.found));
    }
    rows
}

/// What is transmitted with each alpha, the highest last: alpha, bytes, and these as a share of LQD's.
pub(crate) fn alphas(verdict: &Verdict) -> impl Iterator<Item = (String, &RivalSection)> {
    let alphas = verdict.rivals.policies.iter().filter(|rival| rival.kind == RivalKind::Alpha);
    alphas
        .map(|rival| (rival.alpha.map_or("infinite".to_owned(), |alpha| alpha.to_string()), rival))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_and_differences_in_words() {
        assert_eq!(percent_of(1, 4), "25%");
        assert_eq!(percent_of(1, 3), "33.333%");
        assert_eq!(percent_of(1, 0), "undefined");
        assert_eq!(compared(5, 5), "as many bytes as");
        assert_eq!(compared(2_005, 5), "2,000 bytes more than");
        assert_eq!(compared(5, 2_005), "2,000 bytes fewer than");
    }
}
