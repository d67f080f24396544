//! Which clocks of captures are wrong, given which are ahead of which.

use std::collections::BTreeMap;

/// Where a packet was captured: its file and its interface.
pub(super) type CaptureInterface = (usize, u32);

/// By how much at least a clock is ahead of another, nanoseconds: the first place is ahead of the second.
pub(super) type Ahead = BTreeMap<(CaptureInterface, CaptureInterface), u64>;

/// The fewest clocks that can be wrong, and by how much each is ahead of the others at least, nanoseconds; negative if
/// it is behind.
///
/// Where each clock is either ahead of others or behind others, the smaller side is wrong. Until then, that is wrong which
/// disagrees with most others.
pub(super) fn wrong_clocks(ahead: &Ahead) -> BTreeMap<CaptureInterface, i64> {
    let mut left: BTreeMap<CaptureInterface, BTreeMap<CaptureInterface, i64>> = BTreeMap::new();
    for (&(one, other), &ns) in ahead {
        // Either may be ahead of the other, if a clock jumps: the larger counts.
        let back = ahead.get(&(other, one)).copied().unwrap_or(0);
        if (back, other) < (ns, one) {
            let ns = i64::try_from(ns).unwrap_or(i64::MAX);
            left.entry(one).or_default().insert(other, ns);
            left.entry(other).or_default().insert(one, -ns);
        }
    }
    let mut wrong = BTreeMap::new();
    let has = |others: &BTreeMap<CaptureInterface, i64>, sign| {
        others.values().any(|ns| ns.signum() == sign)
    };
    while left.values().any(|others| has(others, 1) && has(others, -1)) {
        let most = |(place, others): &(&CaptureInterface, &BTreeMap<CaptureInterface, i64>)| {
            (others.len(), std::cmp::Reverse(**place))
        };
        let Some((&place, _)) = left.iter().max_by_key(most) else { break };
        remove(&mut left, place, &mut wrong);
    }
    let [first, second] = [1, -1].map(|sign| {
        let side = left.iter().filter(|(_, others)| has(others, sign));
        side.map(|(&place, _)| place).collect::<Vec<_>>()
    });
    let smaller = if first.len() <= second.len() { first } else { second };
    smaller.into_iter().for_each(|place| remove(&mut left, place, &mut wrong));
    wrong
}

fn remove(
    left: &mut BTreeMap<CaptureInterface, BTreeMap<CaptureInterface, i64>>,
    place: CaptureInterface,
    wrong: &mut BTreeMap<CaptureInterface, i64>,
) {
    let others = left.remove(&place).unwrap_or_default();
    let most = others.values().copied().max_by_key(|ns| ns.unsigned_abs());
    wrong.extend(most.map(|ns| (place, ns)));
    for other in others.keys() {
        if let Some(of) = left.get_mut(other) {
            of.remove(&place);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::SplitMix64;

    /// Clocks with these errors, of which pairs are compared by chance; a difference is seen from 20 on.
    fn found(errors: &[i64], seed: u64) -> BTreeMap<usize, i64> {
        let mut random = SplitMix64::new(seed);
        let mut ahead = Ahead::new();
        for (one, &first) in errors.iter().enumerate() {
            for (other, &second) in errors.iter().enumerate() {
                let ns = first - second - 20 - i64::from(random.between(0, 9));
                if ns > 0 && random.between(0, 2) > 0 {
                    ahead.insert(((one, 0), (other, 0)), ns as u64);
                }
            }
        }
        wrong_clocks(&ahead).into_iter().map(|((file, _), ns)| (file, ns)).collect()
    }

    #[test]
    fn the_few_clocks_that_differ_are_named() {
        assert!(found(&[0; 32], 1).is_empty());
        for seed in 0..50 {
            for shift in [150, -150] {
                let mut errors = [0; 32];
                errors[14..28].fill(shift);
                let wrong = found(&errors, seed);
                assert!(wrong.keys().copied().eq(14..28), "{seed}: {wrong:?}");
                let bounds = 121..=130;
                assert!(wrong.values().all(|ns| bounds.contains(&(ns * shift.signum()))));
            }
            // One ahead, another behind.
            let mut errors = [0; 32];
            (errors[3], errors[9]) = (100, -100);
            let wrong = found(&errors, seed);
            let signs: Vec<_> = wrong.iter().map(|(&file, ns)| (file, ns.signum())).collect();
            assert_eq!(signs, [(3, 1), (9, -1)], "{seed}: {wrong:?}");
        }
    }
}
