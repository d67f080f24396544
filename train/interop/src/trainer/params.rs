//! Parameters that not every trainer has.

#[cfg(any(feature = "linfa", feature = "smartcore"))]
use dropcast_train::{ForestParams, Monotone};

/// A parameter that a trainer does not have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{name} {why}")]
pub struct Unsupported {
    /// The parameter.
    pub name: &'static str,
    /// Why it is not supported, and what is.
    pub why: &'static str,
}

impl Unsupported {
    /// Refuses unless `fine`.
    #[cfg(any(feature = "linfa", feature = "smartcore"))]
    pub(super) fn unless(fine: bool, name: &'static str, why: &'static str) -> Result<(), Self> {
        if fine { Ok(()) } else { Err(Unsupported { name, why }) }
    }

    /// Refuses what no trainer of others has.
    #[cfg(any(feature = "linfa", feature = "smartcore"))]
    pub(super) fn unless_plain(max_bins: u16, monotone: Monotone) -> Result<(), Self> {
        let is_default = max_bins == ForestParams::default().max_bins;
        Unsupported::unless(is_default, "max_bins", "must be left alone: it has no bins")?;
        let may_fall = monotone != Monotone::On;
        Unsupported::unless(may_fall, "monotone", "must be auto or off: its scores may fall")
    }
}
