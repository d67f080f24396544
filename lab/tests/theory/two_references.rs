//! A policy that follows the longer queues of two drop-tail references, as a [`Game`].

use crate::explore::Game;
use crate::model::{Lengths, Model, all_depart};

/// Accepts a packet if its queue is shorter than the longer of the references' queues. The references decide
/// adversarially, each with its part of the buffer: `b` both accept, `f` and `s` the first and the second
/// alone, `n` neither. The value counts, negatively, how often a queue is not the longer of the two.
pub(crate) struct TwoReferences {
    pub(crate) model: Model,
    /// Their buffers.
    pub(crate) parts: [u8; 2],
}

impl Game for TwoReferences {
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
        let of_part = |part: usize| Model { buffer: self.parts[part], ..self.model };
        for (choice, accepts) in
            [('b', [true, true]), ('f', [true, false]), ('s', [false, true]), ('n', [false; 2])]
        {
            let [mut first, mut second, mut queues] = *state;
            let wrong = (accepts[0] && !of_part(0).add(&mut first, port))
                || (accepts[1] && !of_part(1).add(&mut second, port));
            if wrong {
                continue;
            }
            if queues[port] < first[port].max(second[port]) {
                self.model.add(&mut queues, port);
            }
            let is_longer = |i: usize| queues[i] == first[i].max(second[i]);
            let gain = -i32::from(!(0..self.model.ports).all(is_longer));
            choices.push((choice, [first, second, queues], gain));
        }
    }

    fn end_of_slot(&self, state: &Self::State) -> Option<Self::State> {
        Some(all_depart(state))
    }
}
