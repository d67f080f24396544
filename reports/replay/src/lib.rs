//! Replays: the same arrivals through every buffer-sharing policy.
//!
//! A [`Replay`] runs all policies on one trace with given predictions. Its result holds the exact
//! prediction error `eta` (Credence, Definition 1): LQD's transmitted packets divided by
//! FollowLQD's on the arrivals without the predicted drops. A [`ForestReplay`] runs many forests
//! and vote thresholds in one pass, for vote rules.
//!
//! ```
//! use dropcast_data::{SwitchSpec, SwitchSpecs};
//! use dropcast_replay::{Arrival, Replay, ReplayOptions};
//!
//! // Two ports of 8 Gb/s, one byte per nanosecond, share a buffer of 4 bytes.
//! let spec = SwitchSpec::uniform(2, 8_000_000_000, 4, 1_000);
//! let mut replay = Replay::new(SwitchSpecs::Same(spec), ReplayOptions::default());
//! // Eight packets of one byte arrive at once. The oracle predicts that all but one are dropped.
//! for packet in 0..8 {
//!     replay.arrive(&Arrival {
//!         time_ns: 0,
//!         switch_id: 0,
//!         port: 0,
//!         queue: 0,
//!         size_bytes: 1,
//!         flow_hash: 0,
//!         first_rtt: false,
//!         dropped: false,
//!         predicted: packet > 0,
//!         counted: true,
//!     })?;
//! }
//! let replayed = &replay.finish()[&0];
//! let lqd = replayed.sent[0].packets;
//! let eta = lqd as f64 / replayed.followed.packets as f64;
//! assert!(lqd >= 4 && replayed.followed.packets == 1 && eta >= 4.0);
//! # Ok::<(), dropcast_replay::ReplayError>(())
//! ```

mod alpha_lanes;
mod arrival;
mod forest_replay;
mod given_threshold;
mod lane;
mod optimum;
mod replay;
mod rival_switch;
mod rivals;

pub use arrival::{Arrival, ArrivalChecker, ReplayError};
pub use forest_replay::lanes_sent::{AlphasSent, BaselinesSent, LanesSent};
pub use forest_replay::{ForestReplay, ForestReplayError};
pub use lane::ReplayOptions;
pub use optimum::{OptimumReplay, OptimumSent};
pub use replay::{Dropped, Replay, ReplayPolicy, Replayed, dt_alpha, own_policy};
pub use rival_switch::RivalSent;
pub use rivals::{OraclesByName, OwnPolicy, RivalReplay, RivalsSent, oracle_at};

pub use dropcast_forest::Sent;
