//! Rows: their source, which of them train, and how they are kept in memory as bins.

pub(crate) mod binned;
pub(crate) mod part_rows;
pub(crate) mod row_kind;
pub(crate) mod row_numbers;
pub(crate) mod sorted_rows;
pub(crate) mod source;
pub(crate) mod spill;
pub(crate) mod training_marks;
pub(crate) mod training_rows;
