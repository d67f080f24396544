//! What queue counters and watermarks say about a shared buffer (`docs/counters.md`).

mod arrivals;
mod bounds;
mod bytes_range;
mod coverage;
mod csv;
mod intervals;
mod judge;
mod polls;
mod reading;
mod report;
mod screens;
mod totals;

pub use arrivals::{Arrivals, arrivals, write_arrivals};
pub use bytes_range::Bounds;
pub use coverage::CounterCoverage;
pub use judge::judge_counters;
pub use polls::{Poll, PolledQueue, Polls, QueueId, Reading};
pub use reading::CounterReading;
pub use report::{
    COUNTERS_SCHEMA_VERSION, CounterConclusion, CounterPeak, CounterReport, DroppingQueue,
    PortCounters,
};
