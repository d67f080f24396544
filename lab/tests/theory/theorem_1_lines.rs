//! Theorem 1 for sequences of any length: its product of counts, bounded by linear claims.
//!
//! `OPT <= 1.707 eta Credence` is `u v <= 1.707`, with `u = OPT/Credence` and
//! `v = FollowLQD(rest)/LQD`. It follows from `share (OPT - x Credence) + (1 - share) (FollowLQD -
//! y LQD) <= 0`, which [`decide`] decides, where `x <= u <= x'` and `x' y <= 1.707`: the first term
//! is not negative, so `v <= y`. As OPT transmits at least what Credence does, and at most `N` times as
//! much (Lemma 2), it is enough to have such a claim for each of some intervals from 1 to `N`.
//! No claim decides where Theorem 1 fails: a sequence does.

use crate::explore::{Game, decide};
use crate::model::{Lengths, Model, all_depart};

/// In thousandths.
const RATIO: i32 = 1707;
/// Shares are eighths.
const WHOLE: i32 = 8;

/// `share (OPT - x Credence) + (8 - share) (FollowLQD(rest) - y LQD) <= 0`; `x` and `y` in thousandths.
pub(crate) struct Line {
    pub(crate) model: Model,
    pub(crate) share: i32,
    pub(crate) x: i32,
    pub(crate) y: i32,
}

impl Game for Line {
    type State = [Lengths; 5];

    fn model(&self) -> Model {
        self.model
    }

    fn arrival(
        &self,
        state: &Self::State,
        port: usize,
        choices: &mut Vec<(char, Self::State, i32)>,
    ) {
        let Line { model, share, x, y } = *self;
        for (choice, predicted_drop) in [('a', false), ('d', true)] {
            let [mut lqd, mut credence, mut lqd_of_rest, mut follow, mut opt] = *state;
            let mut gain = 0;
            if model.lqd(&mut lqd, port).is_none() {
                gain += (WHOLE - share) * y;
            }
            if model.credence(&mut credence, &lqd, port, predicted_drop) {
                gain += share * x;
            }
            if !predicted_drop {
                model.lqd(&mut lqd_of_rest, port);
                if model.follow(&mut follow, &lqd_of_rest, port) {
                    gain -= (WHOLE - share) * 1000;
                }
            }
            choices.push((choice, [lqd, credence, lqd_of_rest, follow, opt], gain));
            if model.add(&mut opt, port) {
                let state = [lqd, credence, lqd_of_rest, follow, opt];
                choices.push((choice.to_ascii_uppercase(), state, gain - share * 1000));
            }
        }
    }

    fn end_of_slot(&self, state: &Self::State) -> Option<Self::State> {
        Some(all_depart(state))
    }
}

/// Whether these claims hold, and so Theorem 1, for every sequence. Each is the end of an interval of `x`, in
/// thousandths, and a share; the first interval begins at 1, the last one ends at `N`.
pub(crate) fn prove(model: Model, claims: &[(i32, i32)]) -> bool {
    assert_eq!(claims.last().map(|claim| claim.0), Some(1000 * model.ports as i32), "to N");
    let mut x = 1000;
    claims.iter().all(|&(end, share)| {
        let line = Line { model, share, x, y: RATIO * 1000 / end };
        x = end;
        decide(&line).holds()
    })
}

/// Claims that hold, for [`prove`], as long intervals as possible; `None` if there are none for some interval,
/// which says nothing.
#[allow(dead_code, reason = "the example prints them")]
pub(crate) fn find(model: Model) -> Option<Vec<(i32, i32)>> {
    let most = 1000 * model.ports as i32;
    let mut claims = Vec::new();
    let mut x = 1000;
    while x < most {
        let claim = (0..14).find_map(|k| {
            let end = (x + x * (70 - 5 * k) / 100).min(most);
            let y = RATIO * 1000 / end;
            let holds = |share: &i32| decide(&Line { model, share: *share, x, y }).holds();
            Some((end, (0..WHOLE).find(holds)?))
        });
        x = claim?.0;
        claims.extend(claim);
    }
    Some(claims)
}
