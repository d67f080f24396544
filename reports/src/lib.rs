//! What a model is worth, as numbers and pictures.

pub mod plot;
