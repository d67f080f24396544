//! What is dropped, in sentences.

use crate::numbers::{count, duration, percent};
use dropcast_data::DropReason;
use dropcast_measure::verdict::{DropCounts, Verdict};
use dropcast_replay::Sent;

/// What the switch does by itself, in words.
pub(crate) fn own_name(verdict: &Verdict) -> String {
    match verdict.own_policy.as_deref() {
        None => "each switch's own policy".to_owned(),
        Some("complete-sharing") => "Complete Sharing".to_owned(),
        Some(policy) => thresholds_name(verdict, policy.trim_start_matches("dt:alpha=")),
    }
}

/// The best alpha in words, unless it is what the switch does by itself.
pub(crate) fn better_alpha(verdict: &Verdict) -> Option<String> {
    let best = verdict.rivals.best_alpha()?;
    let is_own = verdict.own_policy.as_deref() == Some(&best.policy);
    (!is_own).then(|| setting_name(verdict, best.alpha))
}

/// An alpha, or the absence of one.
pub(crate) fn setting_name(verdict: &Verdict, alpha: Option<f64>) -> String {
    let name = |alpha: f64| alpha_name(verdict, &alpha.to_string());
    alpha.map_or_else(|| "Complete Sharing".to_owned(), name)
}

/// Alphas as the description of the switch has them: numbers, or SONiC's `dynamic_th`.
pub(crate) fn alpha_name(verdict: &Verdict, alphas: &str) -> String {
    dynamic_th(verdict, alphas).unwrap_or_else(|| format!("alpha {alphas}"))
}

/// Dynamic Thresholds with these alphas; the name of SONiC's setting says what it is a setting of.
pub(crate) fn thresholds_name(verdict: &Verdict, alphas: &str) -> String {
    dynamic_th(verdict, alphas).unwrap_or_else(|| format!("Dynamic Thresholds, alpha {alphas}"))
}

/// Alphas in SONiC's form, if all descriptions have that.
pub(crate) fn dynamic_th(verdict: &Verdict, alphas: &str) -> Option<String> {
    let mut switches = verdict.switches.iter();
    let is_given = switches.len() > 0 && switches.all(|switch| switch.alpha_is_power);
    Some(format!("dynamic_th {}", powers_of_two(alphas).filter(|_| is_given)?))
}

/// A number, or several in a list, as powers of two; `None` if one is none.
pub(crate) fn powers_of_two(numbers: &str) -> Option<String> {
    let mut powers = String::new();
    for part in numbers.split_inclusive(['[', ',', ' ', ']']) {
        let number = part.trim_end_matches(['[', ',', ' ', ']']);
        if !number.is_empty() {
            let power = number.parse::<f64>().ok()?.log2();
            powers += &(power.fract() == 0.0).then(|| power.to_string())?;
        }
        powers += &part[number.len()..];
    }
    Some(powers)
}

/// What to sort by: packets that the real switch drops, or its own policy where that is unknown; then those of LQD.
pub(crate) fn dropped(counts: &DropCounts) -> [u64; 2] {
    [counts.real.unwrap_or(counts.own).packets, counts.lqd.packets]
}

/// What the switch does by itself and which alpha is best, for legends.
pub(crate) fn policies_sentence(verdict: &Verdict) -> String {
    let alpha = better_alpha(verdict).map(|name| format!(", the best alpha is {name}"));
    let alpha = alpha.unwrap_or_default().replace("is alpha ", "is ");
    format!("The switch's own policy is {}{alpha}.", own_name(verdict))
}

/// What the trace is like: drops, occupancy, congestion.
pub(crate) fn drop_sentences(verdict: &Verdict) -> Vec<String> {
    let Verdict { arrived, dropped, occupancy, congestion, counts, .. } = verdict;
    let amount = |name: &str, sent: Sent| {
        format!("{name} drops {} ({} bytes)", count(sent.packets), count(sent.bytes))
    };
    let mut amounts = vec![amount(&own_name(verdict), counts.own)];
    amounts.extend(
        better_alpha(verdict).zip(counts.best_alpha).map(|(name, sent)| amount(&name, sent)),
    );
    amounts.push(amount("LQD", *dropped));
    let mut sentences = vec![format!(
        "{} packets arrive ({} bytes); {}.",
        count(arrived.packets),
        count(arrived.bytes),
        amounts.join(", ")
    )];
    if verdict.alpha_is_assumed {
        let assumed = "Where a switch's description has no dt_alpha, its policy is taken to be Complete Sharing.";
        sentences.push(assumed.to_owned());
    }
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
            "LQD's drops come in {} {episodes} of congestion; the longest lasts {}, the worst drops {} \
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
    sentences
}

fn times(number: u64) -> String {
    match number {
        1 => "once".to_owned(),
        number => format!("{} times", count(number)),
    }
}

/// What the real switch dropped against LQD. Nothing if the traces have no real drops.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn alphas_as_powers_of_two() {
        assert_eq!(powers_of_two("8").as_deref(), Some("3"));
        assert_eq!(powers_of_two("[0.0078125,16]").as_deref(), Some("[-7,4]"));
        assert_eq!(powers_of_two("1, 0.5").as_deref(), Some("0, -1"));
        assert_eq!(powers_of_two("3"), None);
        assert_eq!(powers_of_two("0"), None);
    }
}
