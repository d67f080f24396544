//! Plain data that every pure core shares: it needs no file.

mod event;
#[cfg(feature = "files")]
mod flow_key;
mod input_note;
mod labelled;
mod nearly;
mod not_modelled;
mod other_kind;
mod pause;
mod printable;
mod provenance;
pub mod random;
mod settings;
mod spec;
mod specs;
mod threads;
mod trace_meta;

pub use event::{DropReason, Event, EventBatch, EventKind};
#[cfg(feature = "files")]
pub(crate) use flow_key::FlowKey;
pub use input_note::InputNote;
pub use labelled::{ArrivalColumns, FlowColumns, LabelledBatch, Outcome, RowOrder};
pub use nearly::nearly;
pub use other_kind::other_kind;
pub use pause::{Pause, PauseChange, PauseSchedule};
pub use printable::{printable, printable_line};
pub use provenance::{CaptureFacts, InputProvenance, SilentPort, TapFacts};
pub use settings::{CollectSettings, Departures, Label, OnBadRow, UnknownWord, Victim};
pub use spec::{PortId, Scheduler, SpecError, SwitchSpec};
pub use specs::SwitchSpecs;
pub use threads::Threads;
pub use trace_meta::{AVERAGE_NS3_TRUNC, TRACE_SCHEMA_VERSION, TraceMeta};
