//! Changes to Credence's safeguard and drop criterion, as [`Game`]s.
//!
//! A policy here accepts what its [`Safeguard`] accepts, and else a packet whose queue is below a
//! [`Limit`]. With `Limit::Reference` it follows the *queues* of a drop-tail reference: an extra
//! packet, one that the safeguard accepted and the reference did not, is paid back before its queue
//! takes another packet.

use crate::explore::Game;
use crate::model::{Lengths, Model, all_depart};
use crate::pseudocode::{is_safeguarded, sum};

/// When a packet is accepted regardless of its prediction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Safeguard {
    Never,
    /// Algorithm 1: the longest queue is below `B/N`.
    Longest,
    /// The packet's own queue is below `B/N`.
    Own,
    /// Fewer than `B/N` packets are held in total.
    Occupancy,
    /// No packet is held.
    Empty,
}

impl Safeguard {
    pub(crate) const ALL: [Safeguard; 5] = [
        Safeguard::Never,
        Safeguard::Longest,
        Safeguard::Own,
        Safeguard::Occupancy,
        Safeguard::Empty,
    ];

    fn accepts(self, model: Model, queues: &Lengths, i: usize) -> bool {
        let Model { ports, buffer, reading, .. } = model;
        let is_below_share =
            |packets| reading.share.is_above(packets, ports as u32, u32::from(buffer));
        match self {
            Safeguard::Never => false,
            Safeguard::Longest => is_safeguarded(reading, &queues[..ports], buffer),
            Safeguard::Own => is_below_share(u32::from(queues[i])),
            Safeguard::Occupancy => is_below_share(sum(queues)),
            Safeguard::Empty => sum(queues) == 0,
        }
    }
}

/// The limit on the queue of a packet that is predicted to be accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Limit {
    /// Algorithm 1: LQD's queue, on all packets.
    Thresholds,
    /// LQD's queue, on the packets that are not predicted to be dropped.
    ThresholdsOfTheRest,
    /// The queue of the reference: FollowLQD on the packets that are not predicted to be dropped.
    Reference,
}

/// Lemma 1 of a changed Credence: it transmits at least what FollowLQD does without the predicted
/// positives.
pub(crate) struct ChangedLemma1 {
    pub(crate) model: Model,
    pub(crate) limit: Limit,
    pub(crate) safeguard: Safeguard,
}

impl Game for ChangedLemma1 {
    type State = [Lengths; 4];

    fn model(&self) -> Model {
        self.model
    }

    fn arrival(
        &self,
        state: &Self::State,
        port: usize,
        choices: &mut Vec<(char, Self::State, i32)>,
    ) {
        for (choice, predicted_drop) in [('a', false), ('d', true)] {
            let [mut all, mut queues, mut rest, mut reference] = *state;
            if self.limit == Limit::Thresholds {
                self.model.lqd(&mut all, port);
            }
            let mut by_reference = false;
            if !predicted_drop {
                self.model.lqd(&mut rest, port);
                by_reference = self.model.follow(&mut reference, &rest, port);
            }
            let limit = match self.limit {
                Limit::Thresholds => &all,
                Limit::ThresholdsOfTheRest => &rest,
                Limit::Reference => &reference,
            };
            let is_below = queues[port] < limit[port];
            let accepts = self.safeguard.accepts(self.model, &queues, port)
                || (is_below && (self.limit == Limit::Reference || !predicted_drop));
            let accepted = accepts && self.model.add(&mut queues, port);
            let gain = i32::from(accepted) - i32::from(by_reference);
            choices.push((choice, [all, queues, rest, reference], gain));
        }
    }

    fn end_of_slot(&self, state: &Self::State) -> Option<Self::State> {
        Some(all_depart(state))
    }
}

/// A policy with a safeguard that follows the queues of *any* drop-tail reference transmits at
/// least what the reference does: `a` and `d` are what the reference does, if there is room.
pub(crate) struct FollowsAny {
    pub(crate) model: Model,
    pub(crate) safeguard: Safeguard,
}

impl Game for FollowsAny {
    type State = [Lengths; 2];

    fn model(&self) -> Model {
        self.model
    }

    fn arrival(
        &self,
        state: &Self::State,
        port: usize,
        choices: &mut Vec<(char, Self::State, i32)>,
    ) {
        for (choice, is_accepted) in [('a', true), ('d', false)] {
            let [mut queues, mut reference] = *state;
            let by_reference = is_accepted && self.model.add(&mut reference, port);
            let accepts =
                self.safeguard.accepts(self.model, &queues, port) || queues[port] < reference[port];
            let accepted = accepts && self.model.add(&mut queues, port);
            let gain = i32::from(accepted) - i32::from(by_reference);
            choices.push((choice, [queues, reference], gain));
        }
    }

    fn end_of_slot(&self, state: &Self::State) -> Option<Self::State> {
        Some(all_depart(state))
    }
}

/// OPT against a policy that accepts what its safeguard does, and otherwise decides adversarially.
pub(crate) struct SafeguardedCompetitive {
    pub(crate) model: Model,
    pub(crate) safeguard: Safeguard,
}

impl Game for SafeguardedCompetitive {
    type State = [Lengths; 2];

    fn model(&self) -> Model {
        self.model
    }

    fn arrival(
        &self,
        state: &Self::State,
        port: usize,
        choices: &mut Vec<(char, Self::State, i32)>,
    ) {
        let [before, opt] = *state;
        let must = self.safeguard.accepts(self.model, &before, port);
        for may in [true, false] {
            let (mut queues, mut opt) = (before, opt);
            if must && !may {
                continue;
            }
            let accepted = may && self.model.add(&mut queues, port);
            let gain = self.model.ports as i32 * i32::from(accepted);
            let choice = if may { 'a' } else { 'd' };
            choices.push((choice, [queues, opt], gain));
            if self.model.add(&mut opt, port) {
                choices.push((choice.to_ascii_uppercase(), [queues, opt], gain - 1));
            }
        }
    }

    fn end_of_slot(&self, state: &Self::State) -> Option<Self::State> {
        Some(all_depart(state))
    }
}
