//! Training: forests on labelled traces.

mod forest;

pub use forest::{Forest, Node, Tree};
