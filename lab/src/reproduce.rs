//! Figures of papers, measured again.

pub mod abm_equations;
pub mod fabric;
pub mod fig14;
pub mod fig15;
mod figure;

pub use figure::{
    EquationSettings, FabricFigureSettings, Fig14Settings, Fig15Settings, Figure, FigureScale,
    OneScaleSettings, Reproduced,
};
