//! The list of features and the named sets. A new feature gets a line here.

use crate::descriptor::{Arrival, Descriptor};
use crate::families::classes::{CLASSED_IN_QUARTER_RTT, CUT_IN_QUARTER_RTT};
use crate::families::flow::{
    FLOW_BURST, FLOW_BURSTS, FLOW_GAP, FLOW_LAST_BURST, FLOW_LAST_MESSAGE, FLOW_LEAST_BURST,
    FLOW_LEAST_MESSAGE, FLOW_MOST_BURST, FLOW_MOST_MESSAGE, FLOW_PACKETS, FLOW_PAUSE,
};
use crate::families::levels::{
    LEVEL_IN_ONE_RTT, LEVEL_IN_QUARTER_RTT, LEVEL_IN_TWO_RTTS, LEVEL_OCCUPANCY,
};
use crate::families::longest::{LONGEST_GAP, LONGEST_QUEUE, RANK};
use crate::families::paper::{AVG_OCCUPANCY, AVG_QUEUE_LENGTH, OCCUPANCY, QUEUE_LENGTH};
use crate::families::projected::PROJECTED_OCCUPANCY;

/// Every feature, in the order of trace columns and codes. Codes 14 and 15 were of features that are gone: none takes
/// them again.
pub(crate) static LIST: [&Descriptor; 25] = [
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
    &FLOW_BURST,
    &FLOW_BURSTS,
    &FLOW_PACKETS,
    &FLOW_GAP,
    &FLOW_PAUSE,
    &FLOW_LAST_BURST,
    &FLOW_LEAST_BURST,
    &FLOW_MOST_BURST,
    &FLOW_LAST_MESSAGE,
    &FLOW_LEAST_MESSAGE,
    &FLOW_MOST_MESSAGE,
];

/// A named set of features.
pub(crate) struct NamedSet {
    pub(crate) name: &'static str,
    /// Its features, in order.
    pub(crate) features: &'static [&'static Descriptor],
    /// Writes their values for a packet, in order. One function for all of them: a packet of the tracer
    /// takes fewer instructions than with one call for each feature.
    pub(crate) observe: fn(&Arrival<'_>, &mut [u32]),
}

macro_rules! named_set {
    ($name:literal: $($feature:ident),+) => {
        NamedSet {
            name: $name,
            features: &[$(&$feature),+],
            observe: |packet, values| {
                let observed = [$(($feature.observe)(packet)),+];
                values[..observed.len()].copy_from_slice(&observed);
            },
        }
    };
}

/// The four features of the Credence paper (NSDI '24, section 4.1).
pub(crate) static PAPER4: NamedSet =
    named_set!("paper4": QUEUE_LENGTH, AVG_QUEUE_LENGTH, OCCUPANCY, AVG_OCCUPANCY);

/// The buffer from Longest Queue Drop's view of the packet's queue, now and later.
pub(crate) static LEVEL4: NamedSet = named_set!(
    "level4": LEVEL_OCCUPANCY, LEVEL_IN_QUARTER_RTT, LEVEL_IN_ONE_RTT, LEVEL_IN_TWO_RTTS
);

/// How full the buffer is, where it is heading, how long the packet's queue is, and how far from
/// being the longest: features that carry over to other loads and bursts.
static CARRY4: NamedSet =
    named_set!("carry4": QUEUE_LENGTH, OCCUPANCY, LONGEST_GAP, PROJECTED_OCCUPANCY);

/// What a switch has seen of the packet's flow.
static FLOW11: NamedSet = named_set!(
    "flow11": FLOW_BURST, FLOW_BURSTS, FLOW_PACKETS, FLOW_GAP, FLOW_PAUSE, FLOW_LAST_BURST, FLOW_LEAST_BURST, FLOW_MOST_BURST, FLOW_LAST_MESSAGE, FLOW_LEAST_MESSAGE, FLOW_MOST_MESSAGE
);

/// The named sets.
pub(crate) static SETS: [&NamedSet; 8] = [
    &PAPER4,
    &LEVEL4,
    &CARRY4,
    &named_set!("longest": LONGEST_QUEUE),
    &named_set!("level1": LEVEL_IN_QUARTER_RTT),
    &named_set!("class1": CLASSED_IN_QUARTER_RTT),
    &named_set!("cut1": CUT_IN_QUARTER_RTT),
    &FLOW11,
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cost::FeatureWork;
    use crate::feature::Feature;
    use crate::history::FeatureMemory;

    /// Tables hold codes and traces hold names, so both must be unique.
    #[test]
    fn codes_rise_and_names_differ() {
        assert!(LIST.is_sorted_by(|one, next| one.code < next.code));
        for none in [14, 15, Feature::OWN_CODE] {
            assert_eq!(Feature::with_code(none), None, "{none}");
        }
        for feature in LIST {
            let found = Feature::with_code(feature.code).map(Feature::name);
            assert_eq!(found, Some(feature.name));
            let same_name = LIST.iter().filter(|other| other.name == feature.name).count();
            assert_eq!(same_name, 1, "{}", feature.name);
            assert!(SETS.iter().all(|set| set.name != feature.name), "{}", feature.name);
        }
    }
    /// Devices keep for a feature what its definition remembers and looks at.
    #[test]
    fn devices_keep_what_a_feature_needs() {
        let on_devices = LIST.iter().filter_map(|of| Some((of, dropcast_runtime::keeps(of.code)?)));
        let on_devices: Vec<_> = on_devices.collect();
        assert!(!on_devices.is_empty());
        for (feature, keeps) in on_devices {
            let has_rates = !matches!(
                feature.memory,
                FeatureMemory::Nothing | FeatureMemory::MovingAverages | FeatureMemory::Flows
            );
            let has = |is: fn(&FeatureWork) -> bool| feature.parts.iter().any(is);
            let needed = dropcast_runtime::Keeps {
                averages: feature.memory == FeatureMemory::MovingAverages,
                arrivals: has_rates,
                total: has(|part| matches!(part, FeatureWork::TotalAhead(_))),
                classes: feature.memory == FeatureMemory::LengthClasses,
                scan: has(|part| {
                    matches!(
                        part,
                        FeatureWork::Longest
                            | FeatureWork::Rank
                            | FeatureWork::Level
                            | FeatureWork::LevelAhead(_)
                    )
                }),
                level: has(|part| {
                    matches!(
                        part,
                        FeatureWork::Level | FeatureWork::LevelAhead(_) | FeatureWork::AllClasses
                    )
                }),
            };
            assert_eq!(keeps, needed, "{}", feature.name);
        }
    }
}
