//! The theorems of the Credence paper, in its slotted model (appendix A); `docs/theory.md`.
//!
//! Each claim is held in two ways. [`explore`] decides it for every sequence of any length, for
//! switches of a few ports and packets, with the paper's [`pseudocode`]. Random larger sequences
//! then run through the crate's own switches, which [`steps`] holds to the pseudocode. What fails
//! is a test too: the smallest counterexample, with its numbers.

mod competitiveness;
mod error_bound;
mod explore;
mod games;
mod lemma_1;
mod observation_1;
mod optimum;
mod perfect_predictions;
mod pseudocode;
mod sequence;
mod steps;
