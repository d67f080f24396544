//! What a perfect oracle, and the optimum, would transmit more, in sentences.

use crate::numbers::{count, percent};
use crate::rival_words::{lqd_bytes, name_of, percent_of};
use dropcast_measure::verdict::{Conclusion, Verdict};

/// What a perfect oracle would do, and the optimum. `rows` are those that the verdict is of, if these are not whole
/// traces: "the test rows". With a model the best single comparison is told elsewhere, against the model.
pub(crate) fn oracle_sentences(
    verdict: &Verdict,
    rows: Option<&str>,
    has_model: bool,
) -> Vec<String> {
    let on_rows = rows.map_or_else(String::new, |rows| format!(" on {rows}"));
    let best = match &verdict.conclusion {
        Conclusion::NothingDropped if verdict.counts.own.packets == 0 => return Vec::new(),
        Conclusion::NothingDropped => {
            return vec![format!(
                "LQD drops nothing{on_rows}, so an oracle of it has nothing to predict."
            )];
        }
        Conclusion::NoOracleNeeded { more_bytes, .. } => verdict.perfect_oracle.bytes + more_bytes,
        Conclusion::OracleCouldGain { bytes, .. } => {
            verdict.perfect_oracle.bytes.saturating_sub(*bytes)
        }
    };
    let threshold = (!has_model).then(|| threshold_sentence(verdict, best)).flatten();
    let perfect = match &verdict.conclusion {
        Conclusion::NothingDropped => None,
        Conclusion::NoOracleNeeded { policy, more_bytes } => {
            let more = match more_bytes {
                0 => "as many bytes as".to_owned(),
                more => format!("{} bytes more than", count(*more)),
            };
            let name = name_of(verdict, policy);
            Some(format!(
                "A perfect oracle adds nothing{on_rows}: {name} transmits {more} Credence with one."
            ))
        }
        Conclusion::OracleCouldGain { policy, bytes, share_of_lqd } => Some(format!(
            "A perfect oracle saves {} bytes{on_rows} ({} of what LQD transmits) over {}, the best policy without one.",
            count(*bytes),
            percent(*share_of_lqd),
            name_of(verdict, policy)
        )),
    };
    perfect.into_iter().chain(threshold).chain(optimum_sentence(verdict)).collect()
}

/// What Credence with the best single comparison transmits against the best policy without an oracle.
fn threshold_sentence(verdict: &Verdict, best_bytes: u64) -> Option<String> {
    let threshold = verdict.level_threshold.as_ref()?;
    let share = percent(f64::from(threshold.threshold_permille) / 1_000.0);
    let more = match threshold.sent.bytes.checked_sub(best_bytes) {
        None | Some(0) => "no more than that".to_owned(),
        Some(more) => format!("{} bytes more than that", count(more)),
    };
    Some(format!(
        "The best oracle of one comparison ({} above {share} of the buffer) transmits {more}.",
        threshold.feature
    ))
}

fn optimum_sentence(verdict: &Verdict) -> Option<String> {
    let optimum = verdict.rivals.optimum?;
    let lqd = lqd_bytes(verdict);
    let more = optimum.most_bytes.saturating_sub(lqd);
    let found = match optimum.found.bytes.saturating_sub(lqd) {
        0 => "no schedule was found that transmits more than LQD".to_owned(),
        more => format!("a schedule was found that transmits {} bytes more", count(more)),
    };
    Some(format!(
        "No policy, even if it knows all arrivals, transmits more than {} bytes ({}) more than LQD; {found}.",
        count(more),
        percent_of(more, lqd)
    ))
}
