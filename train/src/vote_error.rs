//! Why a vote threshold could not be chosen.

/// Why a vote threshold could not be chosen, or a vote rule could not be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum VoteError {
    /// Not a rule.
    #[error(
        "unknown vote rule {0:?}; known are f1, eta-bound, eta, credence, \
         cost:FALSE_DROP:FALSE_ACCEPT (two costs of 0 to 1e9, not both 0), fixed and fixed:SHARE \
         (0 <= SHARE < 1)"
    )]
    Unknown(String),
    /// The bound depends on the number of ports.
    #[error("the eta-bound vote rule needs the switch's number of ports, which is unknown")]
    PortsUnknown,
    /// The rule replays arrivals, but these rows cannot be replayed.
    #[error(
        "the vote rules eta and credence replay the arrivals they choose on, which is not possible \
         here; choose by f1, eta-bound, cost or fixed"
    )]
    NeedsReplay,
}
