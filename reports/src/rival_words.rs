//! What a switch without an oracle could do instead, in rows.

use crate::drop_words::thresholds_name;
use dropcast_measure::verdict::{FlowCounts, RivalKind, RivalSection, Verdict};
use dropcast_replay::Sent;
use dropcast_switch::PolicySpec;

/// The name of a policy that any switch can run, or of one that was asked for.
fn name(verdict: &Verdict, rival: &RivalSection) -> String {
    match rival.kind {
        RivalKind::Alpha if rival.alpha.is_none() => "Complete Sharing".to_owned(),
        RivalKind::Alpha | RivalKind::ClassAlphas => {
            thresholds_name(verdict, rival.policy.trim_start_matches("dt:alpha="))
        }
        RivalKind::Asked => rival.policy.clone(),
    }
}

/// The name of the policy that the registry knows by this text.
pub(crate) fn name_of(verdict: &Verdict, policy: &str) -> String {
    let rival = verdict.rivals.policies.iter().find(|rival| rival.policy == policy);
    rival.map_or_else(|| policy.to_owned(), |rival| name(verdict, rival))
}

/// What the policies that were asked for need and a trace does not have.
pub(crate) fn asked_sentences(verdict: &Verdict) -> Vec<String> {
    let FlowCounts { known, first_rtt } = verdict.flows;
    let sentence = |rival: &RivalSection| {
        // Policies of the user's own have names that no registry knows.
        let spec: PolicySpec = rival.policy.parse().ok()?;
        let policy = &rival.policy;
        if spec.looks_at_flows() && known == 0 {
            return Some(format!(
                "No flow of a packet is known here: to {policy} all are of one. dropcast collect --flows keeps flows, if the \
                 events have them (docs/trace.md)."
            ));
        }
        (spec.looks_at_first_rtt() && first_rtt == 0).then(|| {
            format!(
                "No packet is known here to be of its flow's first round trip, which {policy} looks at. dropcast collect \
                 --flows keeps that, if the events have it (docs/trace.md); or try it in the fabric (dropcast-lab simulate)."
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
    let mut rows: Vec<(String, Sent)> = all.map(|of| (name(verdict, of), of.sent)).collect();
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
