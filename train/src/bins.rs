//! Where a feature's values are divided into bins.

pub(crate) mod edges;
pub(crate) mod sketch;
#[cfg(test)]
mod tests;
