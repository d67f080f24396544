//! What is dropped, in sentences.

use crate::numbers::{count, duration, percent};
use crate::words::input_notes::{note_words, overload_words};
use dropcast_data::{DropReason, InputNote};
use dropcast_measure::verdict::{DropCounts, Verdict};
use dropcast_replay::Sent;

/// What the switch does by itself, in words.
pub(crate) fn own_name(verdict: &Verdict) -> String {
    match verdict.own_policy.as_deref() {
        None => "each switch's own policy".to_owned(),
        Some("complete-sharing") => "Complete Sharing".to_owned(),
        Some(policy) => {
            format!("Dynamic Thresholds, alpha {}", policy.trim_start_matches("dt:alpha="))
        }
    }
}

/// The best alpha in words, unless it is what the switch does by itself.
pub(crate) fn better_alpha(verdict: &Verdict) -> Option<String> {
    let best = verdict.rivals.best_alpha()?;
    let is_own = verdict.own_policy.as_deref() == Some(&best.policy);
    let name =
        || best.alpha.map_or("Complete Sharing".to_owned(), |alpha| format!("alpha {alpha}"));
    (!is_own).then(name)
}

/// Whether anything drops, in one sentence, which names the `rows` that it is of, if these are not whole traces: "the
/// test rows".
pub(crate) fn lead(verdict: &Verdict, rows: Option<&str>) -> String {
    let place = match (rows, verdict.traces.as_slice()) {
        (Some(rows), _) => rows.to_owned(),
        (None, [] | [_]) => "this trace".to_owned(),
        (None, traces) => format!("these {} traces", count(traces.len() as u64)),
    };
    let DropCounts { arrived, lqd, own, best_alpha, real, .. } = verdict.counts;
    if arrived.packets == 0 {
        return format!("No packet arrives on {place}, so there is nothing to judge.");
    }
    if lqd.packets + own.packets == 0 {
        return nothing_dropped(verdict, rows.is_some(), &place);
    }
    let of = |dropped: Sent| {
        let share = percent(dropped.packets as f64 / arrived.packets as f64);
        format!(
            "{} of {} packets ({share}) on {place}",
            count(dropped.packets),
            count(arrived.packets)
        )
    };
    let own_policy = match verdict.own_policy {
        None => own_name(verdict),
        Some(_) => format!("the switch's policy ({})", own_name(verdict)),
    };
    let begin = match real {
        Some(real) => format!(
            "The real switch drops {}; replayed, {own_policy} drops {}",
            of(real),
            count(own.packets)
        ),
        None => format!("{} drops {}", capital(&own_policy), of(own)),
    };
    let alpha = better_alpha(verdict).zip(best_alpha);
    let alpha = alpha.map(|(name, sent)| format!("{name} would drop {}, ", count(sent.packets)));
    let verb = if alpha.is_some() { "" } else { "would drop " };
    format!("{begin}; {}LQD {verb}{}.", alpha.unwrap_or_default(), count(lqd.packets))
}

/// What to sort by: packets that the real switch drops, or its own policy where that is not told; then those of LQD.
pub(crate) fn dropped(counts: &DropCounts) -> [u64; 2] {
    [counts.real.unwrap_or(counts.own).packets, counts.lqd.packets]
}

/// What the switch does by itself and which alpha is best, for legends.
pub(crate) fn policies_sentence(verdict: &Verdict) -> String {
    let alpha = better_alpha(verdict).map(|name| format!(", the best alpha is {name}"));
    let alpha = alpha.unwrap_or_default().replace("is alpha ", "is ");
    format!("The switch's own policy is {}{alpha}.", own_name(verdict))
}

fn nothing_dropped(verdict: &Verdict, are_some_rows: bool, place: &str) -> String {
    if verdict.cautions.contains_key(&InputNote::NoBacklog) {
        return format!(
            "LQD drops nothing on {place}, but the trace was probably captured behind the buffer: then it cannot tell \
             whether an oracle is needed."
        );
    }
    let peak = verdict.occupancy.map_or_else(String::new, |occupancy| {
        format!(": its buffer is at most {} full", percent(occupancy.peak))
    });
    if are_some_rows {
        format!(
            "LQD drops nothing on {place}{peak}. Whether an oracle is worth it, other rows have to tell."
        )
    } else {
        format!("LQD drops nothing on {place}{peak}. No oracle is needed.")
    }
}

/// The same with a capital letter.
fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// Traces that a caution names, at most.
const MOST_NAMED: usize = 5;

/// How many rows of each trace a caution is about, the most first; nothing for one trace.
fn by_trace(verdict: &Verdict, note: InputNote) -> String {
    if verdict.traces.len() < 2 {
        return String::new();
    }
    let traces = verdict.traces.iter().zip(&verdict.by_trace);
    let mut rows: Vec<(&str, u64)> = traces
        .filter_map(|(name, trace)| Some((name.as_str(), *trace.cautions.get(&note)?)))
        .collect();
    rows.sort_by_key(|(_, rows)| std::cmp::Reverse(*rows));
    let are_left_out = rows.len() > MOST_NAMED;
    rows.truncate(MOST_NAMED);
    let mut named: Vec<String> =
        rows.iter().map(|(name, rows)| format!("{} in {name}", count(*rows))).collect();
    if are_left_out {
        named.push("the rest in other traces".to_owned());
    }
    if named.is_empty() { String::new() } else { format!(" Of these are {}.", named.join(", ")) }
}

/// Why the numbers of a verdict may be wrong.
pub(crate) fn cautions(verdict: &Verdict) -> Vec<String> {
    let notes = verdict.cautions.iter();
    let told = |(note, &rows): (&InputNote, &u64)| {
        format!("Beware: {}.{}", note_words(*note, rows), by_trace(verdict, *note))
    };
    let mut sentences: Vec<String> = notes.map(told).collect();
    let (dropped, arrived) = (verdict.dropped.packets, verdict.arrived.packets);
    sentences.extend(overload_words("LQD", dropped, arrived));
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
