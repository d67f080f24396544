//! Training's random streams, one per purpose.

use dropcast_data::random::Stream;

/// The purpose of a draw: draws for different purposes are independent.
#[derive(Clone, Copy)]
#[repr(u64)]
pub(crate) enum Purpose {
    Bootstrap = 1,
    FeatureOrder = 2,
    Split = 3,
}

impl Purpose {
    /// The stream of this purpose for `key`.
    pub(crate) fn stream(self, seed: u64, key: &[u64]) -> Stream {
        Stream::new(seed, self as u64, key)
    }
}
