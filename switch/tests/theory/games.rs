//! The papers' claims as [`Game`]s.

use crate::explore::{Game, Lengths, MAX_PORTS, State};
use crate::pseudocode::{
    credence_arrival, departures, follow_lqd_arrival, sum, update_threshold_arrival,
    update_threshold_arrival_counted, update_threshold_departures,
};

/// `N` and `B`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Size {
    pub(crate) ports: usize,
    pub(crate) buffer: u8,
}

impl Size {
    fn of<'a>(&self, lengths: &'a mut Lengths) -> &'a mut [u8] {
        &mut lengths[..self.ports]
    }
}

/// Which FollowLQD Lemma 1 and Theorem 2 speak of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Thresholds {
    /// The paper's: FollowLQD runs on sigma minus the predicted positives, and so do its
    /// thresholds.
    OfTheRest,
    /// As the proof uses it: its thresholds are those of the whole sigma.
    OfAll,
}

/// Lemma 1: `scale.0 * Credence(sigma) >= scale.1 * FollowLQD(sigma - positives)`.
pub(crate) struct Lemma1 {
    pub(crate) size: Size,
    pub(crate) thresholds: Thresholds,
    pub(crate) scale: (i32, i32),
}

impl Game for Lemma1 {
    fn ports(&self) -> usize {
        self.size.ports
    }

    fn arrival(&self, state: &State, port: usize, choices: &mut Vec<(char, State, i32)>) {
        let Size { buffer, .. } = self.size;
        for (choice, predicted_drop) in [('a', false), ('d', true)] {
            let [mut lqd, mut credence, mut lqd_of_rest, mut follow] = *state;
            update_threshold_arrival(self.size.of(&mut lqd), buffer, port);
            let queues = self.size.of(&mut credence);
            let by_credence =
                credence_arrival(queues, &lqd[..self.size.ports], buffer, port, predicted_drop);
            let mut by_follow = false;
            if !predicted_drop {
                update_threshold_arrival(self.size.of(&mut lqd_of_rest), buffer, port);
                let thresholds = match self.thresholds {
                    Thresholds::OfTheRest => &lqd_of_rest,
                    Thresholds::OfAll => &lqd,
                };
                let queues = self.size.of(&mut follow);
                by_follow =
                    follow_lqd_arrival(queues, &thresholds[..self.size.ports], buffer, port);
            }
            if self.thresholds == Thresholds::OfAll {
                lqd_of_rest = [0; MAX_PORTS];
            }
            let gain = self.scale.0 * i32::from(by_credence) - self.scale.1 * i32::from(by_follow);
            choices.push((choice, [lqd, credence, lqd_of_rest, follow], gain));
        }
    }

    fn end_of_slot(&self, state: &State) -> Option<State> {
        let mut state = *state;
        state.iter_mut().for_each(|queues| departures(queues));
        Some(state)
    }
}

/// Which of LQD's packets are its victims.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Victims {
    Tail,
    Arrival,
}

impl Victims {
    pub(crate) fn update(self, thresholds: &mut [u8], buffer: u8, i: usize) -> Option<usize> {
        match self {
            Victims::Tail => update_threshold_arrival(thresholds, buffer, i),
            Victims::Arrival => update_threshold_arrival_counted(thresholds, buffer, i),
        }
    }
}

/// LQD with the fate of every packet guessed when it arrives.
///
/// The packets of a queue that will be transmitted stand before those that will be pushed out
/// (what stands behind a pushed-out packet went before it), so their number says all. A guess
/// that LQD does not bear out has no continuation.
struct Labelled {
    lengths: Lengths,
    kept: Lengths,
}

impl Labelled {
    fn arrival(&mut self, size: Size, victims: Victims, i: usize, is_dropped: bool) -> bool {
        let loser = victims.update(size.of(&mut self.lengths), size.buffer, i);
        if victims == Victims::Arrival && loser == Some(i) {
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
        update_threshold_departures(&mut self.lengths);
        departures(&mut self.kept);
        heads_are_kept
    }
}

/// Theorem 2: `FollowLQD(sigma - positives) >= TN - weight * FN`, with `weight` = N - 1.
pub(crate) struct Theorem2 {
    pub(crate) size: Size,
    pub(crate) thresholds: Thresholds,
    pub(crate) weight: i32,
}

impl Game for Theorem2 {
    fn ports(&self) -> usize {
        self.size.ports
    }

    fn arrival(&self, state: &State, port: usize, choices: &mut Vec<(char, State, i32)>) {
        // Labels: t = true negative, n = false negative, p = false positive, P = true positive.
        for (choice, is_dropped, predicted_drop) in
            [('t', false, false), ('n', true, false), ('p', false, true), ('P', true, true)]
        {
            let [lengths, kept, mut lqd_of_rest, mut follow] = *state;
            let mut lqd = Labelled { lengths, kept };
            if !lqd.arrival(self.size, Victims::Tail, port, is_dropped) {
                continue;
            }
            let Labelled { lengths, kept } = lqd;
            let mut gain = 0;
            if !predicted_drop {
                let Size { buffer, .. } = self.size;
                let thresholds = match self.thresholds {
                    Thresholds::OfTheRest => {
                        update_threshold_arrival(self.size.of(&mut lqd_of_rest), buffer, port);
                        &lqd_of_rest
                    }
                    Thresholds::OfAll => &lengths,
                };
                let queues = self.size.of(&mut follow);
                let accepted =
                    follow_lqd_arrival(queues, &thresholds[..self.size.ports], buffer, port);
                gain = i32::from(accepted) + if is_dropped { self.weight } else { -1 };
            }
            choices.push((choice, [lengths, kept, lqd_of_rest, follow], gain));
        }
    }

    fn end_of_slot(&self, state: &State) -> Option<State> {
        let [lengths, kept, mut lqd_of_rest, mut follow] = *state;
        let mut lqd = Labelled { lengths, kept };
        departures(&mut lqd_of_rest);
        departures(&mut follow);
        lqd.end_of_slot().then_some([lqd.lengths, lqd.kept, lqd_of_rest, follow])
    }

    fn may_end(&self, state: &State) -> bool {
        state[0] == state[1]
    }
}

/// Credence with perfect predictions against LQD: `sign * (Credence - LQD) >= 0`.
pub(crate) struct Perfect {
    pub(crate) size: Size,
    /// What the labels come from.
    pub(crate) labels: Victims,
    /// What Credence's thresholds follow.
    pub(crate) thresholds: Victims,
    pub(crate) sign: i32,
}

impl Game for Perfect {
    fn ports(&self) -> usize {
        self.size.ports
    }

    fn arrival(&self, state: &State, port: usize, choices: &mut Vec<(char, State, i32)>) {
        for (choice, is_dropped) in [('a', false), ('d', true)] {
            let [lengths, kept, mut thresholds, mut queues] = *state;
            let mut lqd = Labelled { lengths, kept };
            if !lqd.arrival(self.size, self.labels, port, is_dropped) {
                continue;
            }
            let Size { ports, buffer } = self.size;
            self.thresholds.update(self.size.of(&mut thresholds), buffer, port);
            let of = self.size.of(&mut queues);
            let accepted = credence_arrival(of, &thresholds[..ports], buffer, port, is_dropped);
            let gain = i32::from(accepted) - i32::from(!is_dropped);
            choices.push((choice, [lqd.lengths, lqd.kept, thresholds, queues], self.sign * gain));
        }
    }

    fn end_of_slot(&self, state: &State) -> Option<State> {
        let [lengths, kept, mut thresholds, mut queues] = *state;
        let mut lqd = Labelled { lengths, kept };
        departures(&mut thresholds);
        departures(&mut queues);
        lqd.end_of_slot().then_some([lqd.lengths, lqd.kept, thresholds, queues])
    }

    fn may_end(&self, state: &State) -> bool {
        state[0] == state[1]
    }
}

/// A policy in a [`Competitive`] game.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Rival {
    Lqd(Victims),
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
        size: Size,
        queues: Lengths,
        thresholds: Lengths,
        port: usize,
    ) -> Vec<(char, Lengths, Lengths, i32)> {
        let Size { ports, buffer } = size;
        let (mut queues, mut thresholds) = (queues, thresholds);
        let b = f64::from(buffer);
        match self {
            Rival::Lqd(victims) => {
                let loser = victims.update(size.of(&mut queues), buffer, port);
                vec![('.', queues, thresholds, i32::from(loser.is_none()))]
            }
            Rival::FollowLqd => {
                update_threshold_arrival(size.of(&mut thresholds), buffer, port);
                let of = size.of(&mut queues);
                let accepted = follow_lqd_arrival(of, &thresholds[..ports], buffer, port);
                vec![('.', queues, thresholds, i32::from(accepted))]
            }
            Rival::Credence => {
                update_threshold_arrival(size.of(&mut thresholds), buffer, port);
                [('a', false), ('d', true)]
                    .into_iter()
                    .map(|(choice, predicted_drop)| {
                        let mut queues = queues;
                        let of = size.of(&mut queues);
                        let accepted = credence_arrival(
                            of,
                            &thresholds[..ports],
                            buffer,
                            port,
                            predicted_drop,
                        );
                        (choice, queues, thresholds, i32::from(accepted))
                    })
                    .collect()
            }
            Rival::CompleteSharing
            | Rival::CompletePartitioning
            | Rival::DynamicThresholds
            | Rival::Harmonic => {
                let mut after = queues;
                after[port] += 1;
                let accepted = sum(&after) <= u32::from(buffer)
                    && match self {
                        Rival::CompletePartitioning => {
                            usize::from(after[port]) * ports <= usize::from(buffer)
                        }
                        Rival::DynamicThresholds => {
                            f64::from(queues[port]) < 0.5 * (b - f64::from(sum(&queues)))
                        }
                        Rival::Harmonic => is_harmonic(&after[..ports], b),
                        _ => true,
                    };
                let queues = if accepted { after } else { queues };
                vec![('.', queues, thresholds, i32::from(accepted))]
            }
        }
    }
}

fn is_harmonic(lengths: &[u8], buffer: f64) -> bool {
    let mut sorted = lengths.to_vec();
    sorted.sort_by(|a, b| b.cmp(a));
    let harmonic: f64 = (1..=lengths.len()).map(|k| 1.0 / k as f64).sum();
    (1..).zip(sorted).all(|(k, length)| f64::from(length) * f64::from(k) <= buffer / harmonic)
}

/// `scale.0 * ALG(sigma) >= scale.1 * OPT(sigma)`, OPT being whatever can be accepted.
pub(crate) struct Competitive {
    pub(crate) size: Size,
    pub(crate) rival: Rival,
    pub(crate) scale: (i32, i32),
}

impl Game for Competitive {
    fn ports(&self) -> usize {
        self.size.ports
    }

    fn arrival(&self, state: &State, port: usize, choices: &mut Vec<(char, State, i32)>) {
        let [queues, thresholds, opt, unused] = *state;
        for (choice, queues, thresholds, sent) in
            self.rival.arrival(self.size, queues, thresholds, port)
        {
            let gain = self.scale.0 * sent;
            choices.push((choice, [queues, thresholds, opt, unused], gain));
            if sum(&opt) < u32::from(self.size.buffer) {
                let mut opt = opt;
                opt[port] += 1;
                let choice = if choice == '.' { '*' } else { choice.to_ascii_uppercase() };
                let state = [queues, thresholds, opt, unused];
                choices.push((choice, state, gain - self.scale.1));
            }
        }
    }

    fn end_of_slot(&self, state: &State) -> Option<State> {
        let mut state = *state;
        state.iter_mut().for_each(|queues| departures(queues));
        Some(state)
    }
}
