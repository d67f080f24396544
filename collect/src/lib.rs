//! The tracer: packet events in, labelled rows out.
//!
//! [`Tracer`] runs push-out Longest Queue Drop *virtually* beside whatever the real switch did, and
//! records for each arrival its features and whether LQD would have dropped it. It never opens a
//! file: it is given batches of checked events and gives batches of rows back, one row per
//! arrival, in order of arrival.

mod switch_tracer;
mod tracer;
mod waiting;

pub use tracer::{CollectError, Tracer, trace};
