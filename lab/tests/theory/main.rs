//! The theorems of the Credence paper, in its slotted model (appendix A); `lab/notes/theory.md`.
//!
//! Each claim is tested in two ways. [`explore`] decides it for every sequence of any length, for
//! switches of a few ports and packets, with the paper's [`pseudocode`], under the [`reading`]s
//! that the paper allows. Random larger sequences then run through the crate's own switches, which
//! [`steps`] compares with the pseudocode, and through FIFOs of numbered packets ([`fifo`]). A
//! claim that fails is a test too: its counterexample is replayed in these, with its numbers.

mod belady;
mod competitiveness;
mod error_bound;
mod explore;
mod fifo;
mod follow_max;
mod games;
mod lemma_1;
mod model;
mod observation_1;
mod optimum;
mod pay_back;
mod perfect_predictions;
mod pseudocode;
mod reading;
mod rivals;
mod safeguards;
mod sequence;
mod starvation;
mod steps;
mod theorem_1;
mod theorem_1_lines;
mod theorem_1_search;
mod two_references;
