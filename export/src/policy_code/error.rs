//! Why a policy cannot be had as code.

/// Why a policy cannot be had as code for a switch.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PolicyCodeError {
    /// An alpha that integers cannot hold.
    #[error("alpha {0}: expected a multiple of 1/128 up to 65,536")]
    Alpha(f64),
    /// A base that the code does not have.
    #[error("base {0}: expected Dynamic Thresholds, such as base=dt:alpha=16")]
    Base(&'static str),
    /// The fabric's policy cannot be built, so there are no packets to check the code with.
    #[error("{0}")]
    Policy(String),
}
