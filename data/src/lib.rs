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

mod types;

pub use types::*;

#[cfg(feature = "files")]
mod capture;
#[cfg(feature = "files")]
mod drop_reports;
#[cfg(feature = "files")]
mod events;
#[cfg(feature = "files")]
mod io;
#[cfg(feature = "files")]
mod ns3;
#[cfg(feature = "files")]
mod switch;
#[cfg(feature = "files")]
mod tables;
#[cfg(feature = "files")]
mod trace;

#[cfg(feature = "files")]
pub use {capture::*, drop_reports::*, events::*, io::*, ns3::*, switch::*, tables::*, trace::*};
