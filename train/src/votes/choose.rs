//! The choice of vote thresholds.

use super::interval::{GainEnds, low_ends};
use super::replay::{NoReplay, VoteReplay};
use super::rule::VoteRule;
use crate::splits::Part;
use crate::vote_error::VoteError;
use dropcast_forest::{LaneSent, OperatingPoint, ScoreHistogram, VoteLane, VotePolicy};
use std::cmp::Ordering;

/// A forest's scores of the rows that its vote is chosen on.
#[derive(Clone, Copy, Debug)]
pub struct ForestScores<'a> {
    /// Of the training rows.
    pub train: &'a ScoreHistogram,
    /// Of the validation rows; empty if there are none.
    pub validation: &'a ScoreHistogram,
    /// The number of trees.
    pub trees: usize,
}

impl VoteRule {
    /// The threshold of each forest, with its confusion matrix. `ports` is the switch's number of
    /// ports. Rules that replay do so once, for all forests.
    ///
    /// Thresholds between the same two scores decide the same; the middle one is taken. Among
    /// equally good thresholds the better F1 wins, then the one that predicts fewer drops: a tie
    /// means accept.
    ///
    /// # Errors
    /// [`VoteError::PortsUnknown`] if the rule needs `ports`, and the errors of `replay`.
    pub fn choose<R: VoteReplay>(
        self,
        forests: &[ForestScores<'_>],
        ports: Option<u16>,
        replay: &R,
    ) -> Result<Vec<OperatingPoint>, R::Error> {
        let each = |choose: &dyn Fn(&ForestScores<'_>) -> OperatingPoint| {
            Ok(forests.iter().map(choose).collect())
        };
        match self {
            VoteRule::Fixed(share) => each(&|forest| forest.fixed(share.get())),
            VoteRule::F1 => each(&|forest| forest.best(by_f1)),
            VoteRule::EtaBound => {
                let ports = ports.ok_or(VoteError::PortsUnknown)?;
                each(&|forest| forest.best(|a, b| by_bound(ports, a, b)))
            }
            VoteRule::Cost { false_drop, false_accept } => {
                let cost = |OperatingPoint { confusion, .. }: &OperatingPoint| {
                    confusion.fp as f64 * false_drop + confusion.fn_ as f64 * false_accept
                };
                each(&|forest| {
                    forest.best(|a, b| cost(b).total_cmp(&cost(a)).then_with(|| by_f1(a, b)))
                })
            }
            VoteRule::Eta => choose_least_eta(forests, ports, replay),
            VoteRule::Credence => choose_harmless(forests, ports, replay),
        }
    }

    /// The threshold of one forest, by a rule that does not [replay](VoteRule::replays).
    ///
    /// # Errors
    /// [`VoteError::PortsUnknown`], and [`VoteError::NeedsReplay`] if the rule replays.
    pub(crate) fn choose_unreplayed(
        self,
        forest: ForestScores<'_>,
        ports: Option<u16>,
    ) -> Result<OperatingPoint, VoteError> {
        let chosen = self.choose(&[forest], ports, &NoReplay)?;
        Ok(chosen.into_iter().next().expect("one forest has one threshold"))
    }
}

impl ForestScores<'_> {
    /// The part whose rows choose where one part does: validation, or training if there is none.
    fn part(&self) -> Part {
        if self.validation.totals() == (0, 0) { Part::Train } else { Part::Validation }
    }

    /// The scores of that part.
    fn scores(&self) -> &ScoreHistogram {
        match self.part() {
            Part::Train => self.train,
            _ => self.validation,
        }
    }

    /// The scores of training and validation rows together.
    fn of_both(&self) -> ScoreHistogram {
        let mut both = self.train.clone();
        both.merge(self.validation);
        both
    }

    /// A share of the forest's highest possible score.
    fn fixed(&self, share: f64) -> OperatingPoint {
        let threshold = (share * 255.0 * self.trees as f64).floor() as u32;
        OperatingPoint { threshold, confusion: self.scores().confusion(threshold) }
    }

    fn best(&self, order: impl Fn(&OperatingPoint, &OperatingPoint) -> Ordering) -> OperatingPoint {
        let points = self.scores().operating_points();
        // Among equals, the last predicts fewest drops.
        points.into_iter().max_by(|a, b| order(a, b)).unwrap_or_else(|| self.fixed(0.5))
    }
}

/// The thresholds of one forest that are replayed, ascending, each with what it transmits. The last
/// predicts no drop.
type Replayed = Vec<(OperatingPoint, LaneSent)>;

/// [`VoteRule::Eta`]: one pass replays the candidates of all forests.
fn choose_least_eta<R: VoteReplay>(
    forests: &[ForestScores<'_>],
    ports: Option<u16>,
    replay: &R,
) -> Result<Vec<OperatingPoint>, R::Error> {
    let candidates = |forest: &ForestScores<'_>| candidates(forest.scores(), ports);
    let points: Vec<Vec<OperatingPoint>> = forests.iter().map(candidates).collect();
    // All forests are measured on the same rows.
    let part = forests.first().map_or(Part::Train, ForestScores::part);
    let replayed = replay_points(&points, part, VotePolicy::Followed, replay)?;
    Ok(most_sent(forests, &replayed))
}

/// [`VoteRule::Credence`]: a pass over the validation rows, then one over the training rows for the
/// thresholds that do no harm there.
fn choose_harmless<R: VoteReplay>(
    forests: &[ForestScores<'_>],
    ports: Option<u16>,
    replay: &R,
) -> Result<Vec<OperatingPoint>, R::Error> {
    let worth_a_replay = |forest: &ForestScores<'_>| {
        let points = candidates(&forest.of_both(), ports).into_iter();
        points.filter(is_precise).map(|point| (point, LaneSent::default())).collect()
    };
    let mut sums: Vec<Replayed> = forests.iter().map(worth_a_replay).collect();
    let validates = forests.iter().any(|forest| forest.part() == Part::Validation);
    let parts: &[Part] = if validates { &[Part::Validation, Part::Train] } else { &[Part::Train] };
    for &part in parts {
        let points = |sum: &Replayed| sum.iter().map(|&(point, _)| point).collect();
        let points: Vec<Vec<OperatingPoint>> = sums.iter().map(points).collect();
        let replayed = replay_points(&points, part, VotePolicy::Credence, replay)?;
        sums =
            sums.into_iter().zip(replayed).map(|(sums, more)| add_harmless(sums, &more)).collect();
    }
    Ok(forests.iter().zip(&sums).map(|(forest, sums)| surest(forest, sums)).collect())
}

/// The threshold with the highest lower end of its gain in bytes, among those whose gain is beyond noise; the last,
/// which predicts no drop, if there is none.
fn surest(forest: &ForestScores<'_>, sums: &Replayed) -> OperatingPoint {
    let ends = sums.iter().map(|(point, sum)| (*point, low_ends(&sum.gains)));
    let sure = ends.filter_map(|(point, ends)| Some((point, ends.filter(GainEnds::are_sure)?)));
    let order = |(a, a_ends): &(OperatingPoint, GainEnds),
                 (b, b_ends): &(OperatingPoint, GainEnds)| {
        a_ends.bytes.total_cmp(&b_ends.bytes).then_with(|| by_f1(a, b))
    };
    let best = sure.max_by(order).map(|(point, _)| point);
    best.or_else(|| sums.last().map(|&(point, _)| point)).unwrap_or_else(|| forest.fixed(0.5))
}

/// Whether at least 80% of the predicted drops are right. Credence that falls back ignores less precise
/// predictions, and what they gain on some rows they lose on others.
fn is_precise(OperatingPoint { confusion, .. }: &OperatingPoint) -> bool {
    4 * confusion.fp <= confusion.tp
}

/// Adds what the thresholds transmit of more rows; those that transmit less of them than with no
/// predicted drop are left out.
fn add_harmless(sums: Replayed, more: &Replayed) -> Replayed {
    let Some((_, accepting)) = more.last() else { return sums };
    let both = sums.into_iter().zip(more);
    let harmless = both.filter(|(_, (_, more))| more.sent.is_no_less_than(accepting.sent));
    harmless
        .map(|((point, mut sum), (_, more))| {
            sum.add(more);
            (point, sum)
        })
        .collect()
}

/// What the thresholds of each forest transmit of the rows of `part`, in one pass.
fn replay_points<R: VoteReplay>(
    points: &[Vec<OperatingPoint>],
    part: Part,
    policy: VotePolicy,
    replay: &R,
) -> Result<Vec<Replayed>, R::Error> {
    let lanes = points.iter().enumerate().flat_map(|(forest, points)| {
        points.iter().map(move |point| VoteLane { forest, threshold: point.threshold, policy })
    });
    let mut sent = replay.sent(part, &Vec::from_iter(lanes))?.into_iter();
    let of_forest = |points: &Vec<OperatingPoint>| points.iter().copied().zip(&mut sent).collect();
    Ok(points.iter().map(of_forest).collect())
}

/// Of each forest, the threshold that transmits most packets.
fn most_sent(forests: &[ForestScores<'_>], replayed: &[Replayed]) -> Vec<OperatingPoint> {
    let order = |(a, a_lane): &&(OperatingPoint, LaneSent),
                 (b, b_lane): &&(OperatingPoint, LaneSent)| {
        a_lane.sent.packets.cmp(&b_lane.sent.packets).then_with(|| by_f1(a, b))
    };
    let best = |(forest, replayed): (&ForestScores<'_>, &Replayed)| {
        replayed.iter().max_by(order).map_or_else(|| forest.fixed(0.5), |&(point, _)| point)
    };
    forests.iter().zip(replayed).map(best).collect()
}

/// Number of score quantiles among the candidates for a replay.
const QUANTILES: usize = 32;

/// The thresholds worth a replay, ascending: at most [`QUANTILES`] quantiles of the scores, with
/// both classes weighted equally, the one that predicts no drops (the last), and the best by F1 and
/// by the bound on `eta`. All thresholds, if there are no more than that.
fn candidates(scores: &ScoreHistogram, ports: Option<u16>) -> Vec<OperatingPoint> {
    let all = scores.operating_points();
    let best = |order: &dyn Fn(&OperatingPoint, &OperatingPoint) -> Ordering| {
        all.iter().max_by(|a, b| order(a, b)).map(|point| point.threshold)
    };
    let chosen = [
        best(&by_f1),
        ports.and_then(|ports| best(&|a, b| by_bound(ports, a, b))),
        all.last().map(|point| point.threshold),
    ];
    let (accepts, drops) = scores.totals();
    // The mass predicted to be dropped; each class has 2^32.
    let mass = |OperatingPoint { confusion, .. }: &OperatingPoint| {
        let scaled = |part: u64, all: u64| (u128::from(part) << 32) / u128::from(all.max(1));
        scaled(confusion.fp, accepts) + scaled(confusion.tp, drops)
    };
    let step = (2_u128 << 32) / QUANTILES as u128;
    let mut quantile = None;
    let mut kept: Vec<OperatingPoint> = Vec::new();
    for point in &all {
        let reached = Some(mass(point) / step);
        let is_first = std::mem::replace(&mut quantile, reached) != reached;
        if is_first || all.len() <= QUANTILES || chosen.contains(&Some(point.threshold)) {
            kept.push(*point);
        }
    }
    kept
}

/// Orders thresholds by their bound on `eta` in a switch of `ports` ports, then by F1. The numerator
/// of the bound is the number of accepted rows, the same for every threshold.
fn by_bound(ports: u16, a: &OperatingPoint, b: &OperatingPoint) -> Ordering {
    let bound = |point: &OperatingPoint| point.confusion.eta_denominator(ports);
    bound(a).cmp(&bound(b)).then_with(|| by_f1(a, b))
}

/// Orders thresholds by F1, exactly. Dropping everything, unless every row is a drop, ranks no
/// higher than accepting everything, although its F1 is above 0: it carries no information.
fn by_f1(a: &OperatingPoint, b: &OperatingPoint) -> Ordering {
    let fraction = |point: &OperatingPoint| {
        let c = point.confusion;
        let drops_all = c.tn == 0 && c.fn_ == 0 && c.fp > 0;
        let tp = if drops_all { 0 } else { c.tp };
        (u128::from(tp), u128::from(2 * c.tp + c.fp + c.fn_).max(1))
    };
    let ((a_top, a_bottom), (b_top, b_bottom)) = (fraction(a), fraction(b));
    (a_top * b_bottom).cmp(&(b_top * a_bottom))
}

#[cfg(test)]
mod tests;
