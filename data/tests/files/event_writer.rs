//! Events that are written, and read back from a pipe.

use crate::events::{options, read, two};
use crate::{Scratch, switches};
use dropcast_data::{EventBatch, EventWriter};
use std::path::Path;

/// A writer of [`two`] events.
fn with_two(path: &Path) -> EventWriter {
    let mut writer = EventWriter::create(path, &switches()).unwrap();
    writer.write(&EventBatch::new(two())).unwrap();
    writer
}

/// What cannot be sought is read like standard input: Parquet is stored first.
#[cfg(unix)]
#[test]
fn a_pipe_is_read_like_a_file() {
    let scratch = Scratch::new();
    let text = scratch.file("e.csv", "time_ns,port,size_bytes,kind\n5,1,100,0\n7,1,100,1\n");
    let parquet = scratch.path("e.parquet");
    with_two(&parquet).finish().unwrap();
    let pipe = scratch.path("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    for file in [text, parquet] {
        let (from_file, expected) = read(&file, options()).unwrap();
        let (from, to) = (file.clone(), pipe.clone());
        let feeder = std::thread::spawn(move || std::fs::copy(from, to).unwrap());
        let (from_pipe, provenance) = read(&pipe, options()).unwrap();
        feeder.join().unwrap();
        assert_eq!(from_pipe, from_file);
        assert_eq!((provenance.name.as_str(), provenance.sha256), ("pipe", expected.sha256));
    }
}

#[test]
fn equal_events_give_equal_bytes() {
    let scratch = Scratch::new();
    let write = |name: &str| {
        with_two(&scratch.path(name)).finish().unwrap();
        std::fs::read(scratch.path(name)).unwrap()
    };
    assert_eq!(write("a"), write("b"));
}

#[test]
fn a_writer_that_is_dropped_leaves_nothing() {
    let scratch = Scratch::new();
    drop(with_two(&scratch.path("e.parquet")));
    assert!(scratch.names().is_empty());
}
