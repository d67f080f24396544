//! Why a policy cannot be had as code.

/// Why a policy cannot be had as code for a switch.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PolicyCodeError {
    /// A gate that is no share, or one that never opens.
    #[error("gate {0}: expected 0 to {highest}", highest = dropcast_switch::policies::oracle::Confirmation::HIGHEST_GATE)]
    Gate(f64),
    /// No time ahead.
    #[error("horizon_ns is 0, expected at least 1")]
    Horizon,
    /// An alpha that integers cannot hold.
    #[error("alpha {0}: expected a multiple of 1/128 up to 65,536")]
    Alpha(f64),
    /// A port that is too fast for the horizon.
    #[error("port {0} sends more than 4 GiB within the horizon, or two base RTTs")]
    Drain(usize),
    /// A base that the code does not have.
    #[error("base {0}: expected Dynamic Thresholds, such as base=dt:alpha=16")]
    Base(&'static str),
    /// A model that the code cannot ask.
    #[error("{0}")]
    Model(String),
    /// The fabric's policy cannot be built, so there are no packets to check the code with.
    #[error("{0}")]
    Policy(String),
}
