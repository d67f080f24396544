//! A share of a whole.

use serde::{Deserialize, Serialize};

/// A number in [0, 1).
#[derive(Clone, Copy, Debug, Default, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "f64")]
pub struct Share(f64);

/// A number that is not a [`Share`].
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error("{0} is not a share: expected a number from 0, below 1")]
pub struct NotAShare(f64);

impl Share {
    /// Nothing.
    pub const ZERO: Share = Share(0.0);

    /// One half.
    pub const HALF: Share = Share(0.5);
    /// Four fifths.
    pub const FOUR_FIFTHS: Share = Share(0.8);

    /// `value` as a share.
    ///
    /// # Errors
    /// If it is not `0 <= value < 1`.
    pub fn new(value: f64) -> Result<Self, NotAShare> {
        if (0.0..1.0).contains(&value) { Ok(Share(value)) } else { Err(NotAShare(value)) }
    }

    /// Whether it is 0.
    pub fn is_zero(&self) -> bool {
        self.0 == 0.0
    }

    /// The share as a number.
    pub fn get(self) -> f64 {
        self.0
    }
}

impl TryFrom<f64> for Share {
    type Error = NotAShare;

    fn try_from(value: f64) -> Result<Self, NotAShare> {
        Share::new(value)
    }
}

impl From<Share> for f64 {
    fn from(share: Share) -> f64 {
        share.0
    }
}
