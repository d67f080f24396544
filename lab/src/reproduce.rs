//! Numerical figures of the Credence paper, measured again.

pub mod fabric;
pub mod fig14;
pub mod fig15;
mod figure;

pub use figure::{
    FabricFigureSettings, Fig14Settings, Fig15Settings, Figure, FigureScale, Reproduced,
};
