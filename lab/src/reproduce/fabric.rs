//! Figures 6 to 13 of the Credence paper (NSDI '24, section 4 and appendix D), and those of the papers on [`abm`],
//! [`smartbuf`] and [`pred`]: policies in a leaf-spine fabric. Each figure is a [`FabricFigure`]; [`measure`] runs any of
//! them but PRED's and [`smartbuf_bursts`].
//!
//! The Credence paper compares LQD, Credence, DT and ABM. Here Complete Sharing, a tuned alpha and the untrained rule, which need no
//! oracle, are always beside them, and Credence asks both our default oracle and one on the paper's
//! features ([`crate::fabric_oracle`]).

pub mod abm;
mod figure_metrics;
mod figures;
mod measured;
mod observed;
pub mod pred;
mod scale;
pub mod smartbuf;
pub mod smartbuf_bursts;

pub(crate) use figure_metrics::figure_metric;
pub use figures::{Claim, FIGURES, FabricFigure, Panels, Paper, Vary};
pub use measured::{Cell, MeasuredFigure, Ratio, measure, oracles};
pub use observed::RunNumbers;
pub use scale::Scale;
