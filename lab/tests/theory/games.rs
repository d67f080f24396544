//! The paper's claims as [`Game`]s.

use crate::explore::Game;
use crate::model::{Lengths, MAX_PORTS, Model, all_depart};
use crate::pseudocode::departures;
use crate::reading::{Reading, Victims};

/// The FollowLQD of Lemma 1 and Theorem 2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Thresholds {
    /// As Definition 1 says: FollowLQD runs on sigma minus the predicted positives, and so do its
    /// thresholds.
    OfTheRest,
    /// As the proof uses it: its thresholds are those of the whole sigma.
    OfAll,
}

/// Lemma 1: `scale.0 * Credence(sigma) >= scale.1 * FollowLQD(sigma - positives)`.
pub(crate) struct Lemma1 {
    pub(crate) model: Model,
    pub(crate) thresholds: Thresholds,
    pub(crate) scale: (i32, i32),
}

impl Game for Lemma1 {
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
            let [mut lqd, mut credence, mut lqd_of_rest, mut follow] = *state;
            self.model.lqd(&mut lqd, port);
            let by_credence = self.model.credence(&mut credence, &lqd, port, predicted_drop);
            let mut by_follow = false;
            if !predicted_drop {
                self.model.lqd(&mut lqd_of_rest, port);
                let thresholds = match self.thresholds {
                    Thresholds::OfTheRest => &lqd_of_rest,
                    Thresholds::OfAll => &lqd,
                };
                by_follow = self.model.follow(&mut follow, thresholds, port);
            }
            if self.thresholds == Thresholds::OfAll {
                lqd_of_rest = [0; MAX_PORTS];
            }
            let gain = self.scale.0 * i32::from(by_credence) - self.scale.1 * i32::from(by_follow);
            choices.push((choice, [lqd, credence, lqd_of_rest, follow], gain));
        }
    }

    fn end_of_slot(&self, state: &Self::State) -> Option<Self::State> {
        Some(all_depart(state))
    }
}

/// `eta >= 1`: LQD transmits at least what FollowLQD does without the predicted positives.
pub(crate) struct EtaAtLeastOne {
    pub(crate) model: Model,
}

impl Game for EtaAtLeastOne {
    type State = [Lengths; 3];

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
            let [mut lqd, mut lqd_of_rest, mut follow] = *state;
            let mut gain = i32::from(self.model.lqd(&mut lqd, port).is_none());
            if !predicted_drop {
                self.model.lqd(&mut lqd_of_rest, port);
                gain -= i32::from(self.model.follow(&mut follow, &lqd_of_rest, port));
            }
            choices.push((choice, [lqd, lqd_of_rest, follow], gain));
        }
    }

    fn end_of_slot(&self, state: &Self::State) -> Option<Self::State> {
        Some(all_depart(state))
    }
}

/// LQD with the fate of every packet guessed when it arrives.
///
/// In a queue, the packets that will be transmitted are ahead of those that will be pushed out
/// (packets behind a pushed-out one left before it), so their number is enough. A guess that LQD
/// contradicts has no continuation.
struct Labelled {
    lengths: Lengths,
    kept: Lengths,
}

impl Labelled {
    fn arrival(&mut self, model: Model, i: usize, is_dropped: bool) -> bool {
        let loser = model.lqd(&mut self.lengths, i);
        if model.reading.victims == Victims::Arrival && loser == Some(i) {
            return is_dropped;
        }
        if let Some(j) = loser {
            let before = self.lengths[j] + u8::from(j != i);
            if self.kept[j] == before {
                return false;
            }
        }
        if !is_dropped {
            self.kept[i] += 1;
            return self.kept[i] == self.lengths[i];
        }
        true
    }

    fn end_of_slot(&mut self) -> bool {
        let heads_are_kept =
            self.lengths.iter().zip(&self.kept).all(|(&length, &kept)| length == 0 || kept > 0);
        departures(&mut self.lengths);
        departures(&mut self.kept);
        heads_are_kept
    }
}

/// Theorem 2: `FollowLQD(sigma - positives) >= TN - weight * FN`, with `weight` = N - 1.
pub(crate) struct Theorem2 {
    pub(crate) model: Model,
    pub(crate) thresholds: Thresholds,
    pub(crate) weight: i32,
}

impl Game for Theorem2 {
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
        // Labels: t = true negative, n = false negative, p = false positive, P = true positive.
        for (choice, is_dropped, predicted_drop) in
            [('t', false, false), ('n', true, false), ('p', false, true), ('P', true, true)]
        {
            let [lengths, kept, mut lqd_of_rest, mut follow] = *state;
            let mut lqd = Labelled { lengths, kept };
            if !lqd.arrival(self.model, port, is_dropped) {
                continue;
            }
            let Labelled { lengths, kept } = lqd;
            let mut gain = 0;
            if !predicted_drop {
                let thresholds = match self.thresholds {
                    Thresholds::OfTheRest => {
                        self.model.lqd(&mut lqd_of_rest, port);
                        &lqd_of_rest
                    }
                    Thresholds::OfAll => &lengths,
                };
                let accepted = self.model.follow(&mut follow, thresholds, port);
                gain = i32::from(accepted) + if is_dropped { self.weight } else { -1 };
            }
            choices.push((choice, [lengths, kept, lqd_of_rest, follow], gain));
        }
    }

    fn end_of_slot(&self, state: &Self::State) -> Option<Self::State> {
        end_with_labels(state)
    }

    fn may_end(&self, state: &Self::State) -> bool {
        state[0] == state[1]
    }
}

/// The departure phase where rows 0 and 1 are a [`Labelled`] LQD.
fn end_with_labels(state: &[Lengths; 4]) -> Option<[Lengths; 4]> {
    let [_, _, third, fourth] = all_depart(state);
    let mut lqd = Labelled { lengths: state[0], kept: state[1] };
    lqd.end_of_slot().then_some([lqd.lengths, lqd.kept, third, fourth])
}

/// Credence with perfect predictions against LQD: `sign * (Credence - LQD) >= 0`.
pub(crate) struct Perfect {
    /// Of Credence and its thresholds.
    pub(crate) model: Model,
    /// Of the LQD that labels.
    pub(crate) labels: Victims,
    pub(crate) sign: i32,
}

impl Game for Perfect {
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
        let reading = Reading { victims: self.labels, ..self.model.reading };
        let labelling = Model { reading, ..self.model };
        for (choice, is_dropped) in [('a', false), ('d', true)] {
            let [lengths, kept, mut thresholds, mut queues] = *state;
            let mut lqd = Labelled { lengths, kept };
            if !lqd.arrival(labelling, port, is_dropped) {
                continue;
            }
            self.model.lqd(&mut thresholds, port);
            let accepted = self.model.credence(&mut queues, &thresholds, port, is_dropped);
            let gain = i32::from(accepted) - i32::from(!is_dropped);
            choices.push((choice, [lqd.lengths, lqd.kept, thresholds, queues], self.sign * gain));
        }
    }

    fn end_of_slot(&self, state: &Self::State) -> Option<Self::State> {
        end_with_labels(state)
    }

    fn may_end(&self, state: &Self::State) -> bool {
        state[0] == state[1]
    }
}
