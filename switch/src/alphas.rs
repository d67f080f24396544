//! The `alpha` of policies by thresholds, by queue within a port.

use serde::{Deserialize, Serialize};
use std::fmt;

/// The factor of a threshold on the free buffer, for each queue within a port (each priority).
/// Positive and finite. Written as one number, or as a list whose last number serves all further
/// queues.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Written", into = "Written")]
pub struct Alphas(Vec<f64>);

impl Alphas {
    /// One for every queue within a port.
    ///
    /// # Errors
    /// If there is none, or one is not a positive number.
    pub fn new(by_queue: Vec<f64>) -> Result<Self, AlphaError> {
        if by_queue.is_empty() {
            return Err(AlphaError::Missing);
        }
        match by_queue.iter().find(|&&alpha| !is_alpha(alpha)) {
            Some(&alpha) => Err(AlphaError::NotPositive(alpha)),
            None => Ok(Alphas(by_queue)),
        }
    }

    /// The alpha of a queue within a port.
    pub fn at(&self, queue_in_port: usize) -> f64 {
        self.0[queue_in_port.min(self.0.len() - 1)]
    }
}

/// One number, or a list by queue.
impl fmt::Display for Alphas {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let numbers: Vec<String> = self.0.iter().map(f64::to_string).collect();
        f.write_str(&numbers.join(", "))
    }
}

/// Whether a number can be an alpha.
pub(crate) fn is_alpha(alpha: f64) -> bool {
    alpha.is_finite() && alpha > 0.0
}

impl TryFrom<f64> for Alphas {
    type Error = AlphaError;

    fn try_from(alpha: f64) -> Result<Self, AlphaError> {
        Alphas::new(vec![alpha])
    }
}

/// Why numbers are not valid alphas.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum AlphaError {
    /// The list is empty.
    #[error("alpha: the list is empty, expected a number or a list of numbers")]
    Missing,
    /// One is not positive, or not finite.
    #[error("alpha: {0} is not a positive number")]
    NotPositive(f64),
}

#[derive(Serialize, Deserialize)]
#[serde(untagged, expecting = "expected a number, or a list of one for each queue of a port")]
enum Written {
    One(f64),
    Each(Vec<f64>),
}

impl TryFrom<Written> for Alphas {
    type Error = AlphaError;

    fn try_from(written: Written) -> Result<Self, AlphaError> {
        match written {
            Written::One(alpha) => Alphas::try_from(alpha),
            Written::Each(by_queue) => Alphas::new(by_queue),
        }
    }
}

impl From<Alphas> for Written {
    fn from(Alphas(by_queue): Alphas) -> Self {
        match by_queue[..] {
            [alpha] => Written::One(alpha),
            _ => Written::Each(by_queue),
        }
    }
}
