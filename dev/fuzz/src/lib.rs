//! What each fuzz target does with its bytes. Whether they are accepted does not matter; a panic, an
//! endless loop, or more than a gigabyte of memory does. Tests of both programs run the targets on their corpora
//! (`cli/tests/corpus.rs`, `lab/tests/corpus.rs`).

mod files;
mod lab;
mod pipeline;

/// The inputs of each target.
pub(crate) const CORPUS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/corpus");

/// Gives bytes to the target of this name.
pub fn run(name: &str, bytes: &[u8]) {
    let mut targets = pipeline::TARGETS.iter().chain(&lab::TARGETS);
    let (_, target) = targets.find(|(known, _)| *known == name).expect("a known target");
    target(bytes);
}
