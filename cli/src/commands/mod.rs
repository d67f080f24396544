//! One file per command.

pub(crate) mod collect;
pub(crate) mod counters;
pub(crate) mod export;
pub(crate) mod import;
pub(crate) mod inspect;
pub(crate) mod report;
pub(crate) mod rescale;
pub(crate) mod resources;
pub(crate) mod run;
pub(crate) mod simulate;
pub(crate) mod sweep;
pub(crate) mod switch;
pub(crate) mod train;
pub(crate) mod verify;
