//! Packets counted by what LQD, the real switch and the model did with them.

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
    /// Arrivals of which the trace tells whether the real switch dropped them.
    pub real_told: Option<Sent>,
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
    /// Whether and why the real switch dropped it; none if the trace does not tell.
    pub(super) by_real: Option<Option<DropReason>>,
    /// Whether the real switch marked it (ECN); none if the trace does not tell.
    pub(super) marked: Option<bool>,
    /// Whether the model predicts a drop; none without a model.
    pub(super) predicted: Option<bool>,
}

impl DropCounts {
    pub(super) fn add(&mut self, packet: &Counted) {
        let one = Sent { packets: 1, bytes: u64::from(packet.size_bytes) };
        self.arrived.add(one);
        if packet.by_lqd {
            self.lqd.add(one);
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
            count(&mut self.real_told, true);
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
        sum(&mut self.real_told, other.real_told);
        sum(&mut self.real, other.real);
        sum(&mut self.only_real, other.only_real);
        sum(&mut self.only_lqd, other.only_lqd);
        sum(&mut self.marked, other.marked);
        if let Some(confusion) = &other.confusion {
            self.confusion.get_or_insert_default().merge(confusion);
        }
    }

    /// Whether LQD or the real switch drops something, or the model predicts that.
    pub(super) fn has_drops(&self) -> bool {
        let predicted = self.confusion.map_or(0, |confusion| confusion.tp + confusion.fp);
        let real = self.real.map_or(0, |real| real.packets);
        self.lqd.packets + real + predicted > 0
    }

    /// Packets that are wrong in some way, to sort by: errors of the model, else differences between
    /// the real switch and LQD, else drops.
    pub fn badness(&self) -> u64 {
        let packets = |sent: Option<Sent>| sent.map_or(0, |sent| sent.packets);
        match &self.confusion {
            Some(confusion) => confusion.fp + confusion.fn_,
            None => match packets(self.only_real) + packets(self.only_lqd) {
                0 => self.lqd.packets,
                differ => differ,
            },
        }
    }
}
