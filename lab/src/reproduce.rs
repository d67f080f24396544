//! Figures of papers, measured again.

pub mod abm_equations;
pub mod fabric;
pub mod fig14;
pub mod fig15;
mod figure;
mod figure_settings;

pub use figure::{Figure, Reproduced};
pub use figure_settings::{
    EquationSettings, FabricFigureSettings, Fig14Settings, Fig15Settings, FigureScale,
    OneScaleSettings,
};
