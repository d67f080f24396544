//! Figures 6 to 13 of the Credence paper (NSDI '24, section 4 and appendix D): policies in a
//! leaf-spine fabric. Each figure is a [`FabricFigure`]; [`measure`] runs any of them.
//!
//! The paper compares LQD, Credence, DT and ABM. Here Complete Sharing, a tuned alpha and the untrained rule, which need no
//! oracle, are always beside them, and Credence asks both our default oracle and one on the paper's
//! features ([`crate::fabric_oracle`]).

mod figures;
mod measured;
mod scale;

pub use figures::{Claim, FIGURES, FabricFigure, Panels, Vary};
pub use measured::{Cell, MeasuredFigure, Ratio, measure, oracles};
pub use scale::Scale;
