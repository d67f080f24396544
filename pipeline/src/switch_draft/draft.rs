//! A draft of a switch description.

/// A switch description, and what is not in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SwitchDraft {
    /// The description, TOML, with what is not carried over as comments.
    pub toml: String,
    /// What is not carried over or not known, and what was chosen among several: sentences.
    pub notes: Vec<String>,
}
