//! The tracer: packet events in, labelled rows out.
//!
//! [`Tracer`] runs push-out Longest Queue Drop *virtually* beside the real switch. For each arrival
//! it records the features and whether LQD would have dropped the packet. It opens no files: it
//! takes batches of checked events and returns batches of rows, one row per arrival, in order of
//! arrival.
//!
//! ```
//! use dropcast_collect::Tracer;
//! use dropcast_data::{CollectSettings, Event, EventBatch, EventKind, SwitchSpec, SwitchSpecs};
//!
//! // Two ports of 8 Gbit/s, a buffer of 3,000 bytes, a base RTT of 1 us.
//! let spec = SwitchSpec::uniform(2, 8_000_000_000, 3_000, 1_000);
//! let features = "queue_length,occupancy".parse()?;
//! let mut tracer = Tracer::new(SwitchSpecs::Same(spec), CollectSettings::default(), features);
//!
//! // Four packets for port 0, then one for port 1.
//! let arrival = |time_ns, port| Event {
//!     time_ns,
//!     flow_hash: 0,
//!     size_bytes: 1_500,
//!     switch_id: 0,
//!     port,
//!     queue: 0,
//!     kind: EventKind::Arrival,
//!     flags: 0,
//! };
//! let events = [(0, 0), (1, 0), (2, 0), (3, 0), (4, 1)].map(|(time_ns, port)| arrival(time_ns, port));
//! let known = tracer.push(&EventBatch::new(events.to_vec()))?;
//! let rest = tracer.finish();
//!
//! // The first packet is on the wire and two fill the buffer. For each of the last two, LQD pushes
//! // out the tail of port 0's queue.
//! let drops = [known.drop, rest.drop].concat();
//! assert_eq!(drops, [false, false, true, true, false]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod error;
mod follower_labels;
mod optimum_labels;
mod switch_tracer;
mod tracer;
mod waiting;

pub use error::CollectError;
pub use follower_labels::{FOLLOWERS, FollowerLabels};
pub use optimum_labels::label_by_optimum;
pub use tracer::{Tracer, trace};
