//! Numerical figures of the Credence paper, measured again.

pub mod fig14;
pub mod fig15;
