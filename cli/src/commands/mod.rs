//! One file per command.

pub(crate) mod collect;
mod cross_validate;
pub(crate) mod export;
mod fig14;
pub(crate) mod import;
pub(crate) mod inspect;
pub(crate) mod report;
pub(crate) mod reproduce;
pub(crate) mod rescale;
pub(crate) mod resources;
pub(crate) mod run;
pub(crate) mod simulate;
pub(crate) mod sweep;
pub(crate) mod train;
mod train_each;
pub(crate) mod verify;
