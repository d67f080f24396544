//! The lab: policies compared in a fabric whose senders react, oracles chosen there, and the papers' figures
//! measured again. The pipeline (collect, train, report, export) does not know it.
//!
//! An experiment is in [`closed_loop`], many of them are a [`map`](mod@map), [`refine`] chooses and trains oracles
//! in them, [`reproduce`] has the papers' figures; [`pages`] shows what came of it.

pub mod closed_loop;
pub mod command;
pub mod fabric_oracle;
pub mod map;
pub mod pages;
pub mod refine;
pub mod reproduce;
