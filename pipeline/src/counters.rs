//! What queue counters and watermarks say about a shared buffer (`docs/counters.md`).

mod arrivals;
mod bounds;
mod bytes_range;
mod csv;
mod polls;
mod reading;
mod report;
mod screens;

pub use arrivals::{arrivals, write_arrivals};
pub use bytes_range::BytesRange;
pub use polls::{Poll, Polls, QueueId, Reading};
pub use reading::CounterReading;
pub use report::{
    COUNTERS_SCHEMA_VERSION, CounterConclusion, CounterPeak, CounterReport, DroppingQueue,
    PortCounters, judge_counters,
};
