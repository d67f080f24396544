//! What labelling counts.

use dropcast_data::{LabelledBatch, Outcome};
use serde::{Deserialize, Serialize};

/// Counts of a labelled trace, or of several.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Arrivals.
    pub rows: u64,
    /// Of which LQD dropped.
    pub drops: u64,
    /// By pushing them out.
    pub pushed_out: u64,
    /// By not accepting them.
    pub rejected: u64,
    /// What the real switch dropped; absent if the input records no real drops.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub real_drops: Option<RealDrops>,
    /// What the real switch marked (ECN); absent if the input does not record it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ecn_marks: Option<EcnMarks>,
    /// Pauses of queues (PFC).
    #[serde(default, skip_serializing_if = "is_zero")]
    pub pauses: u64,
}

/// Packets that the real switch dropped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RealDrops {
    /// All of them.
    pub packets: u64,
    /// Of which LQD would have transmitted.
    pub not_by_lqd: u64,
    /// Arrivals of the traces whose input records what the real switch dropped.
    pub recorded: u64,
}

/// Packets that the real switch marked (ECN).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EcnMarks {
    /// All of them.
    pub packets: u64,
    /// Of which LQD drops.
    pub dropped_by_lqd: u64,
    /// Packets without a mark that LQD drops.
    pub unmarked_dropped_by_lqd: u64,
    /// Arrivals of the traces whose input records what the real switch marked.
    pub recorded: u64,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

impl Counts {
    /// Adds labelled rows.
    pub(crate) fn add_rows(&mut self, rows: &LabelledBatch) {
        self.rows += rows.len() as u64;
        for outcome in rows.outcome.iter().flatten() {
            match outcome {
                Outcome::Departed => {}
                Outcome::PushedOut => self.pushed_out += 1,
                Outcome::Rejected => self.rejected += 1,
            }
        }
        self.drops = self.pushed_out + self.rejected;
        if let Some(marks) = &rows.ecn_mark {
            let sum = self.ecn_marks.get_or_insert_default();
            sum.recorded += marks.len() as u64;
            for (&is_marked, &by_lqd) in marks.iter().zip(&rows.drop) {
                sum.packets += u64::from(is_marked);
                sum.dropped_by_lqd += u64::from(is_marked && by_lqd);
                sum.unmarked_dropped_by_lqd += u64::from(!is_marked && by_lqd);
            }
        }
        if let Some(reasons) = &rows.real_drop {
            let sum = self.real_drops.get_or_insert_default();
            sum.recorded += reasons.len() as u64;
            for (reason, &by_lqd) in reasons.iter().zip(&rows.drop) {
                sum.packets += u64::from(reason.is_some());
                sum.not_by_lqd += u64::from(reason.is_some() && !by_lqd);
            }
        }
    }

    /// The counts of all.
    pub(crate) fn sum<'a>(all: impl Iterator<Item = &'a Counts>) -> Counts {
        all.fold(Counts::default(), |sum, next| Counts {
            rows: sum.rows + next.rows,
            drops: sum.drops + next.drops,
            pushed_out: sum.pushed_out + next.pushed_out,
            rejected: sum.rejected + next.rejected,
            real_drops: RealDrops::sum(sum.real_drops, next.real_drops),
            ecn_marks: EcnMarks::sum(sum.ecn_marks, next.ecn_marks),
            pauses: sum.pauses + next.pauses,
        })
    }
}

impl RealDrops {
    fn sum(one: Option<Self>, other: Option<Self>) -> Option<Self> {
        let (Some(one), Some(other)) = (one, other) else { return one.or(other) };
        Some(RealDrops {
            packets: one.packets + other.packets,
            not_by_lqd: one.not_by_lqd + other.not_by_lqd,
            recorded: one.recorded + other.recorded,
        })
    }
}

impl EcnMarks {
    fn sum(one: Option<Self>, other: Option<Self>) -> Option<Self> {
        let (Some(one), Some(other)) = (one, other) else { return one.or(other) };
        Some(EcnMarks {
            packets: one.packets + other.packets,
            dropped_by_lqd: one.dropped_by_lqd + other.dropped_by_lqd,
            unmarked_dropped_by_lqd: one.unmarked_dropped_by_lqd + other.unmarked_dropped_by_lqd,
            recorded: one.recorded + other.recorded,
        })
    }
}
