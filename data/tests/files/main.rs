//! Readers and writers on real files in a temporary directory.
#![cfg(feature = "files")]
#![allow(clippy::unwrap_used, reason = "a test may stop where it stands")]

mod arrow;
mod beside_packets;
mod capture_order;
mod captures;
mod damage;
mod documented;
mod drops;
mod event_writer;
mod events;
mod hostile;
mod kinds;
mod merged;
mod mirror_times;
mod ns3;
mod refused_events;
mod reordered;
mod sightings;
mod traces;

use arrow_array::{ArrayRef, RecordBatch};
use dropcast_data::{
    DataError, Event, EventOptions, EventReader, InputProvenance, SwitchSpec, SwitchSpecs,
};
use flate2::Compression;
use flate2::write::GzEncoder;
use parquet::arrow::ArrowWriter;
use std::error::Error;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// A directory that goes with the test.
struct Scratch(TempDir);

impl Scratch {
    fn new() -> Self {
        Scratch(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn file(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        std::fs::write(&path, bytes).unwrap();
        path
    }

    /// Parquet as someone else might write it.
    fn parquet(&self, name: &str, columns: &[(&str, ArrayRef)]) -> PathBuf {
        let path = self.path(name);
        let batch = RecordBatch::try_from_iter_with_nullable(
            columns.iter().map(|(name, array)| (*name, array.clone(), true)),
        );
        let batch = batch.unwrap();
        let mut writer =
            ArrowWriter::try_new(File::create(&path).unwrap(), batch.schema(), None).unwrap();
        writer.write(&batch).unwrap();
        writer.close().unwrap();
        path
    }

    fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.0.path()).unwrap();
        let name = |entry: std::fs::DirEntry| entry.file_name().into_string().unwrap();
        entries.map(|entry| name(entry.unwrap())).collect()
    }
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// Four ports of two queues, 10,000 bytes.
fn switches() -> SwitchSpecs {
    let mut spec = SwitchSpec::uniform(4, 1_000_000_000, 10_000, 8_000);
    spec.queues_per_port = 2;
    spec.pushable = vec![false, true];
    spec.shared = vec![true; 2];
    SwitchSpecs::Same(spec)
}

/// All events of a file, and what is known of it.
fn read(path: &Path, options: EventOptions) -> Result<(Vec<Event>, InputProvenance), DataError> {
    let mut reader = EventReader::open(path, options)?;
    let mut events = Vec::new();
    for batch in reader.by_ref() {
        events.extend(batch?.events);
    }
    Ok((events, reader.provenance()))
}

/// The whole story of an error, file names without their directory.
fn story(error: &dyn Error, directory: &Path) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text = format!("{text}: {cause}");
        source = cause.source();
    }
    text.replace(&format!("{}/", directory.display()), "")
}
