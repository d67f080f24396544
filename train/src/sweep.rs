//! Sweeps: many configurations on the same rows (`docs/sweep.md`).

mod axes;
mod best;
mod front;
mod part;
mod plan;
mod summary;
mod table;
#[cfg(test)]
mod tests;

pub use axes::{SEEDS, SweepAxes};
pub use part::{SweepPart, SweepPartError, assemble};
pub use plan::{MOST_SWEEP_ROWS, SweepGroup, SweepPlan};
pub use table::{
    ForestSize, FrontMeasure, FrontPart, FrontRule, PartSize, SWEEP_FORMAT_VERSION, Spread,
    SpreadScores, SweepAlpha, SweepBest, SweepParts, SweepRow, SweepScores, SweepSetting,
    SweepSummary, SweepTable, SweepTimings,
};
