//! Events of several files.

use crate::{Scratch, story, switches};
use dropcast_data::{Event, EventFiles, EventOptions};
use proptest::prelude::*;
use std::fmt::Write;
use std::path::PathBuf;

fn options() -> EventOptions {
    EventOptions { specs: Some(switches()), ..EventOptions::default() }
}

fn merged(paths: &[PathBuf]) -> Vec<Event> {
    EventFiles::open(paths, &options()).unwrap().flat_map(|batch| batch.unwrap().events).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn merging_is_sorting(files in prop::collection::vec(prop::collection::vec(0u64..50, 0..60), 1..6)) {
        let scratch = Scratch::new();
        let mut expected = Vec::new();
        let mut paths = Vec::new();
        for (place, mut times) in files.into_iter().enumerate() {
            times.sort_unstable();
            let mut text = "time_ns,port,size_bytes,flow_hash\n".to_owned();
            for (row, time_ns) in times.iter().enumerate() {
                writeln!(text, "{time_ns},1,100,{}", place * 1_000 + row).unwrap();
                expected.push((*time_ns, (place * 1_000 + row) as u64));
            }
            paths.push(scratch.file(&format!("{place}.csv"), text));
        }
        // By time, then file, then row.
        expected.sort_unstable();
        let read: Vec<_> = merged(&paths).iter().map(|e| (e.time_ns, e.flow_hash)).collect();
        prop_assert_eq!(read, expected);
    }
}

#[test]
fn files_that_cannot_be_merged_are_refused() {
    let scratch = Scratch::new();
    let text = "time_ns,port,size_bytes\n1,1,1\n";
    let (a, b) = (scratch.file("a.csv", text), scratch.file("b.csv", "time_ns,port\n"));
    let says = |paths: &[PathBuf]| {
        story(&EventFiles::open(paths, &options()).err().unwrap(), scratch.0.path())
    };
    assert_eq!(says(&[]), "events: are no files; name at least one");
    assert_eq!(says(&[a.clone(), a.clone()]), "a.csv: is given twice; give it once");
    assert!(says(&[a.clone(), b]).starts_with("b.csv: has no column \"size_bytes\""));
    let bad = scratch.file("c.csv", "time_ns,port,size_bytes\n5,1,1\n4,1,1\n");
    let mut files = EventFiles::open(&[a, bad], &options()).unwrap();
    assert!(files.by_ref().any(|batch| batch.is_err()));
    assert!(files.next().is_none());
}

/// Events of `files` files that follow each other: each has 20 of them, and overlaps the next one `together - 1` times.
fn rotated(scratch: &Scratch, files: u64, together: u64) -> Vec<PathBuf> {
    let write = |file: u64| {
        let mut text = "time_ns,port,size_bytes,flow_hash\n".to_owned();
        for row in 0..20 {
            writeln!(text, "{},1,100,{}", file * 20 + row * together, file * 20 + row).unwrap();
        }
        scratch.file(&format!("{file}.csv"), text)
    };
    (0..files).map(write).collect()
}

#[test]
fn any_number_of_files_that_follow_each_other_are_merged() {
    let scratch = Scratch::new();
    for together in [1, 3, 100] {
        // Given in another order than that of their times.
        let mut paths = rotated(&scratch, 300, together);
        paths.reverse();
        let mut files = EventFiles::open(&paths, &options()).unwrap();
        let events: Vec<Event> = files.by_ref().flat_map(|batch| batch.unwrap().events).collect();
        assert!(events.is_sorted_by_key(|event| event.time_ns));
        let mut hashes: Vec<u64> = events.iter().map(|event| event.flow_hash).collect();
        hashes.sort_unstable();
        assert!(hashes.into_iter().eq(0..6_000));
        let provenance = files.provenance();
        assert!(provenance.iter().all(|input| input.events == 20 && input.sha256.len() == 64));
    }
    let paths = rotated(&scratch, 300, 200);
    let error = EventFiles::open(&paths, &options()).unwrap().find_map(Result::err).unwrap();
    let said = story(&error, scratch.0.path());
    assert!(said.contains("is one of 129 files whose events are of the same time"), "{said}");
}

/// Nothing but what is open at a time takes descriptors: a process may have 1,024 by default.
#[test]
fn files_that_follow_each_other_are_closed() {
    let scratch = Scratch::new();
    let paths = rotated(&scratch, 600, 1);
    let mut files = EventFiles::open(&paths, &options()).unwrap();
    let open = || std::fs::read_dir("/proc/self/fd").map_or(0, Iterator::count);
    files.next().unwrap().unwrap();
    assert!(open() < 400, "{} files are open", open());
}
