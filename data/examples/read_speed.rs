//! Prints the reading speed of files: `cargo run --release -p dropcast-data --example read_speed --
//! \ FILE [SWITCH.toml]`. A labelled trace is read with all its features.
#![allow(clippy::print_stdout, reason = "it prints what it measures")]

use dropcast_data::{EventOptions, EventReader, TraceReader, read_switches};
use std::error::Error;
use std::path::PathBuf;
use std::time::Instant;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args_os().skip(1).map(PathBuf::from);
    let path = arguments.next().ok_or("usage: read_speed FILE [SWITCH.toml]")?;
    let specs = arguments.next().map(|path| read_switches(&path)).transpose()?;
    let is_trace = TraceReader::open(&path, &[]).is_ok();
    let start = Instant::now();
    let provenance = if is_trace {
        let features = TraceReader::open(&path, &[])?.meta().features.clone();
        let mut reader = TraceReader::open(&path, &features)?;
        reader.by_ref().try_for_each(|batch| batch.map(drop))?;
        reader.provenance()
    } else {
        let mut reader = EventReader::open(&path, EventOptions { specs, ..Default::default() })?;
        reader.by_ref().try_for_each(|batch| batch.map(drop))?;
        reader.provenance()
    };
    let seconds = start.elapsed().as_secs_f64();
    let (rows, bytes) = (provenance.events as f64, std::fs::metadata(&path)?.len() as f64);
    println!("{} rows in {seconds:.3} s", provenance.events);
    println!(
        "{:.1} million rows/s, {:.0} MB/s of file",
        rows / seconds / 1e6,
        bytes / seconds / 1e6
    );
    Ok(())
}
