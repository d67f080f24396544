//! Where an oracle pays: policies compared over many conditions (`docs/where-an-oracle-pays.md`).
//!
//! A condition is *oracle-prone* in a measure if LQD, which an oracle lets a drop-tail switch
//! imitate, is better there than both policies that need no oracle, Complete Sharing and FollowLQD.
//! Only there can Credence gain from predictions what these policies do not get without.

mod conditions;
mod findings;
mod measured;
mod settings;

pub use conditions::{Axis, Condition, Grid, Priorities, TransportMix};
pub use findings::{Finding, OracleFinding, OracleTally, Tally};
pub use measured::{Map, MapPoint, MeasuredValues, PolicyValues, map};
pub use settings::{MapSettings, Measure};
