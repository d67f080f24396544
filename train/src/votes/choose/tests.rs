//! Votes are chosen as each rule says, also on rows of several parts.

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
    let only_6 =
        |threshold| packets([50, 61, 60][usize::from(threshold > 4) + usize::from(threshold > 6)]);
    assert_eq!(choose(more_below, more_below), (1, everywhere.clone()));
    assert_eq!(choose(only_6, more_below), (6, everywhere), "few rows are wrong about the rest");
    let harmless = vec![(Part::Validation, all), (Part::Train, vec![6, 7])];
    assert_eq!(choose(more_below, only_6), (6, harmless), "harmful ones are not replayed again");
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
