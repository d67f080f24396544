//! What was measured, as pages, figures and words. They are made from values alone; nothing that measures
//! imports them.

pub mod abm_equations;
mod experiment_text;
pub mod fabric_figure;
pub mod fig14;
pub mod fig15;
mod flow_times;
pub mod map;
mod metric_label;
mod refined_text;
pub mod reproduced;

pub use experiment_text::experiment_text;
pub use flow_times::flow_times;
pub use refined_text::refined_text;
