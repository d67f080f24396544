//! Whether a verdict can be trusted, in sentences.

use dropcast_measure::verdict::{CheckResult, CheckStatus, Verdict};

/// The checks that failed, a sentence each: what comes before all numbers.
pub(crate) fn failed_sentences(verdict: &Verdict) -> Vec<String> {
    let failed = with(verdict, CheckStatus::Failed);
    failed.map(|result| format!("Do not trust these numbers: {}", sentence(result))).collect()
}

/// The doubtful checks, a sentence each, and in one what all found.
pub(crate) fn check_sentences(verdict: &Verdict) -> Vec<String> {
    let doubtful = with(verdict, CheckStatus::Doubtful);
    let mut sentences: Vec<String> =
        doubtful.map(|result| format!("Beware: {}", sentence(result))).collect();
    let statuses =
        [CheckStatus::Failed, CheckStatus::Doubtful, CheckStatus::Ok, CheckStatus::NotChecked];
    let listed = statuses.map(|status| {
        let names: Vec<&str> = with(verdict, status).map(|result| result.check.name()).collect();
        (!names.is_empty()).then(|| format!("{}: {}", status.name(), names.join(", ")))
    });
    let listed: Vec<String> = listed.into_iter().flatten().collect();
    if !listed.is_empty() {
        sentences.push(format!("Checks {}.", listed.join("; ")));
    }
    sentences
}

fn with(verdict: &Verdict, status: CheckStatus) -> impl Iterator<Item = &CheckResult> {
    verdict.checks.iter().filter(move |result| result.status == status)
}

fn sentence(result: &CheckResult) -> String {
    let remedy = result.remedy.as_ref().map(|remedy| format!(" What to do: {remedy}."));
    format!("{}.{}", result.evidence, remedy.unwrap_or_default())
}
