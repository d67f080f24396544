//! What was measured, as pages, figures and words. They are made from values alone; nothing that measures
//! imports them.

mod experiment_text;
pub mod fabric_figure;
pub mod fig14;
pub mod fig15;
pub mod map;
mod metric_words;
mod refined_text;
pub mod reproduced;

pub use experiment_text::experiment_text;
pub use refined_text::refined_text;
