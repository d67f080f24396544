//! What to do, and why: the last words of a report.

use crate::drop_words::own_name;
use crate::numbers::{count, duration, grouped, percent};
use dropcast_measure::verdict::{Advice, Candidate, Cost, Decision, EpisodeGain, Finding, Verdict};

/// What to do, and what is known of each candidate; nothing where nothing was compared.
pub(crate) fn closing_sentences(verdict: &Verdict) -> Vec<String> {
    let (advice, own) = (&verdict.advice, own_name(verdict));
    let first = match advice.decision {
        Decision::None => return Vec::new(),
        Decision::Keep => kept(advice, &own),
        Decision::Undecided => undecided(advice, &own),
        Decision::Set => advice.advised().map_or_else(String::new, |of| set(of, &own)),
    };
    let others = advice.candidates.iter().filter(|of| Some(&of.policy) != advice.policy.as_ref());
    let others = others.filter(|_| advice.now_lost_bytes > 0).map(other);
    [first].into_iter().chain(others).collect()
}

fn kept(advice: &Advice, own: &str) -> String {
    if advice.now_lost_bytes == 0 {
        return format!("Keep {own}: it drops nothing.");
    }
    if advice.is_at_bound {
        return format!("Keep {own}: no policy loses less of these arrivals.");
    }
    let share = percent(advice.least_gain);
    format!("Keep {own}: nothing that was compared saves {share} of the lost bytes beyond noise.")
}

fn undecided(advice: &Advice, own: &str) -> String {
    let keep = format!("Undecided, so keep {own} for now:");
    match advice.capture_needed_ns {
        Some(needed_ns) => format!(
            "{keep} it loses packets in {}, and alphas can be compared from {} on. A capture of {} would have as many.",
            episodes(advice.episodes),
            count(advice.episodes_needed),
            duration(needed_ns)
        ),
        None if advice.episodes == 0 => format!("{keep} it loses packets in no whole episode."),
        None => format!("{keep} what may be better differs in too few episodes."),
    }
}

fn set(advised: &Candidate, own: &str) -> String {
    let Candidate { cost, policy, lost_bytes, now_lost_bytes, gain, .. } = advised;
    let (verb, code) = match cost {
        Cost::Setting | Cost::QueueSettings | Cost::OtherChip => ("Set", ""),
        Cost::Credence => ("Deploy", " `dropcast export MODEL --switch` writes it as code."),
    };
    format!(
        "{verb} {} ({policy}): it loses {} bytes where {own} loses {}; {}.{code}",
        name(advised),
        count(*lost_bytes),
        count(*now_lost_bytes),
        evidence(gain)
    )
}

fn other(candidate: &Candidate) -> String {
    let Candidate { gain, finding, beaten_by, lost_bytes, .. } = candidate;
    let compared = match gain.bytes {
        0 => "as many as now".to_owned(),
        fewer @ 1.. => format!("{} fewer than now", count(fewer.unsigned_abs())),
        more => format!("{} more than now", count(more.unsigned_abs())),
    };
    let result = match (finding, beaten_by) {
        (Finding::TooFewEpisodes, _) => ", too few episodes to tell".to_owned(),
        (Finding::Noise, _) => ", which may be noise".to_owned(),
        (Finding::Better | Finding::NoBetter, Some(better)) => format!("; {better} loses less"),
        (Finding::Better | Finding::NoBetter, None) => String::new(),
    };
    let mut what = name(candidate);
    what[..1].make_ascii_uppercase();
    format!("{what} loses {} bytes, {compared}: {}{result}.", count(*lost_bytes), evidence(gain))
}

/// A candidate in words.
pub(crate) fn name(candidate: &Candidate) -> String {
    match candidate.cost {
        Cost::Setting => candidate
            .alpha
            .map_or_else(|| "Complete Sharing".to_owned(), |alpha| format!("alpha {alpha}")),
        Cost::QueueSettings => "an alpha for each queue".to_owned(),
        Cost::Credence => "Credence with the model".to_owned(),
        Cost::OtherChip => "LQD, which needs a chip that pushes packets out,".to_owned(),
    }
}

/// "better in 13 of 13 episodes, worse in none (99% interval: 4,000 to 6,000 bytes fewer)".
fn evidence(gain: &EpisodeGain) -> String {
    let worse = if gain.worse == 0 { "none".to_owned() } else { count(gain.worse) };
    let range = match (gain.low_bytes, gain.high_bytes) {
        (Some(low), Some(high)) => {
            let chosen = match gain.choices {
                1 => String::new(),
                all => format!(" for the best of {all}"),
            };
            format!(" (99% interval{chosen}: {} to {} bytes saved)", signed(low), signed(high))
        }
        _ => String::new(),
    };
    format!(
        "better in {} of {}, worse in {worse}{range}",
        count(gain.better),
        episodes(gain.episodes)
    )
}

fn episodes(all: u64) -> String {
    if all == 1 { "1 episode".to_owned() } else { format!("{} episodes", count(all)) }
}

fn signed(bytes: i64) -> String {
    let sign = if bytes < 0 { "-" } else { "" };
    format!("{sign}{}", grouped(&bytes.unsigned_abs().to_string()))
}
