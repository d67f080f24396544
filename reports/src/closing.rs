//! What to deploy: the last word of a report.

use crate::drop_words::{better_alpha, own_name};
use crate::numbers::{count, grouped};
use dropcast_measure::verdict::{Addition, GainRange, RivalKind, Verdict};

/// What to deploy, and why; nothing where no alpha was replayed.
pub(crate) fn closing_sentences(verdict: &Verdict) -> Vec<String> {
    let (rivals, own) = (&verdict.rivals, own_name(verdict));
    let (Some(alpha), Some(over_own)) = (rivals.best_alpha(), rivals.gains.alpha_over_own) else {
        return Vec::new();
    };
    if verdict.counts.own.packets == 0 {
        return vec![format!("Deploy: what the switch has, {own}, which drops nothing.")];
    }
    let own_policy = verdict.own_policy.as_deref();
    let range = |gain: &GainRange| range(gain, rivals.gains.stretches);
    let better = better_alpha(verdict).unwrap_or_else(|| own.clone());
    let (added, left_out): (Vec<_>, Vec<_>) = rivals
        .additions(own_policy)
        .partition(|of| verdict.deploy.as_ref() == Some(&of.rival.policy));
    let mut sentences = Vec::new();
    if own_policy == Some(&alpha.policy) {
        sentences.push(format!("Deploy: what the switch has, {own}; no other alpha is better."));
    } else if rivals.alpha_is_set(own_policy) {
        let gain = format!("{} ({})", more(&over_own, Some(&own)), range(&over_own));
        sentences.push(format!("Deploy: {better}, which transmits {gain}."));
    } else {
        let kept = match added[..] {
            [] => format!("Deploy: what the switch has, {own}. "),
            _ => String::new(),
        };
        sentences.push(match over_own.bytes {
            1.. => format!(
                "{kept}With {better} it transmits {} ({}), which may be noise.",
                more(&over_own, None),
                range(&over_own)
            ),
            _ => format!("{kept}The best alpha of other rows, {better}, is no better."),
        });
    }
    for Addition { rival, gain } in added {
        let (what, as_code) = named(rival.kind);
        let (policy, range) = (&rival.policy, range(&gain));
        if rivals.alpha_is_set(own_policy) {
            let gain = more(&gain, None);
            sentences.push(format!("Add {what} ({policy}): {gain} ({range}).{as_code}"));
        } else {
            let gain = format!("{} ({range})", more(&gain, Some(&own)));
            let text = format!("Deploy: {what} ({policy}), which transmits {gain}.{as_code}");
            sentences.insert(0, text);
        }
    }
    let other = (!rivals.alpha_is_set(own_policy)).then_some(&*own);
    sentences.extend(left_out.iter().map(|Addition { rival, gain }| {
        let (more, range) = (more(gain, other), range(gain));
        let why = match (gain.is_sure(), gain.bytes) {
            (true, _) => format!("{more}, fewer than what is deployed"),
            (false, 1..) => format!("{more} ({range}), which may be noise"),
            (false, _) => format!("{more} ({range})"),
        };
        format!("Leave out {}: {why}.", named(rival.kind).0)
    }));
    sentences
}

/// An addition in words, and where it is described as code.
fn named(kind: RivalKind) -> (&'static str, &'static str) {
    match kind {
        RivalKind::ClassAlphas => ("an alpha for each queue", ""),
        RivalKind::ModelFilter => {
            ("the model as a filter", " `dropcast export --policy` writes it as code.")
        }
        _ => ("the untrained rule", " `dropcast export --policy` writes it as code."),
    }
}

/// "1,432 bytes more than Complete Sharing"; without `other` "1,432 bytes more".
fn more(gain: &GainRange, other: Option<&str>) -> String {
    let bytes = count(gain.bytes.unsigned_abs());
    let (text, than) = match gain.bytes {
        ..0 => (format!("{bytes} bytes fewer"), "than"),
        0 => ("as many bytes".to_owned(), "as"),
        _ => (format!("{bytes} bytes more"), "than"),
    };
    other.map_or_else(|| text.clone(), |other| format!("{text} {than} {other}"))
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
