//! Decides a claim for *every* arrival sequence of a switch, of any length.
//!
//! In the slotted model a switch of `N` ports and buffer `B` has finitely many states. A claim such
//! as "Credence transmits at least what FollowLQD does" compares counts along a joint run of both
//! switches. [`decide`] computes, for every joint state, the lowest value that the difference of
//! the counts can have there, over all sequences (Bellman and Ford, one layer per packet). Either a
//! sequence with a negative value turns up (the first one has the fewest packets) or the values
//! reach a fixed point, which proves the claim for this `N` and `B`.

use crate::model::Model;
use crate::reading::Order;
use std::collections::BTreeMap;

/// A claim as a difference that must not become negative.
pub(crate) trait Game {
    /// A joint state of the switches: queue lengths and thresholds.
    type State: Copy + Default + Ord;
    /// The switches' model.
    fn model(&self) -> Model;
    /// The possible outcomes when a packet arrives for `port`: pushes each choice (a prediction, a
    /// label, OPT's action) with the state after it and its addition to the value.
    fn arrival(
        &self,
        state: &Self::State,
        port: usize,
        choices: &mut Vec<(char, Self::State, i32)>,
    );
    /// The departure phase; `None` if the choices so far contradict it.
    fn end_of_slot(&self, state: &Self::State) -> Option<Self::State>;
    /// Whether the choices so far are consistent if nothing more arrives.
    fn may_end(&self, _: &Self::State) -> bool {
        true
    }
}

/// A packet of a sequence: its port and the choice made.
pub(crate) type Move = (usize, char);

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The claim holds for every sequence; the number of joint states that were reached.
    Holds { states: usize },
    /// It fails on this sequence, slot by slot; none has fewer packets.
    Fails { slots: Vec<Vec<Move>>, value: i32 },
    /// Neither a counterexample nor a fixed point was found with this many packets: says nothing.
    NotDecided { packets: usize },
}

impl Verdict {
    /// Whether the claim is proven. Not the opposite of [`Self::counterexample`].
    pub(crate) fn holds(&self) -> bool {
        matches!(self, Verdict::Holds { .. })
    }

    /// The sequence on which the claim fails.
    ///
    /// # Panics
    /// If the claim holds, or was not decided.
    pub(crate) fn counterexample(&self) -> &[Vec<Move>] {
        match self {
            Verdict::Fails { slots, .. } => slots,
            verdict => panic!("expected a counterexample: {verdict:?}"),
        }
    }

    /// Packets of the shortest counterexample, or none if the claim holds.
    ///
    /// # Panics
    /// If the claim was not decided.
    pub(crate) fn fewest_packets(&self) -> Option<usize> {
        match self {
            Verdict::Holds { .. } => None,
            verdict => Some(verdict.counterexample().iter().map(Vec::len).sum()),
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Key<S> {
    state: S,
    /// Packets that arrived in the current slot, if their number has a limit.
    arrived: u8,
    /// The lowest port that may have the next packet of this slot.
    lowest_port: u8,
}

struct Reached<S> {
    key: Key<S>,
    value: i32,
    parent: usize,
    /// None: the end of a slot.
    step: Option<Move>,
}

/// Gives up at this many packets: refuting a ratio just below the smallest valid one takes
/// thousands.
const MOST_PACKETS: usize = 20_000;

pub(crate) fn decide<G: Game>(game: &G) -> Verdict {
    let Model { ports, reading, most_arrivals, .. } = game.model();
    let start = Key { state: G::State::default(), arrived: 0, lowest_port: 0 };
    let mut best = BTreeMap::from([(start, 0)]);
    let mut reached = vec![Reached { key: start, value: 0, parent: 0, step: None }];
    let mut layer = 0..1;
    for _ in 0..=MOST_PACKETS {
        let mut at = layer.start;
        while at < reached.len() {
            if reached[at].value < 0 && game.may_end(&reached[at].key.state) {
                return Verdict::Fails { slots: slots(&reached, at), value: reached[at].value };
            }
            if let Some(state) = game.end_of_slot(&reached[at].key.state) {
                let key = Key { state, arrived: 0, lowest_port: 0 };
                keep(&mut best, &mut reached, key, at, None, 0);
            }
            at += 1;
        }
        layer.end = reached.len();
        let mut choices = Vec::new();
        for from in layer.clone() {
            let Key { state, arrived, lowest_port } = reached[from].key;
            if most_arrivals == Some(arrived) || best[&reached[from].key] < reached[from].value {
                continue;
            }
            let arrived = arrived + u8::from(most_arrivals.is_some());
            for port in usize::from(lowest_port)..ports {
                let lowest_port = if reading.order == Order::Any { 0 } else { port as u8 };
                choices.clear();
                game.arrival(&state, port, &mut choices);
                for &(choice, state, gain) in &choices {
                    let key = Key { state, arrived, lowest_port };
                    keep(&mut best, &mut reached, key, from, Some((port, choice)), gain);
                }
            }
        }
        layer = layer.end..reached.len();
        if layer.is_empty() {
            return Verdict::Holds { states: best.len() };
        }
    }
    Verdict::NotDecided { packets: MOST_PACKETS }
}

fn keep<S: Copy + Ord>(
    best: &mut BTreeMap<Key<S>, i32>,
    reached: &mut Vec<Reached<S>>,
    key: Key<S>,
    parent: usize,
    step: Option<Move>,
    gain: i32,
) {
    let value = reached[parent].value + gain;
    if best.get(&key).is_none_or(|&known| value < known) {
        best.insert(key, value);
        reached.push(Reached { key, value, parent, step });
    }
}

fn slots<S>(reached: &[Reached<S>], mut at: usize) -> Vec<Vec<Move>> {
    let mut steps = Vec::new();
    while at != 0 {
        steps.push(reached[at].step);
        at = reached[at].parent;
    }
    let mut slots = vec![Vec::new()];
    for step in steps.into_iter().rev() {
        match step {
            Some(packet) => slots.last_mut().expect("starts with one").push(packet),
            None => slots.push(Vec::new()),
        }
    }
    slots
}
