//! Numerical figures of the Credence paper, measured again.

pub mod fabric;
pub mod fig14;
pub mod fig15;
