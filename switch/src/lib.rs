//! Shared-buffer switches: one event loop, two time models, one file per buffer-sharing policy.
//!
//! A [`Switch`] is a [`Buffer`], a [`Policy`] that admits packets to it and a [`TimeModel`] that
//! takes them out. The services are the time models: [`Slotted`] is the papers' model (Credence,
//! appendix A: unit packets, every queue sends one per slot), [`LineRate`] is continuous time with
//! packets of any size, and [`Observed`] drains the queues by a trace's own departures.
//!
//! [`VirtualLqd`] is push-out Longest Queue Drop with the moving averages of `dropcast-features`
//! beside it: the tracer labels packets with it, and FollowLQD and Credence take their thresholds
//! and features from it. So a model runs on the features it was trained on.
//!
//! [`PolicySpec`] and [`AqmSpec`] name policies and AQMs with their parameters, in TOML and on
//! command lines.
//!
//! ```
//! use dropcast_data::SwitchSpec;
//! use dropcast_switch::{CompleteSharing, Fit, LineRate, Lqd, Packet, Policy, Switch, Victim};
//!
//! /// Six packets for port 0, then two for port 1, arrive at once: how many of these two are accepted?
//! fn accepted(policy: impl Policy) -> usize {
//!     // Two ports share 4,000 bytes. One packet is on the wire, so the first six fill the buffer.
//!     let spec = SwitchSpec::uniform(2, 10_000_000_000, 4_000, 10_000);
//!     let mut switch = Switch::new(&spec, Fit::Exact, policy, LineRate::new(&spec));
//!     let queues = [0, 0, 0, 0, 0, 0, 1, 1];
//!     let accepted = (0..).zip(queues).filter(|&(id, queue)| {
//!         let packet = Packet { id, queue, size_bytes: 1_000, flow_hash: 0, flags: 0 };
//!         switch.arrive(&packet, 0) && queue == 1
//!     });
//!     accepted.count()
//! }
//!
//! // LQD pushes packets out of port 0's queue to make room.
//! assert_eq!(accepted(CompleteSharing), 0);
//! assert_eq!(accepted(Lqd::new(Victim::Tail)), 2);
//! ```

mod about;
mod alphas;
pub mod aqm;
mod aqm_spec;
mod buffer;
mod flow_table;
mod fluid_optimum;
mod future;
mod longest;
pub mod lqd;
mod ndt_network;
pub mod policies;
mod policy;
mod policy_site;
mod policy_spec;
mod predictor;
mod registry;
mod service;
mod switch;
mod tournament;
mod turn;
mod virtual_lqd;

pub use about::ModelKind;
pub use alphas::{AlphaError, Alphas};
pub use aqm_spec::{AqmSite, AqmSpec};
pub use buffer::{Buffer, Fit, Held};
pub use dropcast_data::Victim;
pub use fluid_optimum::FluidOptimum;
pub use lqd::Lqd;
pub use policies::complete_partitioning::CompletePartitioning;
pub use policies::complete_sharing::CompleteSharing;
pub use policies::credence::CredencePolicy;
pub use policies::dynamic_thresholds::DynamicThresholds;
pub use policies::follow_lqd::{FollowLqd, fits_below, situation};
pub use policies::follow_max::FollowMax;
pub use policies::harmonic::Harmonic;
pub use policies::offline_optimum::OfflineOptimum;
pub use policies::payback_credence::PaybackCredence;
pub use policies::real_queues::FeatureSource;
pub use policy::{Decision, Packet, Policy};
pub use policy_site::{PolicyModel, PolicySite};
pub use policy_spec::PolicySpec;
pub use predictor::{AlwaysAccept, Asked, Flipped, Live, Predictor, Recorded};
pub use registry::{BuildError, NameError};
pub use service::{LineRate, Observed, Slotted, TimeModel};
pub use switch::{NoObserver, Observer, Removal, Switch};
pub use tournament::Tournament;
pub use turn::Turn;
pub use virtual_lqd::VirtualLqd;
