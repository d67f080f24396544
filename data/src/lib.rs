//! The data of dropcast: packet events, switch descriptions, labelled traces, and their readers and
//! writers.
//!
//! The types ([`Event`], [`SwitchSpec`], [`LabelledBatch`]) are plain data that every pure core
//! shares. Readers and writers sit behind the `files` feature, so that a core can depend on the
//! types without Parquet.
//!
//! ```
//! # #[cfg(not(feature = "files"))]
//! # fn main() {}
//! # #[cfg(feature = "files")]
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! use dropcast_data::{EventOptions, EventReader, SwitchSpec, SwitchSpecs};
//!
//! let folder = tempfile::tempdir()?;
//! let path = folder.path().join("events.csv");
//! std::fs::write(&path, "time_ns,port,size_bytes\n0,0,1500\n120,1,1500\n")?;
//!
//! // Two ports of 10 Gbit/s, a buffer of 64 kB, a base RTT of 25.2 us.
//! let spec = SwitchSpec::uniform(2, 10_000_000_000, 64_000, 25_200);
//! let options = EventOptions { specs: Some(SwitchSpecs::Same(spec)), ..EventOptions::default() };
//! let mut ports = Vec::new();
//! for batch in EventReader::open(&path, options)? {
//!     ports.extend(batch?.events.iter().map(|event| event.port));
//! }
//! assert_eq!(ports, [0, 1]);
//! # Ok(())
//! # }
//! ```

mod check;
mod event;
mod input_note;
mod labelled;
mod nearly;
mod not_modelled;
mod pause;
mod printable;
mod provenance;
pub mod random;
mod settings;
mod spec;
mod threads;
mod trace_meta;

pub use check::{BadEvent, EventChecker};
pub use event::{DropReason, Event, EventBatch, EventKind};
pub use input_note::InputNote;
pub use labelled::{ArrivalColumns, FlowColumns, LabelledBatch, Outcome, RowOrder};
pub use nearly::nearly;
pub use pause::{Pause, PauseChange, PauseSchedule};
pub use printable::{printable, printable_line};
pub use provenance::{CaptureFacts, InputProvenance, SilentPort, TapFacts};
pub use settings::{CollectSettings, Departures, Expert, UnknownWord, Victim};
pub use spec::{PortId, Scheduler, SpecError, SwitchSpec, SwitchSpecs};
pub use threads::Threads;
pub use trace_meta::{AVERAGE_NS3_TRUNC, TRACE_SCHEMA_VERSION, TraceMeta};

#[cfg(feature = "files")]
mod arrow_stream;
#[cfg(feature = "files")]
mod atomic;
#[cfg(feature = "files")]
mod batch;
#[cfg(feature = "files")]
mod capture;
#[cfg(feature = "files")]
mod capture_map;
#[cfg(feature = "files")]
mod cell;
#[cfg(feature = "files")]
mod column_writer;
#[cfg(feature = "files")]
mod csv;
#[cfg(feature = "files")]
mod describe;
#[cfg(feature = "files")]
mod drop_reports;
#[cfg(feature = "files")]
mod error;
#[cfg(feature = "files")]
mod events;
#[cfg(feature = "files")]
mod flow_key;
#[cfg(feature = "files")]
mod frame;
#[cfg(feature = "files")]
mod guard;
#[cfg(feature = "files")]
mod input;
#[cfg(feature = "files")]
mod input_maps;
#[cfg(feature = "files")]
mod lines;
#[cfg(feature = "files")]
mod ns3;
#[cfg(feature = "files")]
mod ns3_map;
#[cfg(feature = "files")]
mod objects;
#[cfg(feature = "files")]
mod parquet_table;
#[cfg(feature = "files")]
mod pool_map;
#[cfg(feature = "files")]
mod scratch;
#[cfg(feature = "files")]
mod small_file;
#[cfg(feature = "files")]
mod switch_file;
#[cfg(feature = "files")]
mod table;
#[cfg(feature = "files")]
mod table_writer;
#[cfg(feature = "files")]
mod time_unit;
#[cfg(feature = "files")]
mod trace;

#[cfg(feature = "files")]
pub use atomic::{AtomicFile, move_file, remove_old, write_atomic};
#[cfg(feature = "files")]
pub use capture::{CaptureInterface, CaptureSummary, NamedCapture, OfSubnet, Pair, PortRules};
#[cfg(feature = "files")]
pub use capture_map::{
    CaptureMap, CaptureTimes, FileName, Mac, PortRule, Prefix, QueueRule, Values,
};
#[cfg(feature = "files")]
pub use describe::{FileKind, TableShape, describe, summarize_capture};
#[cfg(feature = "files")]
pub use drop_reports::DropReports;
#[cfg(feature = "files")]
pub use error::{DataError, RowPlace};
#[cfg(feature = "files")]
pub use events::{
    EventColumns, EventFiles, EventFormat, EventOptions, EventReader, EventWriter, OnBadRow,
    OverRate, Problem, event_frame, switch_in_path,
};
#[cfg(feature = "files")]
pub use frame::Frame;
#[cfg(feature = "files")]
pub use input::{sha256, sha256_file};
#[cfg(feature = "files")]
pub use input_maps::InputMaps;
#[cfg(feature = "files")]
pub use ns3_map::{Ns3Map, Ns3Port};
#[cfg(feature = "files")]
pub use objects::{
    ObjectStores, install_object_stores, is_folder, is_object, list_objects, remove_object,
};
#[cfg(feature = "files")]
pub use pool_map::Pool;
#[cfg(feature = "files")]
pub use scratch::{ScratchFile, scratch_file};
#[cfg(feature = "files")]
pub use small_file::{check_regular, read_head, read_small, read_toml};
#[cfg(feature = "files")]
pub use switch_file::{SwitchFile, read_switch_file, read_switches};
#[cfg(feature = "files")]
pub use table_writer::{TableColumn, TableWriter, write_table};
#[cfg(feature = "files")]
pub use time_unit::TimeUnit;
#[cfg(feature = "files")]
pub use trace::{TraceColumns, TraceReader, TraceWriter, record_batch, trace_frame, trace_schema};
