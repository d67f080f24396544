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
    let many: Vec<PathBuf> = (0..129).map(|i| scratch.path(&format!("{i}"))).collect();
    assert!(says(&many).contains("at most 128 can be read at once"));
    let bad = scratch.file("c.csv", "time_ns,port,size_bytes\n5,1,1\n4,1,1\n");
    let mut files = EventFiles::open(&[a, bad], &options()).unwrap();
    assert!(files.by_ref().any(|batch| batch.is_err()));
    assert!(files.next().is_none());
}
