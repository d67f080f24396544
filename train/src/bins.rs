//! Choosing the bins of a feature's values.

pub(crate) mod edges;
pub(crate) mod sketch;
#[cfg(test)]
mod tests;
