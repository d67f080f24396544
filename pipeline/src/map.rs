//! Where an oracle pays: policies compared over many conditions (`docs/where-an-oracle-pays.md`).
//!
//! An oracle lets a drop-tail switch imitate LQD. So Credence can gain from predictions only where
//! LQD is better than both policies that need no oracle, Complete Sharing and FollowLQD.

mod conditions;
mod findings;
mod measured;
mod settings;

pub use conditions::{Axis, Condition, Grid, Priorities, TransportMix};
pub use findings::{Finding, OracleFinding, OracleTally, SubjectShare, Tally};
pub use measured::{Map, MapPoint, MeasuredValues, PolicyValues, map, map_into};
pub use settings::{MapSettings, Measure};
