//! The data path of dropcast: what a packet event is, how a switch is described, what a
//! labelled trace holds, and how each is read and written.
//!
//! The types ([`Event`], [`SwitchSpec`], [`LabelledBatch`]) are plain data that every pure core
//! shares. Readers and writers sit behind the `files` feature, so that a core can depend on the
//! types without Parquet.

mod event;
mod labelled;
mod settings;
mod spec;

pub use event::{Event, EventBatch, EventKind};
pub use labelled::{ArrivalColumns, LabelledBatch, Outcome, RowOrder};
pub use settings::{CollectSettings, Departures, UnknownWord, Victim};
pub use spec::{PortId, Scheduler, SpecError, SwitchSpec, SwitchSpecs};
