//! The shortest counterexample to Theorem 1, whose bound is a product of counts.
//!
//! `OPT <= 1.707 eta Credence` is `OPT * FollowLQD(rest) <= 1.707 * LQD * Credence`: not a
//! difference of counts, so [`crate::explore`] cannot decide it. Here every joint state keeps its
//! Pareto-optimal tuples of all four counts, packet by packet, up to a number of packets. Finding
//! nothing proves nothing beyond that number.

use crate::explore::Move;
use crate::model::{Lengths, MAX_PORTS, Model};
use crate::pseudocode::departures;
use crate::reading::Order;
use std::collections::BTreeMap;

/// Packets transmitted, including those held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) opt: u32,
    pub(crate) lqd: u32,
    /// FollowLQD, without the packets that are predicted to be dropped.
    pub(crate) follow: u32,
    pub(crate) credence: u32,
}

impl Counts {
    /// Whether `OPT > 1.707 eta Credence`. The bound `N` is Lemma 2's.
    pub(crate) fn refutes_theorem_1(self) -> bool {
        let Counts { opt, lqd, follow, credence } = self;
        1000 * opt * follow > 1707 * lqd * credence
    }

    /// Whether `eta` is at least 1.
    fn has_eta_of_1_or_more(self) -> bool {
        self.lqd >= self.follow
    }

    /// Whether these counts dominate the others in every continuation. If `eta` must be at least 1,
    /// less LQD or more FollowLQD is no gain.
    fn beat(self, other: Counts, eta_of_1_or_more: bool) -> bool {
        let has_less_eta = self.follow >= other.follow && self.lqd <= other.lqd;
        let has_same_eta = self.follow == other.follow && self.lqd == other.lqd;
        self.opt >= other.opt
            && self.credence <= other.credence
            && if eta_of_1_or_more { has_same_eta } else { has_less_eta }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Joint {
    lqd: Lengths,
    credence: Lengths,
    lqd_of_rest: Lengths,
    follow: Lengths,
    opt: Lengths,
    arrived: u8,
    lowest_port: u8,
}

struct Reached {
    joint: Joint,
    counts: Counts,
    parent: usize,
    step: Option<Move>,
}

struct Search {
    eta_of_1_or_more: bool,
    best: BTreeMap<Joint, Vec<Counts>>,
    reached: Vec<Reached>,
}

impl Search {
    fn keep(&mut self, joint: Joint, counts: Counts, parent: usize, step: Option<Move>) {
        let beats = |a: Counts, b| a.beat(b, self.eta_of_1_or_more);
        let known = self.best.entry(joint).or_default();
        if !known.iter().any(|&known| beats(known, counts)) {
            known.retain(|&known| !beats(counts, known));
            known.push(counts);
            self.reached.push(Reached { joint, counts, parent, step });
        }
    }

    fn slots(&self, mut at: usize) -> Vec<Vec<Move>> {
        let mut slots = vec![Vec::new()];
        while at != 0 {
            match self.reached[at].step {
                Some(packet) => slots.last_mut().expect("starts with one").push(packet),
                None => slots.push(Vec::new()),
            }
            at = self.reached[at].parent;
        }
        slots.iter_mut().for_each(|slot| slot.reverse());
        slots.reverse();
        slots
    }
}

/// A shortest counterexample of at most `most_packets` packets; `eta` at least 1 if asked for.
pub(crate) fn shortest(
    model: Model,
    most_packets: usize,
    eta_of_1_or_more: bool,
) -> Option<(Vec<Vec<Move>>, Counts)> {
    let empty = [0; MAX_PORTS];
    let start = Joint {
        lqd: empty,
        credence: empty,
        lqd_of_rest: empty,
        follow: empty,
        opt: empty,
        arrived: 0,
        lowest_port: 0,
    };
    let mut search = Search { eta_of_1_or_more, best: BTreeMap::new(), reached: Vec::new() };
    search.keep(start, Counts { opt: 0, lqd: 0, follow: 0, credence: 0 }, 0, None);
    let mut layer = 0..1;
    for _ in 0..=most_packets {
        let mut at = layer.start;
        while at < search.reached.len() {
            let Reached { joint, counts, .. } = search.reached[at];
            let may_count = !eta_of_1_or_more || counts.has_eta_of_1_or_more();
            if may_count && counts.refutes_theorem_1() {
                return Some((search.slots(at), counts));
            }
            search.keep(after_departures(joint), counts, at, None);
            at += 1;
        }
        layer.end = search.reached.len();
        for from in layer.clone() {
            let Reached { joint, counts, .. } = search.reached[from];
            if usize::from(joint.arrived) < model.ports {
                for (joint, counts, packet) in arrivals(model, joint, counts) {
                    search.keep(joint, counts, from, Some(packet));
                }
            }
        }
        layer = layer.end..search.reached.len();
    }
    None
}

fn after_departures(mut joint: Joint) -> Joint {
    let Joint { lqd, credence, lqd_of_rest, follow, opt, .. } = &mut joint;
    [lqd, credence, lqd_of_rest, follow, opt].into_iter().for_each(|row| departures(row));
    Joint { arrived: 0, lowest_port: 0, ..joint }
}

/// After one more packet: any port, prediction and choice of OPT.
fn arrivals(model: Model, before: Joint, counts: Counts) -> Vec<(Joint, Counts, Move)> {
    let mut after = Vec::new();
    for port in usize::from(before.lowest_port)..model.ports {
        for predicted_drop in [false, true] {
            let (mut joint, mut counts) = (before, counts);
            joint.arrived += 1;
            joint.lowest_port = if model.reading.order == Order::Any { 0 } else { port as u8 };
            counts.lqd += u32::from(model.lqd(&mut joint.lqd, port).is_none());
            let accepted = model.credence(&mut joint.credence, &joint.lqd, port, predicted_drop);
            counts.credence += u32::from(accepted);
            if !predicted_drop {
                model.lqd(&mut joint.lqd_of_rest, port);
                let accepted = model.follow(&mut joint.follow, &joint.lqd_of_rest, port);
                counts.follow += u32::from(accepted);
            }
            let letter = if predicted_drop { 'd' } else { 'a' };
            after.push((joint, counts, (port, letter)));
            if model.add(&mut joint.opt, port) {
                counts.opt += 1;
                after.push((joint, counts, (port, letter.to_ascii_uppercase())));
            }
        }
    }
    after
}
