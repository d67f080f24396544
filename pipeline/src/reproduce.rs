//! Numerical figures of the Credence paper, measured again.

pub mod fig14;
