//! Sweeps: many configurations on the same rows.

mod table;

pub use table::{
    ForestSize, FrontMeasure, FrontPart, FrontRule, SWEEP_FORMAT_VERSION, Spread, SpreadScores,
    SweepRow, SweepScores, SweepSetting, SweepSummary, SweepTable, SweepTimings,
};
