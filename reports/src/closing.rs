//! What to deploy: the last word of a report.

use crate::drop_words::{better_alpha, own_name};
use crate::numbers::{count, grouped};
use dropcast_pipeline::report::verdict::{GainRange, RivalSection, Verdict};

/// What to deploy, and why; nothing where no alpha was replayed.
pub(crate) fn closing_sentences(verdict: &Verdict) -> Vec<String> {
    let (rivals, own) = (&verdict.rivals, own_name(verdict));
    let (Some(alpha), Some(over_own)) = (rivals.best_alpha(), rivals.gains.alpha_over_own) else {
        return Vec::new();
    };
    if verdict.counts.own.packets == 0 {
        return vec![format!("Deploy: what the switch has, {own}, which drops nothing.")];
    }
    let is_own = verdict.own_policy.as_deref() == Some(&alpha.policy);
    let range = |gain: &GainRange| range(gain, rivals.gains.stretches);
    let better = better_alpha(verdict).unwrap_or_else(|| own.clone());
    let mut sentences = vec![if is_own {
        format!("Deploy: what the switch has, {own}; no other alpha is better.")
    } else if over_own.is_sure() {
        format!(
            "Deploy: {better}, which transmits {} {own} ({}).",
            more(&over_own, "than"),
            range(&over_own)
        )
    } else if over_own.bytes > 0 {
        format!(
            "Deploy: what the switch has, {own}. With {better} it transmits {} ({}), which may be noise.",
            more(&over_own, ""),
            range(&over_own)
        )
    } else {
        format!(
            "Deploy: what the switch has, {own}; the best alpha of other rows, {better}, is no better."
        )
    }];
    if !is_own && !over_own.is_sure() {
        return sentences;
    }
    let added = [
        (rivals.best_rule(), rivals.gains.rule_over_alpha, "the untrained rule"),
        (rivals.best_filter(), rivals.gains.filter_over_alpha, "the model as a filter"),
        (rivals.class_alphas(), rivals.gains.class_alphas_over_alpha, "an alpha for each queue"),
    ];
    for (rival, gain, what) in added {
        if let (Some(rival), Some(gain)) = (rival, gain) {
            let is_deployed = verdict.deploy.as_deref() == Some(&rival.policy);
            sentences.push(added_sentence(rival, &gain, what, is_deployed, &range(&gain)));
        }
    }
    sentences
}

fn added_sentence(
    rival: &RivalSection,
    gain: &GainRange,
    what: &str,
    is_deployed: bool,
    range: &str,
) -> String {
    if is_deployed {
        return format!("Add {what} ({}): {} ({range}).", rival.policy, more(gain, ""));
    }
    let why = match (gain.is_sure(), gain.bytes) {
        (true, _) => format!("{}, fewer than what is deployed", more(gain, "")),
        (false, 1..) => format!("{} ({range}), which may be noise", more(gain, "")),
        (false, _) => format!("{} ({range})", more(gain, "")),
    };
    format!("Leave out {what}: {why}.")
}

/// "1,432 bytes more".
fn more(gain: &GainRange, than: &str) -> String {
    let bytes = count(gain.bytes.unsigned_abs());
    let text = match gain.bytes {
        ..0 => format!("{bytes} bytes fewer {than}"),
        0 => "as many bytes".to_owned(),
        _ => format!("{bytes} bytes more {than}"),
    };
    text.trim_end().to_owned()
}

/// The interval in words.
fn range(gain: &GainRange, stretches: u64) -> String {
    let stretches_of = match stretches {
        1 => "1 stretch of the trace".to_owned(),
        all => format!("{} stretches of the trace", count(all)),
    };
    match (gain.low_bytes, gain.high_bytes) {
        (Some(low), Some(high)) => {
            let chosen = match gain.choices {
                1 => String::new(),
                all => format!(", as the best of {all} on these very rows"),
            };
            format!(
                "{} to {} in a 99% interval over {stretches_of}{chosen}",
                signed(low),
                signed(high)
            )
        }
        _ => format!("{stretches_of}, too few for an interval"),
    }
}

fn signed(bytes: i64) -> String {
    let sign = if bytes < 0 { "-" } else { "" };
    format!("{sign}{}", grouped(&bytes.unsigned_abs().to_string()))
}
