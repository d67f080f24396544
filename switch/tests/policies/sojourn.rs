//! TCN, CoDel and ECN# beside their authors' pseudocode with real numbers.

use crate::traffic::LINE_RATE_BPS;
use dropcast_data::SwitchSpec;
use dropcast_switch::aqm::Aqm;
use dropcast_switch::{AqmSite, AqmSpec, CompleteSharing, Fit, LineRate, Packet, Switch};
use proptest::prelude::*;

/// A packet that leaves: the time, how long it was in its queue, and the bytes that remain there.
type Leaving = (u64, u64, u32);

const TARGET_NS: u64 = 100;
const INTERVAL_NS: u64 = 1_000;
const INSTANT_NS: u64 = 400;
const QUEUE: usize = 1;

/// Which of the packets an AQM marks.
fn marks(aqm: &str, leaving: &[Leaving]) -> Vec<bool> {
    let spec = SwitchSpec::uniform(2, LINE_RATE_BPS, 1_000_000, 20_000);
    let spec_of_aqm: AqmSpec = aqm.parse().expect("a known AQM");
    let mut aqm = spec_of_aqm.build(AqmSite { spec: &spec, seed: 1 }).expect("valid parameters");
    let mark = |&(now_ns, sojourn_ns, remaining_bytes): &Leaving| {
        let mut switch = Switch::new(&spec, Fit::Exact, CompleteSharing, LineRate::new(&spec));
        switch.arrive(&Packet::new(0, QUEUE, remaining_bytes), now_ns);
        let buffer = switch.buffer();
        // Another queue has its own state.
        aqm.marks_leaving(buffer, 0, u64::from(now_ns % 3 == 0) * 1_000_000, now_ns);
        aqm.marks_leaving(buffer, QUEUE, sojourn_ns, now_ns)
    };
    leaving.iter().map(mark).collect()
}

/// Times at which marks are due are not compared closer than this, nanoseconds: roots round.
const CLOSE_NS: f64 = 4.0;

/// RFC 8289, section 5: `dodequeue` and `deque`, with at most one mark for each packet. None: too close to compare.
fn codel_by_hand(leaving: &[Leaving]) -> Option<Vec<bool>> {
    let (target, interval) = (TARGET_NS as f64, INTERVAL_NS as f64);
    let control_law = |t: f64, count: u32| t + (interval / f64::from(count).sqrt()).floor();
    let (mut first_above_time, mut drop_next) = (0.0, 0.0);
    let (mut count, mut lastcount, mut dropping) = (0_u32, 0_u32, false);
    let mut marks = Vec::new();
    for &(now, sojourn, bytes) in leaving {
        let now = now as f64;
        let mut ok_to_drop = false;
        if (sojourn as f64) < target || bytes <= 1_500 {
            first_above_time = 0.0;
        } else if first_above_time == 0.0 {
            first_above_time = now + interval;
        } else if now >= first_above_time {
            ok_to_drop = true;
        }
        let mut mark = false;
        if dropping {
            if !ok_to_drop {
                dropping = false;
            } else {
                if (now - drop_next).abs() < CLOSE_NS {
                    return None;
                }
                if now >= drop_next {
                    mark = true;
                    count += 1;
                    drop_next = control_law(drop_next, count);
                }
            }
        } else if ok_to_drop {
            mark = true;
            dropping = true;
            let delta = count - lastcount;
            if delta > 1 && (now - drop_next - 16.0 * interval).abs() < CLOSE_NS {
                return None;
            }
            count = if delta > 1 && now - drop_next < 16.0 * interval { delta } else { 1 };
            drop_next = control_law(now, count);
            lastcount = count;
        }
        marks.push(mark);
    }
    Some(marks)
}

/// ECN#, algorithm 1, and the instantaneous mark. None: too close to compare.
fn ecn_sharp_by_hand(leaving: &[Leaving]) -> Option<Vec<bool>> {
    let interval = INTERVAL_NS as f64;
    let (mut first_above_time, mut marking_next) = (None, 0.0);
    let (mut marking_state, mut marking_count) = (false, 0_u32);
    let mut marks = Vec::new();
    for &(now, sojourn, _) in leaving {
        let now = now as f64;
        let persistent_queue = if sojourn < TARGET_NS {
            first_above_time = None;
            false
        } else {
            let since = *first_above_time.get_or_insert(now);
            now >= since + interval
        };
        let mut mark = sojourn > INSTANT_NS;
        if !marking_state {
            if persistent_queue {
                (marking_state, marking_count) = (true, 1);
                marking_next = now + interval;
                mark = true;
            }
        } else if !persistent_queue {
            marking_state = false;
        } else {
            if (now - marking_next).abs() < CLOSE_NS {
                return None;
            }
            if now > marking_next {
                marking_count += 1;
                marking_next += (interval / f64::from(marking_count).sqrt()).floor();
                mark = true;
            }
        }
        marks.push(mark);
    }
    Some(marks)
}

/// Mostly long times in the queue, so that queues stand, with short ones between them.
fn leaving() -> impl Strategy<Value = Vec<Leaving>> {
    let sojourn = prop_oneof![20 => 100_u64..600, 1 => 0_u64..120];
    let remaining = prop_oneof![40 => Just(3_000_u32), 1 => 1_u32..2_000];
    let gap = prop_oneof![30 => 1_u64..200, 1 => 0_u64..30_000];
    prop::collection::vec((gap, sojourn, remaining), 1..400).prop_map(|packets| {
        let mut now_ns = 1;
        let at = |(gap, sojourn, remaining)| {
            now_ns += gap;
            (now_ns, sojourn, remaining)
        };
        packets.into_iter().map(at).collect()
    })
}

proptest! {
    #[test]
    fn tcn_marks_above_its_threshold(leaving in leaving()) {
        let expected: Vec<bool> = leaving.iter().map(|&(_, sojourn, _)| sojourn > 300).collect();
        prop_assert_eq!(marks("tcn:threshold_ns=300", &leaving), expected);
    }

    #[test]
    fn codel_is_rfc_8289_with_marks(leaving in leaving()) {
        if let Some(expected) = codel_by_hand(&leaving) {
            let aqm = format!("codel:target_ns={TARGET_NS},interval_ns={INTERVAL_NS}");
            prop_assert_eq!(marks(&aqm, &leaving), expected);
        }
    }

    #[test]
    fn ecn_sharp_is_its_algorithm_1(leaving in leaving()) {
        if let Some(expected) = ecn_sharp_by_hand(&leaving) {
            let aqm = format!("ecn-sharp:instant_ns={INSTANT_NS},target_ns={TARGET_NS},interval_ns={INTERVAL_NS}");
            prop_assert_eq!(marks(&aqm, &leaving), expected);
        }
    }
}

/// The n-th mark of a queue that stands follows an interval divided by the root of n after the one before.
#[test]
fn codel_marks_more_and_more_often() {
    let leaving: Vec<Leaving> = (0..100_000).map(|ns| (ns, 200, 3_000)).collect();
    let marks = marks("codel:target_ns=100,interval_ns=1000", &leaving);
    let times: Vec<usize> = (0..leaving.len()).filter(|&ns| marks[ns]).collect();
    assert_eq!(times[..4], [1_000, 2_000, 2_707, 3_284]);
}

/// The rule that finds a standing queue is off until the target was exceeded for an interval.
#[test]
fn a_short_excess_is_not_marked() {
    let leaving: Vec<Leaving> = (0..900).map(|ns| (ns, 200, 3_000)).collect();
    for aqm in ["codel", "ecn-sharp"] {
        let aqm = format!("{aqm}:target_ns=100,interval_ns=1000");
        assert!(marks(&aqm, &leaving).iter().all(|is_marked| !is_marked), "{aqm}");
    }
}
