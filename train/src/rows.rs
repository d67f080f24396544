//! Which rows train, and how they are kept in memory as bins.

pub(crate) mod binned;
pub(crate) mod part_rows;
pub(crate) mod row_kind;
pub(crate) mod sorted_rows;
pub(crate) mod spill;
pub(crate) mod training_marks;
