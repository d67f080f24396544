//! Parameters that not every trainer has.

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
}
