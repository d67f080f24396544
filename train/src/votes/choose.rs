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
mod tests {
    use super::*;
    use dropcast_forest::{GainWindow, Sent, VoteGain};
    use proptest::prelude::*;
    use std::cell::RefCell;
    use std::sync::LazyLock;

    fn histogram(rows: &[(u32, bool)]) -> ScoreHistogram {
        let mut histogram = ScoreHistogram::new(1);
        rows.iter().for_each(|&(score, drop)| histogram.add(score, drop));
        histogram
    }

    /// The choice for one forest without a replay.
    fn choose(
        rule: &str,
        scores: &ScoreHistogram,
        trees: usize,
        ports: Option<u16>,
    ) -> Result<OperatingPoint, VoteError> {
        let rule: VoteRule = rule.parse().unwrap();
        rule.choose_unreplayed(chosen_on(scores, trees), ports)
    }

    /// Scores of training rows alone, on which votes are chosen then.
    fn chosen_on(train: &ScoreHistogram, trees: usize) -> ForestScores<'_> {
        static NONE: LazyLock<ScoreHistogram> = LazyLock::new(|| ScoreHistogram::new(1));
        ForestScores { train, validation: &NONE, trees }
    }

    /// Lanes that transmit these amounts, even ones; what each gains over the last it gains in equal halves, in two
    /// episodes from window `first` on.
    fn steady(sent: &[Sent], first: u64) -> Vec<LaneSent> {
        let last = sent.last().copied().unwrap_or_default();
        let half = |ours: u64, theirs: u64| (ours.cast_signed() - theirs.cast_signed()) / 2;
        let lane = |sent: &Sent| {
            let packets = half(sent.packets, last.packets);
            let gain = VoteGain { packets, bytes: half(sent.bytes, last.bytes) };
            let place = |window| GainWindow { run: 1, switch: 0, window };
            let gains = [first, first + 2].map(|window| (place(window), gain));
            let gains = if *sent == last { Vec::new() } else { gains.to_vec() };
            LaneSent { sent: *sent, gains }
        };
        sent.iter().map(lane).collect()
    }

    /// A replay whose lanes transmit given amounts.
    struct Stated(Vec<Sent>);

    impl VoteReplay for Stated {
        type Error = VoteError;

        fn sent(&self, _: Part, lanes: &[VoteLane]) -> Result<Vec<LaneSent>, VoteError> {
            Ok(steady(&self.0[..lanes.len()], 0))
        }
    }

    #[test]
    fn half_of_the_votes_is_a_tie_and_a_tie_means_accept() {
        let scores = histogram(&[(510, true), (511, true)]);
        let point = choose("fixed", &scores, 4, None).unwrap();
        assert_eq!(point.threshold, 510);
        assert_eq!(point.confusion.tp, 1);
    }

    #[test]
    fn a_forest_that_distinguishes_nothing_accepts() {
        let scores = histogram(&[(20, true), (20, false), (20, false)]);
        for rule in ["f1", "eta-bound", "cost:1:1"] {
            let point = choose(rule, &scores, 1, Some(4)).unwrap();
            assert_eq!(point.confusion.fp, 0, "{rule}");
        }
        let drops = histogram(&[(20, true), (20, true)]);
        assert_eq!(choose("f1", &drops, 1, None).unwrap().confusion.tp, 2);
    }

    #[test]
    fn equally_good_thresholds_predict_fewest_drops() {
        // F1 is 2/3 for scores above 10 (1 of 2 drops found, no error) and above 0 (2 found, 2
        // errors).
        let scores = histogram(&[(20, true), (10, true), (10, false), (10, false), (0, false)]);
        let point = choose("f1", &scores, 1, None).unwrap();
        assert_eq!(point.threshold, 15);
    }

    #[test]
    fn the_eta_bound_forgives_no_missed_drop_in_a_wide_switch() {
        let mut rows = vec![(0, false); 100];
        rows.extend([(9, true), (9, true), (4, true)]);
        rows.extend([(4, false); 5]);
        let scores = histogram(&rows);
        let threshold = |ports| choose("eta-bound", &scores, 1, ports).unwrap().threshold;
        assert_eq!(threshold(Some(2)), 6, "one more drop found is not worth 5 false ones");
        assert_eq!(threshold(Some(20)), 2);
        assert_eq!(choose("eta-bound", &scores, 1, None), Err(VoteError::PortsUnknown));
    }

    #[test]
    fn where_no_threshold_has_a_bound_f1_decides() {
        let scores = histogram(&[(9, true), (0, true), (0, true), (0, false), (9, false)]);
        let point = choose("eta-bound", &scores, 1, Some(20)).unwrap();
        assert_eq!(point.confusion.eta_bound(20), None);
        assert_eq!(Ok(point), choose("f1", &scores, 1, None));
    }

    #[test]
    fn a_cost_weighs_false_drops_against_false_accepts() {
        let scores = histogram(&[(9, true), (5, false), (5, false), (5, true), (0, false)]);
        let threshold = |rule: &str| choose(rule, &scores, 1, None).unwrap().threshold;
        assert_eq!(threshold("cost:1:1"), 7, "two false drops cost more than one drop missed");
        assert_eq!(threshold("cost:1:3"), 2);
        assert_eq!(threshold("cost:0:1"), 2, "equal costs: the better F1");
        assert_eq!(threshold("cost:1:0"), 7);
    }

    #[test]
    fn rules_that_replay_do_not_choose_alone() {
        let scores = histogram(&[(9, true), (5, false)]);
        for rule in ["eta", "credence"] {
            assert_eq!(choose(rule, &scores, 1, Some(4)), Err(VoteError::NeedsReplay));
        }
    }

    #[test]
    fn each_forest_gets_the_best_of_its_own_lanes() {
        let near = histogram(&[(9, true), (5, false)]);
        let (far, none) = (near.clone(), histogram(&[]));
        let forests = [&near, &none, &far].map(|scores| chosen_on(scores, 1));
        let stated =
            |packets: [u64; 6]| Stated(packets.map(|packets| Sent { packets, bytes: 0 }).to_vec());
        let thresholds = |packets| {
            let chosen = VoteRule::Eta.choose(&forests, Some(4), &stated(packets)).unwrap();
            Vec::from_iter(chosen.into_iter().map(|point| point.threshold))
        };
        assert_eq!(thresholds([4, 5, 6, 6, 5, 4]), [9, 127, 2]);
        assert_eq!(
            thresholds([7, 7, 6, 7, 6, 7])[0],
            7,
            "the better F1 of two that transmit equally much"
        );
    }

    #[test]
    fn credence_does_no_harm_in_bytes_either() {
        let scores = histogram(&[(9, true), (5, true), (0, false)]);
        let forests = [chosen_on(&scores, 1)];
        let threshold = |sent: [(u64, u64); 3]| {
            let stated = Stated(sent.map(|(packets, bytes)| Sent { packets, bytes }).to_vec());
            VoteRule::Credence.choose(&forests, Some(4), &stated).unwrap()[0].threshold
        };
        assert_eq!(threshold([(16, 160), (18, 120), (14, 140)]), 2);
        assert_eq!(threshold([(16, 138), (18, 120), (14, 140)]), 9);
        assert_eq!(threshold([(16, 160), (16, 160), (14, 140)]), 2, "the better F1");
        assert_eq!(threshold([(16, 160), (16, 160), (16, 160)]), 9, "nothing is gained");
    }

    /// What thresholds transmit of training and of validation rows; notes which are asked for.
    struct ByPart {
        train: fn(u32) -> Sent,
        validation: fn(u32) -> Sent,
        asked: RefCell<Vec<(Part, Vec<u32>)>>,
    }

    impl VoteReplay for ByPart {
        type Error = VoteError;

        fn sent(&self, part: Part, lanes: &[VoteLane]) -> Result<Vec<LaneSent>, VoteError> {
            let sent = if part == Part::Train { self.train } else { self.validation };
            let thresholds: Vec<u32> = lanes.iter().map(|lane| lane.threshold).collect();
            self.asked.borrow_mut().push((part, thresholds.clone()));
            let first = if part == Part::Train { 0 } else { 100 };
            Ok(steady(&Vec::from_iter(thresholds.into_iter().map(sent)), first))
        }
    }

    fn packets(packets: u64) -> Sent {
        Sent { packets: 2 * packets, bytes: 20 * packets }
    }

    #[test]
    fn credence_does_no_harm_on_training_rows_either() {
        let train = histogram(&[(7, true), (7, true), (5, true), (3, true), (0, false)]);
        let validation = histogram(&[(7, true), (3, true), (0, false)]);
        let forests = [ForestScores { train: &train, validation: &validation, trees: 1 }];
        let choose = |train, validation| {
            let replay = ByPart { train, validation, asked: RefCell::default() };
            let chosen = VoteRule::Credence.choose(&forests, Some(4), &replay).unwrap();
            (chosen[0].threshold, replay.asked.into_inner())
        };
        let all = vec![1, 4, 6, 7];
        let everywhere = vec![(Part::Validation, all.clone()), (Part::Train, all.clone())];
        let more_below = |threshold| packets(100 - u64::from(threshold));
        let only_6 = |threshold| {
            packets([50, 61, 60][usize::from(threshold > 4) + usize::from(threshold > 6)])
        };
        assert_eq!(choose(more_below, more_below), (1, everywhere.clone()));
        assert_eq!(
            choose(only_6, more_below),
            (6, everywhere),
            "few rows are wrong about the rest"
        );
        let harmless = vec![(Part::Validation, all), (Part::Train, vec![6, 7])];
        assert_eq!(
            choose(more_below, only_6),
            (6, harmless),
            "harmful ones are not replayed again"
        );
    }

    #[test]
    fn credence_gains_most_on_both_parts_together() {
        let train = histogram(&[(7, true), (7, true), (5, true), (1, false)]);
        let validation = histogram(&[(7, true), (5, true)]);
        let forests = [ForestScores { train: &train, validation: &validation, trees: 1 }];
        // Of the thresholds 0, 3, 6 and 7, validation rows like 3 better by 1, training rows 6 by 2.
        let replay = ByPart {
            train: |threshold| {
                packets([10, 10, 11, 13, 10][threshold as usize / 2 + usize::from(threshold > 6)])
            },
            validation: |threshold| {
                packets(if threshold > 6 { 10 } else { 13 - u64::from(threshold > 3) })
            },
            asked: RefCell::default(),
        };
        let chosen = VoteRule::Credence.choose(&forests, Some(4), &replay).unwrap();
        assert_eq!(chosen[0].threshold, 6);
    }

    #[test]
    fn thresholds_with_many_wrong_drops_are_not_replayed() {
        let rows = [(9, true), (5, false), (5, false), (5, true), (0, false)];
        let (train, none) = (histogram(&rows), histogram(&[]));
        let forests = [ForestScores { train: &train, validation: &none, trees: 1 }];
        let replay =
            ByPart { train: |_| packets(1), validation: |_| packets(1), asked: RefCell::default() };
        VoteRule::Credence.choose(&forests, Some(4), &replay).unwrap();
        assert_eq!(replay.asked.into_inner(), [(Part::Train, vec![7, 9])]);
    }

    proptest! {
        #[test]
        fn candidates_are_few_and_hold_the_best(
            rows in prop::collection::vec((0_u32..2000, any::<bool>()), 1..500),
            ports in 1_u16..9,
        ) {
            let scores = histogram(&rows);
            let candidates = super::candidates(&scores, Some(ports));
            let all = scores.operating_points();
            prop_assert!(candidates.len() <= QUANTILES + 4);
            prop_assert!(candidates.iter().all(|candidate| all.contains(candidate)));
            prop_assert!(candidates.is_sorted_by_key(|candidate| candidate.threshold));
            prop_assert_eq!(candidates.last(), all.last());
            for rule in ["f1", "eta-bound"] {
                let chosen = choose(rule, &scores, 1, Some(ports)).unwrap();
                prop_assert!(candidates.contains(&chosen));
            }
            if all.len() <= QUANTILES {
                prop_assert_eq!(candidates, all);
            }
        }

        #[test]
        fn no_threshold_beats_the_chosen_one(
            rows in prop::collection::vec((0_u32..20, any::<bool>()), 1..60),
            ports in 1_u16..9,
        ) {
            let scores = histogram(&rows);
            let all = || (0..20).map(|threshold| scores.confusion(threshold));
            // Dropping everything is not chosen, unless every row is a drop.
            let chosen_from = all().filter(|of| of.tn + of.fn_ > 0 || of.fp == 0);
            let best = chosen_from.filter_map(|confusion| confusion.f1()).fold(0.0, f64::max);
            let chosen = choose("f1", &scores, 1, None).unwrap();
            prop_assert!(chosen.confusion.f1().unwrap_or(0.0) == best);

            let best = all()
                .filter_map(|confusion| confusion.eta_bound(ports))
                .fold(f64::INFINITY, f64::min);
            let chosen = choose("eta-bound", &scores, 1, Some(ports)).unwrap();
            prop_assert!(chosen.confusion.eta_bound(ports).unwrap_or(f64::INFINITY) == best);
        }

        #[test]
        fn credence_never_transmits_less_than_always_accepting(
            rows in prop::collection::vec((0_u32..60, any::<bool>()), 1..80),
            sent in prop::collection::vec((0_u64..6, 0_u64..6), 40),
        ) {
            let scores = histogram(&rows);
            let even = |(packets, bytes): (u64, u64)| Sent { packets: 2 * packets, bytes: 2 * bytes };
            let sent = Vec::from_iter(sent.into_iter().map(even));
            let forests = [chosen_on(&scores, 1)];
            let stated = Stated(sent.clone());
            let chosen = VoteRule::Credence.choose(&forests, None, &stated).unwrap()[0];
            let mut candidates = super::candidates(&scores, None);
            candidates.retain(is_precise);
            let place = candidates.iter().position(|candidate| *candidate == chosen).unwrap();
            let accepting = sent[candidates.len() - 1];
            prop_assert!(sent[place].packets >= accepting.packets);
            prop_assert!(sent[place].bytes >= accepting.bytes);
            for (candidate, sent_by) in candidates.iter().zip(&sent) {
                let is_harmless = sent_by.packets >= accepting.packets;
                let transmits_more = sent_by.bytes > sent[place].bytes;
                prop_assert!(!(is_harmless && transmits_more), "{:?}", candidate);
            }
        }
    }
}
