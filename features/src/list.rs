//! The list of features and the named sets. A new feature gets a line here.

use crate::descriptor::Descriptor;
use crate::families::classes::{CLASSED_IN_QUARTER_RTT, CUT_IN_QUARTER_RTT};
use crate::families::levels::{
    LEVEL_IN_ONE_RTT, LEVEL_IN_QUARTER_RTT, LEVEL_IN_TWO_RTTS, LEVEL_OCCUPANCY,
};
use crate::families::longest::{LONGEST_GAP, LONGEST_QUEUE, RANK};
use crate::families::ordered::ORDERED_IN_QUARTER_RTT;
use crate::families::paper::{AVG_OCCUPANCY, AVG_QUEUE_LENGTH, OCCUPANCY, QUEUE_LENGTH};
use crate::families::projected::PROJECTED_OCCUPANCY;
use crate::families::spread::SPREAD_IN_QUARTER_RTT;

/// Every feature, in the order of trace columns and codes.
pub(crate) static LIST: [&Descriptor; 16] = [
    &QUEUE_LENGTH,
    &AVG_QUEUE_LENGTH,
    &OCCUPANCY,
    &AVG_OCCUPANCY,
    &LONGEST_QUEUE,
    &RANK,
    &LONGEST_GAP,
    &PROJECTED_OCCUPANCY,
    &LEVEL_OCCUPANCY,
    &LEVEL_IN_QUARTER_RTT,
    &LEVEL_IN_ONE_RTT,
    &LEVEL_IN_TWO_RTTS,
    &CLASSED_IN_QUARTER_RTT,
    &CUT_IN_QUARTER_RTT,
    &SPREAD_IN_QUARTER_RTT,
    &ORDERED_IN_QUARTER_RTT,
];

/// The four features of the Credence paper (NSDI '24, section 4.1).
pub(crate) static PAPER4: [&Descriptor; 4] =
    [&QUEUE_LENGTH, &AVG_QUEUE_LENGTH, &OCCUPANCY, &AVG_OCCUPANCY];

/// The buffer from Longest Queue Drop's view of the packet's queue, now and later.
pub(crate) static LEVEL4: [&Descriptor; 4] =
    [&LEVEL_OCCUPANCY, &LEVEL_IN_QUARTER_RTT, &LEVEL_IN_ONE_RTT, &LEVEL_IN_TWO_RTTS];

/// How full the buffer is, where it is heading, how long the packet's queue is, and how far from
/// being the longest: features that carry over to other loads and bursts.
pub(crate) static CARRY4: [&Descriptor; 4] =
    [&QUEUE_LENGTH, &OCCUPANCY, &LONGEST_GAP, &PROJECTED_OCCUPANCY];

/// The named sets.
pub(crate) static SETS: [(&str, &[&Descriptor]); 9] = [
    ("paper4", &PAPER4),
    ("level4", &LEVEL4),
    ("carry4", &CARRY4),
    ("longest", &[&LONGEST_QUEUE]),
    ("level1", &[&LEVEL_IN_QUARTER_RTT]),
    ("class1", &[&CLASSED_IN_QUARTER_RTT]),
    ("cut1", &[&CUT_IN_QUARTER_RTT]),
    ("spread1", &[&SPREAD_IN_QUARTER_RTT]),
    ("order1", &[&ORDERED_IN_QUARTER_RTT]),
];

#[cfg(test)]
mod tests {
    use super::*;

    /// Tables hold codes and traces hold names, so both must be unique.
    #[test]
    fn codes_count_up_and_names_differ() {
        for (place, feature) in LIST.iter().enumerate() {
            assert_eq!(usize::from(feature.code), place, "{}", feature.name);
            let same_name = LIST.iter().filter(|other| other.name == feature.name).count();
            assert_eq!(same_name, 1, "{}", feature.name);
            assert!(SETS.iter().all(|(set, _)| *set != feature.name), "{}", feature.name);
        }
    }
}
