//! Where an oracle pays: policies compared over many conditions (`lab/notes/where-an-oracle-pays.md`).
//!
//! An oracle can only be worth its tables where it is better than what needs none: a tuned alpha, which every
//! switch has. So LQD and every policy with an oracle are compared with the best of these.

mod advice;
mod conditions;
mod findings;
mod measured;
mod point;
mod settings;

pub use advice::{Advised, MapAdvice};
pub use conditions::{Grid, MapAxis, MapCondition, TransportMix};
pub use findings::{
    Compared, Difference, FALSE_DISCOVERY_RATE, MapFinding, PairCounts, PolicyTally, SettingTally,
    Significance, SubjectShare, Tally,
};
pub use measured::{Map, map, map_into, simulate_part};
pub use point::{MapPoint, MeasuredValues, PolicyValues};
pub use settings::{MapSettings, MeasureName};
