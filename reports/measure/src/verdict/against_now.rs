//! The table of a report: what each policy loses against what the switch has, of the arrivals that count.

use super::contrasts::EpisodeGain;
use super::drop_counts::DropCounts;
use super::rivals::{RivalKind, RivalsSection};
use dropcast_replay::Sent;
use serde::{Deserialize, Serialize};

/// What a switch needs to run a policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Needs {
    /// Nothing: it runs it now.
    Nothing,
    /// Another alpha.
    Setting,
    /// An alpha for each queue of a port.
    QueueSettings,
    /// The table of a forest, and virtual LQD.
    Table,
    /// A policy that was asked for.
    Asked,
    /// A chip that pushes packets out.
    OtherChip,
    /// An oracle that is never wrong.
    Labels,
    /// All arrivals before they come: what no policy can beat.
    Future,
}

/// A policy against what the switch has.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgainstNow {
    /// The policy, as the registry names it, or `optimum`; null where switches have several now.
    pub policy: Option<String>,
    /// What a switch needs to run it.
    pub needs: Needs,
    /// Bytes that it loses.
    pub lost_bytes: u64,
    /// How many more than the switch loses now; negative if fewer.
    pub against_now_bytes: i64,
    /// The lower end of a 99% interval of that; null where there is none, as in [`EpisodeGain`].
    pub low_bytes: Option<i64>,
    /// Its upper end.
    pub high_bytes: Option<i64>,
}

/// What is known of the arrivals that count.
pub(super) struct Known<'a> {
    pub(super) counts: &'a DropCounts,
    pub(super) rivals: &'a RivalsSection,
    /// What the switch does by itself; none where switches differ.
    pub(super) own: Option<&'a str>,
    /// What Credence transmits with a perfect oracle.
    pub(super) perfect_oracle: Sent,
    /// Dynamic Thresholds with the paper's alpha, if the description has none: as the registry names it.
    pub(super) paper_alpha: Option<&'a str>,
    /// Credence with the model, if there is one: its name, and what it transmits.
    pub(super) model: Option<(String, Sent)>,
}

impl Known<'_> {
    /// The policies, those that lose least first. `gain` is what a policy transmits more than the switch does now, if that is
    /// known by episode.
    pub(super) fn against_now(self, gain: impl Fn(&str) -> Option<EpisodeGain>) -> Vec<AgainstNow> {
        let Known { counts, rivals, own, perfect_oracle, paper_alpha, model } = self;
        let DropCounts { arrived, own: now, lqd, .. } = *counts;
        let row = |policy: Option<&str>, needs, lost_bytes: u64| {
            let gain = policy.filter(|_| needs != Needs::Nothing).and_then(&gain);
            let end = |of: fn(&EpisodeGain) -> Option<i64>| gain.as_ref().and_then(of);
            AgainstNow {
                policy: policy.map(str::to_owned),
                needs,
                lost_bytes,
                // Counts of one replay differ by less than 2^63.
                against_now_bytes: lost_bytes.wrapping_sub(now.bytes).cast_signed(),
                low_bytes: end(|gain| gain.high_bytes.map(|high| -high)),
                high_bytes: end(|gain| gain.low_bytes.map(|low| -low)),
            }
        };
        let lost = |sent: Sent| arrived.bytes.saturating_sub(sent.bytes);
        let mut rows = vec![
            row(own, Needs::Nothing, now.bytes),
            row(Some("lqd"), Needs::OtherChip, lqd.bytes),
        ];
        let is_other = |policy: &str| own != Some(policy);
        let best = rivals.best_alpha().map(|best| best.policy.as_str());
        for rival in &rivals.policies {
            let policy = rival.policy.as_str();
            let needs = match rival.kind {
                RivalKind::Alpha if Some(policy) == best || Some(policy) == paper_alpha => {
                    Needs::Setting
                }
                RivalKind::Alpha => continue,
                RivalKind::ClassAlphas => Needs::QueueSettings,
                RivalKind::Asked => Needs::Asked,
            };
            if is_other(policy) || needs == Needs::Asked {
                rows.push(row(Some(policy), needs, lost(rival.sent)));
            }
        }
        rows.extend(model.map(|(name, sent)| row(Some(&name), Needs::Table, lost(sent))));
        if lqd.packets > 0 {
            rows.push(row(Some("credence"), Needs::Labels, lost(perfect_oracle)));
        }
        let most = rivals.optimum.map(|optimum| arrived.bytes.saturating_sub(optimum.most_bytes));
        rows.extend(most.map(|lost| row(Some("optimum"), Needs::Future, lost)));
        rows.sort_by_key(|row| (row.lost_bytes, std::cmp::Reverse(row.needs)));
        rows
    }
}
