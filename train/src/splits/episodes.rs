//! Cuts in the pauses between episodes of drops.

use super::part::RunTime;
use crate::share::Share;

/// Where the parts of a split by episodes of drops begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Cuts {
    /// Where validation begins, if any rows validate.
    pub validation_from: Option<RunTime>,
    /// Where testing begins.
    pub test_from: RunTime,
    /// The shorter of the pauses that are cut, nanoseconds; `u64::MAX` between runs.
    pub shortest_pause_ns: u64,
}

/// Where validation, if any, and testing begin: in long pauses between drops, a tenth of the longest at
/// least, that leave each part half of its share of them, or some if there are no such pauses; among
/// these, near the shares.
///
/// `drops` are in order, each with the number of drops it stands for. `None` if there are not as many
/// pauses as cuts.
pub(super) fn cut_drops(
    drops: &[(RunTime, u64)],
    train_share: Share,
    validation_share: Share,
) -> Option<Cuts> {
    let pauses = pauses(drops);
    let mut lengths: Vec<u64> = pauses.iter().map(|pause| pause.length_ns).collect();
    lengths.sort_unstable();
    let all = drops.iter().map(|(_, drops)| drops).sum::<u64>() as f64;
    let of_all = |share: f64| share * all;
    let (train, validation) = (train_share.get(), validation_share.get());
    let rest = 1.0 - train - validation;
    [0.5, 0.0].into_iter().find_map(|least| {
        let wanted = Wanted {
            train: of_all(train),
            least_train: of_all(least * train),
            end: of_all(train + validation),
            least_validation: (!validation_share.is_zero()).then(|| of_all(least * validation)),
            most_before_test: all - of_all(least * rest),
        };
        let cuts = |length_ns: u64| {
            let long: Vec<&Pause> =
                pauses.iter().filter(|pause| pause.length_ns >= length_ns).collect();
            wanted.cuts(&long)
        };
        // With shorter pauses there are only more cuts to choose from.
        let possible = lengths.partition_point(|&length_ns| cuts(length_ns).is_some());
        let longest_ns = *lengths.get(possible.checked_sub(1)?)?;
        cuts(longest_ns.div_ceil(10))
    })
}

/// A pause between two drops.
struct Pause {
    /// Its middle, or the start of a run.
    cut: RunTime,
    length_ns: u64,
    /// Drops before it.
    before: f64,
}

fn pauses(drops: &[(RunTime, u64)]) -> Vec<Pause> {
    let mut before = 0;
    let pause = |pair: &[(RunTime, u64)]| {
        let [(last, drops), (next, _)] = *pair else { return None };
        before += drops;
        let before = before as f64;
        if last.run != next.run {
            let cut = RunTime { run: next.run, time_ns: 0 };
            return Some(Pause { cut, length_ns: u64::MAX, before });
        }
        let length_ns = next.time_ns - last.time_ns;
        let cut = RunTime { run: next.run, time_ns: last.time_ns + length_ns.div_ceil(2) };
        (length_ns > 0).then_some(Pause { cut, length_ns, before })
    };
    drops.windows(2).filter_map(pause).collect()
}

/// How many drops each part should have, and has at least.
struct Wanted {
    train: f64,
    least_train: f64,
    /// Those of training and validation.
    end: f64,
    /// None if there is no validation.
    least_validation: Option<f64>,
    most_before_test: f64,
}

impl Wanted {
    fn cuts(&self, pauses: &[&Pause]) -> Option<Cuts> {
        let trains = |pause: &Pause| pause.before >= self.least_train;
        let leaves_tests = |pause: &Pause| pause.before <= self.most_before_test;
        let Some(least) = self.least_validation else {
            let test = nearest(pauses, self.train, |pause| trains(pause) && leaves_tests(pause))?;
            let shortest_pause_ns = test.length_ns;
            return Some(Cuts { validation_from: None, test_from: test.cut, shortest_pause_ns });
        };
        let last = pauses.iter().rfind(|pause| leaves_tests(pause))?.before;
        let validates = |from: &Pause, to: f64| to > from.before && to - from.before >= least;
        let end = nearest(pauses, self.train, |pause| trains(pause) && validates(pause, last))?;
        let test =
            nearest(pauses, self.end, |pause| leaves_tests(pause) && validates(end, pause.before))?;
        let shortest_pause_ns = end.length_ns.min(test.length_ns);
        Some(Cuts { validation_from: Some(end.cut), test_from: test.cut, shortest_pause_ns })
    }
}

/// The pause with nearly so many drops before it, the first of equals.
fn nearest<'a>(
    pauses: &[&'a Pause],
    before: f64,
    fits: impl Fn(&Pause) -> bool,
) -> Option<&'a Pause> {
    let distance = |pause: &Pause| (pause.before - before).abs();
    let fitting = pauses.iter().copied().filter(|pause| fits(pause));
    fitting.min_by(|a, b| distance(a).total_cmp(&distance(b)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn at(time_ns: u64) -> (RunTime, u64) {
        (RunTime { run: 7, time_ns }, 1)
    }

    fn share(value: f64) -> Share {
        Share::new(value).unwrap()
    }

    fn cut(drops: &[(RunTime, u64)]) -> Option<(u64, u64)> {
        let cuts = cut_drops(drops, share(0.6), share(0.2))?;
        Some((cuts.validation_from.unwrap().time_ns, cuts.test_from.time_ns))
    }

    #[test]
    fn cuts_are_in_the_pauses_between_episodes() {
        // Three bursts of ten, ten and three drops.
        let drops: Vec<_> = (0..10).chain(1_000..1_010).chain(5_000..5_003).map(at).collect();
        assert_eq!(cut(&drops), Some((505, 3_005)));
        let none = cut_drops(&drops, share(0.6), Share::ZERO).unwrap();
        let test_from = RunTime { run: 7, time_ns: 505 };
        assert_eq!(none, Cuts { validation_from: None, test_from, shortest_pause_ns: 991 });
    }

    #[test]
    fn one_burst_is_cut_near_the_shares() {
        let drops: Vec<_> = (0..100).map(|row| at(row * 10)).collect();
        assert_eq!(cut(&drops), Some((595, 795)));
    }

    #[test]
    fn a_part_may_get_less_than_half_of_its_share_if_there_is_no_other_pause() {
        let drops: Vec<_> = std::iter::repeat_n(at(5), 98).chain([at(9), at(20)]).collect();
        assert_eq!(cut(&drops), Some((7, 15)));
    }

    #[test]
    fn two_moments_do_not_make_three_parts() {
        let drops = [at(5), at(5), at(9), at(9)];
        assert_eq!(cut(&drops), None);
        assert_eq!(cut(&[]), None);
        assert!(cut_drops(&drops, share(0.6), Share::ZERO).is_some());
    }

    #[test]
    fn runs_follow_one_another() {
        let drops: Vec<_> =
            [1, 2, 3].into_iter().map(|run| (RunTime { run, time_ns: 5 }, 1)).collect();
        let validation_from = Some(RunTime { run: 2, time_ns: 0 });
        let test_from = RunTime { run: 3, time_ns: 0 };
        let cuts = Cuts { validation_from, test_from, shortest_pause_ns: u64::MAX };
        assert_eq!(cut_drops(&drops, share(0.6), share(0.2)), Some(cuts));
    }

    proptest! {
        /// A slow search over all pairs of pauses.
        #[test]
        fn no_pair_of_cuts_lies_in_much_longer_pauses(
            mut times in prop::collection::vec(0_u64..400, 3..40),
        ) {
            times.sort_unstable();
            let drops: Vec<_> = times.iter().map(|&time_ns| at(time_ns)).collect();
            let all = times.len() as f64;
            let pause = |cut: u64| {
                let next = times.partition_point(|&time| time < cut);
                times[next] - times[next - 1]
            };
            let before = |cut: u64| times.partition_point(|&time| time < cut) as f64;
            let mut best = [0, 0];
            for first in times[0] + 1..=times[times.len() - 1] {
                for second in first + 1..=times[times.len() - 1] {
                    if before(second) == before(first) {
                        continue;
                    }
                    let shorter = pause(first).min(pause(second));
                    best[1] = best[1].max(shorter);
                    let has_half = before(first) >= 0.5 * 0.6 * all
                        && before(second) - before(first) >= 0.5 * 0.2 * all
                        && before(second) <= all - 0.5 * (1.0 - 0.6 - 0.2) * all;
                    if has_half {
                        best[0] = best[0].max(shorter);
                    }
                }
            }
            let expected = if best[0] > 0 { best[0] } else { best[1] };
            match cut(&drops) {
                None => prop_assert_eq!(expected, 0),
                Some((first, second)) => {
                    let cuts = cut_drops(&drops, share(0.6), share(0.2)).unwrap();
                    prop_assert_eq!(cuts.shortest_pause_ns, pause(first).min(pause(second)));
                    prop_assert!(pause(first).min(pause(second)) >= expected.div_ceil(10));
                    prop_assert!(0.0 < before(first) && before(first) < before(second));
                    prop_assert!(before(second) < all);
                }
            }
        }
    }
}
