//! Packets counted by what LQD, the real switch and the model did with them.

use super::rivals::ALPHAS;
use dropcast_data::DropReason;
use dropcast_forest::Confusion;
use dropcast_replay::Sent;
use serde::{Deserialize, Serialize};

/// Arrivals, and what became of them. What traces or models do not tell is null.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DropCounts {
    /// All arrivals.
    pub arrived: Sent,
    /// What LQD drops, by the labels.
    pub lqd: Sent,
    /// What the switch's own policy drops ([`dropcast_replay::own_policy`]).
    pub own: Sent,
    /// What the best alpha drops; null if none was replayed.
    pub best_alpha: Option<Sent>,
    /// Arrivals whose fate in the real switch the trace has.
    #[serde(rename = "real_told")]
    pub real_known: Option<Sent>,
    /// What the real switch dropped.
    pub real: Option<Sent>,
    /// What the real switch dropped and LQD would not have.
    pub only_real: Option<Sent>,
    /// What LQD would have dropped and the real switch did not.
    pub only_lqd: Option<Sent>,
    /// What the real switch marked (ECN).
    #[serde(default)]
    pub marked: Option<Sent>,
    /// The model's predictions against the labels.
    pub confusion: Option<Confusion>,
}

/// An arrival that counts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Counted {
    pub(super) size_bytes: u32,
    /// Whether LQD drops it.
    pub(super) by_lqd: bool,
    /// Whether the switch's own policy drops it.
    pub(super) by_own: bool,
    /// A bit for each alpha that drops it.
    pub(super) by_alphas: u16,
    /// Whether and why the real switch dropped it; none if the trace does not say.
    pub(super) by_real: Option<Option<DropReason>>,
    /// Whether the real switch marked it (ECN); none if the trace does not say.
    pub(super) marked: Option<bool>,
    /// Whether the model predicts a drop; none without a model.
    pub(super) predicted: Option<bool>,
}

impl Counted {
    fn one(&self) -> Sent {
        Sent { packets: 1, bytes: u64::from(self.size_bytes) }
    }

    /// Whether LQD, the real switch or the switch's own policy drops it.
    pub(super) fn is_dropped(&self) -> bool {
        self.by_lqd || self.by_own || self.by_real.is_some_and(|reason| reason.is_some())
    }
}

/// Counts for each alpha, until it is known which one is best.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Tally {
    counts: DropCounts,
    by_alpha: [Sent; ALPHAS],
}

impl Tally {
    pub(super) fn add(&mut self, packet: &Counted) {
        self.counts.add(packet);
        let mut left = packet.by_alphas;
        while left != 0 {
            self.by_alpha[left.trailing_zeros() as usize].add(packet.one());
            left &= left - 1;
        }
    }

    pub(super) fn merge(&mut self, other: &Tally) {
        self.counts.merge(&other.counts);
        let all = self.by_alpha.iter_mut().zip(other.by_alpha);
        all.for_each(|(sum, more)| sum.add(more));
    }

    /// The counts, with those of the best alpha by its number.
    pub(super) fn counts(&self, best_alpha: Option<usize>) -> DropCounts {
        let best_alpha = best_alpha.and_then(|at| self.by_alpha.get(at)).copied();
        DropCounts { best_alpha, ..self.counts }
    }
}

impl DropCounts {
    fn add(&mut self, packet: &Counted) {
        let one = packet.one();
        self.arrived.add(one);
        if packet.by_lqd {
            self.lqd.add(one);
        }
        if packet.by_own {
            self.own.add(one);
        }
        let count = |sum: &mut Option<Sent>, is: bool| {
            let sum = sum.get_or_insert_default();
            if is {
                sum.add(one);
            }
        };
        if let Some(is_marked) = packet.marked {
            count(&mut self.marked, is_marked);
        }
        if let Some(reason) = packet.by_real {
            count(&mut self.real_known, true);
            count(&mut self.real, reason.is_some());
            count(&mut self.only_real, reason.is_some() && !packet.by_lqd);
            count(&mut self.only_lqd, reason.is_none() && packet.by_lqd);
        }
        if let Some(predicted) = packet.predicted {
            self.confusion.get_or_insert_default().add(packet.by_lqd, predicted);
        }
    }

    /// Adds the counts of `other`.
    pub fn merge(&mut self, other: &DropCounts) {
        fn sum(to: &mut Option<Sent>, from: Option<Sent>) {
            if let Some(from) = from {
                to.get_or_insert_default().add(from);
            }
        }
        self.arrived.add(other.arrived);
        self.lqd.add(other.lqd);
        self.own.add(other.own);
        sum(&mut self.best_alpha, other.best_alpha);
        sum(&mut self.real_known, other.real_known);
        sum(&mut self.real, other.real);
        sum(&mut self.only_real, other.only_real);
        sum(&mut self.only_lqd, other.only_lqd);
        sum(&mut self.marked, other.marked);
        if let Some(confusion) = &other.confusion {
            self.confusion.get_or_insert_default().merge(confusion);
        }
    }

    /// Whether LQD, the real switch or its own policy drops something, or the model predicts that.
    pub(super) fn has_drops(&self) -> bool {
        let predicted = self.confusion.map_or(0, |confusion| confusion.tp + confusion.fp);
        let real = self.real.map_or(0, |real| real.packets);
        self.lqd.packets + self.own.packets + real + predicted > 0
    }

    /// Packets that are wrong in some way, to sort by: errors of the model, else differences between
    /// the real switch and LQD, else drops of LQD or the switch's own policy.
    pub fn badness(&self) -> u64 {
        let packets = |sent: Option<Sent>| sent.map_or(0, |sent| sent.packets);
        match &self.confusion {
            Some(confusion) => confusion.fp + confusion.fn_,
            None => match packets(self.only_real) + packets(self.only_lqd) {
                0 => self.lqd.packets.max(self.own.packets),
                differ => differ,
            },
        }
    }
}
