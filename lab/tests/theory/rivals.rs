//! OPT against one policy as a [`Game`].

use crate::explore::Game;
use crate::model::{Lengths, Model, all_depart};
use crate::pseudocode::sum;

/// A policy in a [`Competitive`] game.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Rival {
    Lqd,
    FollowLqd,
    /// With any predictions.
    Credence,
    CompleteSharing,
    CompletePartitioning,
    /// With `alpha` = 1/2.
    DynamicThresholds,
    Harmonic,
}

impl Rival {
    /// The queue lengths (row 0) and thresholds (row 1) after a packet, for each prediction, and
    /// how many more packets will be transmitted.
    fn arrival(
        self,
        model: Model,
        queues: Lengths,
        thresholds: Lengths,
        port: usize,
    ) -> Vec<(char, Lengths, Lengths, i32)> {
        let (mut queues, mut thresholds) = (queues, thresholds);
        match self {
            Rival::Lqd => {
                let loser = model.lqd(&mut queues, port);
                vec![('.', queues, thresholds, i32::from(loser.is_none()))]
            }
            Rival::FollowLqd => {
                model.lqd(&mut thresholds, port);
                let accepted = model.follow(&mut queues, &thresholds, port);
                vec![('.', queues, thresholds, i32::from(accepted))]
            }
            Rival::Credence => {
                model.lqd(&mut thresholds, port);
                let after = |(choice, predicted_drop)| {
                    let mut queues = queues;
                    let accepted = model.credence(&mut queues, &thresholds, port, predicted_drop);
                    (choice, queues, thresholds, i32::from(accepted))
                };
                [('a', false), ('d', true)].map(after).to_vec()
            }
            Rival::CompleteSharing
            | Rival::CompletePartitioning
            | Rival::DynamicThresholds
            | Rival::Harmonic => {
                let accepted = self.accepts(model, queues, port);
                queues[port] += u8::from(accepted);
                vec![('.', queues, thresholds, i32::from(accepted))]
            }
        }
    }

    fn accepts(self, Model { ports, buffer, .. }: Model, queues: Lengths, port: usize) -> bool {
        let mut after = queues;
        after[port] += 1;
        let b = f64::from(buffer);
        sum(&after) <= u32::from(buffer)
            && match self {
                Rival::CompletePartitioning => {
                    usize::from(after[port]) * ports <= usize::from(buffer)
                }
                Rival::DynamicThresholds => {
                    f64::from(queues[port]) < 0.5 * (b - f64::from(sum(&queues)))
                }
                Rival::Harmonic => is_harmonic(&after[..ports], b),
                _ => true,
            }
    }
}

fn is_harmonic(lengths: &[u8], buffer: f64) -> bool {
    let mut sorted = lengths.to_vec();
    sorted.sort_by(|a, b| b.cmp(a));
    let harmonic: f64 = (1..=lengths.len()).map(|k| 1.0 / k as f64).sum();
    (1..).zip(sorted).all(|(k, length)| f64::from(length) * f64::from(k) <= buffer / harmonic)
}

/// `scale.0 * ALG(sigma) >= scale.1 * OPT(sigma)`, where OPT accepts any feasible set.
pub(crate) struct Competitive {
    pub(crate) model: Model,
    pub(crate) rival: Rival,
    pub(crate) scale: (i32, i32),
}

impl Game for Competitive {
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
        let [queues, thresholds, opt] = *state;
        for (choice, queues, thresholds, sent) in
            self.rival.arrival(self.model, queues, thresholds, port)
        {
            let gain = self.scale.0 * sent;
            choices.push((choice, [queues, thresholds, opt], gain));
            let mut opt = opt;
            if self.model.add(&mut opt, port) {
                let choice = if choice == '.' { '*' } else { choice.to_ascii_uppercase() };
                let state = [queues, thresholds, opt];
                choices.push((choice, state, gain - self.scale.1));
            }
        }
    }

    fn end_of_slot(&self, state: &Self::State) -> Option<Self::State> {
        Some(all_depart(state))
    }
}
